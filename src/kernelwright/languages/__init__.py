"""Languages of kernels: is it there, how is it built, what should a writer know."""
