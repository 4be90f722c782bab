"""Clocks and statistics: how two kernels are timed against each other and what may be said."""
