"""Checks of a candidate, cheapest first; each names the one outcome it can give."""
