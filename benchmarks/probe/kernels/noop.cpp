extern "C" int noop() { return 0; }
