"""Whom to mutate next: one file a rule, ask/tell, the same answers when the store is replayed."""

from kernelwright.search.parents.greedy import Greedy

__all__ = ["Greedy"]
