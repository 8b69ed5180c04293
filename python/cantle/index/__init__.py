"""Indexes: from vectors to the rows that are nearest to a query. They know nothing of stores."""

from __future__ import annotations

from cantle.index.auto import Auto
from cantle.index.exact import Exact, ExactIndex
from cantle.index.file import DamagedIndex, StaleIndex
from cantle.index.found import Found, FoundAll, Plan
from cantle.index.hnsw import Hnsw, HnswIndex
from cantle.index.searching import Index
from cantle.index.vectors import METRICS

__all__ = [
    "METRICS",
    "Auto",
    "DamagedIndex",
    "Exact",
    "ExactIndex",
    "Found",
    "FoundAll",
    "Hnsw",
    "HnswIndex",
    "Index",
    "Plan",
    "StaleIndex",
]
