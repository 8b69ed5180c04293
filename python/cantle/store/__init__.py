"""Stores: documents, chunks and vectors in one file, and the search over them."""

from __future__ import annotations

from cantle.store.database import StoreError
from cantle.store.expand import adaptive, auto_merge, neighbours, parent, window
from cantle.store.hits import Hit, Hits
from cantle.store.loading import Loaded
from cantle.store.passages import Passage, Passages
from cantle.store.store import Store
from cantle.store.sync import Synced
from cantle.store.where import where_from_text

__all__ = [
    "Hit",
    "Hits",
    "Loaded",
    "Passage",
    "Passages",
    "Store",
    "StoreError",
    "Synced",
    "adaptive",
    "auto_merge",
    "neighbours",
    "parent",
    "where_from_text",
    "window",
]
