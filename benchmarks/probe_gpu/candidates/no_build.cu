// Does not compile.
extern "C" int softmax(const float* x, float* y) { return nothing_of_that_name(x, y); }
