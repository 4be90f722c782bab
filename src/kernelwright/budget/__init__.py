"""What a run has spent, what is in flight, and what may still begin."""
