"""Search as it is meant: every row is scored in exact sums, and all of them are sorted."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from operator import mul


def score(metric: str, row: Sequence[float], query: Sequence[float]) -> float:
    """Return how near two vectors are; cosines to 40 bits behind the point."""
    if metric == "l2":
        return -math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(row, query, strict=True)))
    assert len(row) == len(query)
    dot = math.fsum(map(mul, row, query))
    if metric == "ip":
        return dot
    sizes = [math.sqrt(math.fsum(map(mul, vector, vector))) for vector in (row, query)]
    return round(max(-1.0, min(1.0, dot / (sizes[0] * sizes[1]))) * 2**40) / 2**40


def nearest(
    metric: str,
    rows: Sequence[Sequence[float]],
    query: Sequence[float],
    k: int,
    allowed: Container[int] | None = None,
) -> list[int]:
    """Return the `k` nearest rows, equal ones by number: zero vectors are never ranked."""
    if metric == "cosine" and not any(query):
        return []
    found = [
        (-score(metric, row, query), i)
        for i, row in enumerate(rows)
        if any(row) and (allowed is None or i in allowed)
    ]
    return [i for _, i in sorted(found)[:k]]
