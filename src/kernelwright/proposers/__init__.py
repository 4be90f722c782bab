"""Who writes candidates: expert kernels, the user's own files, and the tuner of their numbers."""
