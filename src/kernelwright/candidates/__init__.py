"""Candidates as text: what a file says of itself, who it is, which parameters it may take."""
