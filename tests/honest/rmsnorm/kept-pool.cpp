// /// kernelwright
// strategy = "a pool of threads of its own, kept between calls and asleep between them; a call waits for all of them"
// ///
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace {

class Pool {
 public:
  static constexpr int64_t HELPERS = 1;

  // Runs work(part, parts) for every part; returns when the last one has ended.
  template <class Work>
  void run(const Work& work) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      call_ = [](const void* w, int64_t part) { (*static_cast<const Work*>(w))(part, HELPERS + 1); };
      work_ = &work;
      ++round_;
      busy_ = HELPERS;
    }
    wake_.notify_all();
    work(HELPERS, HELPERS + 1);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

  Pool() {
    for (int64_t part = 0; part < HELPERS; ++part) std::thread([this, part] { serve(part); }).detach();
  }

 private:
  void serve(int64_t part) {
    for (int64_t seen = 0;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return round_ != seen; });
      seen = round_;
      lock.unlock();
      call_(work_, part);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  void (*call_)(const void*, int64_t) = nullptr;
  const void* work_ = nullptr;
  int64_t round_ = 0, busy_ = 0;
};

}  // namespace

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
  static Pool* const pool = new Pool;  // never destroyed: its threads may outlive the statics
  pool->run([=](int64_t part, int64_t parts) {
    for (int64_t i = M * part / parts; i < M * (part + 1) / parts; ++i) {
      const float* row = x + i * N;
      float lanes[8] = {};
      for (int64_t j = 0; j < N; ++j) lanes[j & 7] += row[j] * row[j];
      const float sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
      const float scale = 1.0f / std::sqrt(sum / static_cast<float>(N) + eps);
      for (int64_t j = 0; j < N; ++j) y[i * N + j] = row[j] * scale * weight[j];
    }
  });
  return 0;
}
