"""Executors send jobs to a machine and bring the answers back; they never write to the store."""
