"""Kernelwright writes, checks and times kernels, and keeps the one whose speedup survives doubt.

Importing this package stays instant and needs the standard library alone: workers in a fresh
process and `kernelwright --help` both pay for this file. Nothing heavier may be imported here.
"""

__version__ = "0.1.0"
