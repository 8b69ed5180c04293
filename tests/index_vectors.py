"""Vectors for the tests of indexes: in clusters, and scattered."""

from __future__ import annotations

from typing import Any

import numpy as np


def clustered(rows: int, dimensions: int = 16, seed: int = 1) -> tuple[Any, Any]:
    """Return float32 vectors in clusters, and the cluster of each."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 40, rows)
    centres = rng.standard_normal((40, dimensions))
    return (centres[cluster] + 0.5 * rng.standard_normal((rows, dimensions))).astype("f4"), cluster


def scattered(rows: int, dimensions: int = 3, seed: int = 1) -> Any:
    """Return float32 vectors."""
    return np.random.default_rng(seed).standard_normal((rows, dimensions)).astype(np.float32)


VECTORS = np.eye(3, dtype=np.float32)
"""One along each axis."""
