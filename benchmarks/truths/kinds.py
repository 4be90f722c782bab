"""Which comparisons are made where the truth is known, and in which order."""

SHARES = (0.01, 0.02, 0.03, 0.05, 0.10)


def wanted(aa: int, power: int) -> list[tuple[str, float]]:
    """Kinds, with the share by which the candidate (or, negative, its rival) is slowed.

    In an order in which every kind meets every hour.
    """
    kinds = [(f"{'slower' if sign > 0 else 'faster'} {share:.0%}", sign * share)
             for share in SHARES for sign in (1, -1)]  # fmt: skip
    rounds = max(aa, power, 1)
    found: list[tuple[str, float]] = []
    for at in range(rounds):
        found += [("A/A", 0.0)] if at < aa else []
        found += kinds if at < power else []
    return found
