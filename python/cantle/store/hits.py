"""`Hits`: the chunks that a search found, as columns, with how they were found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.chunk import preview
from cantle.store.database import StoreError
from cantle.store.expand import Expansion, expand
from cantle.store.passages import Passages
from cantle.store.snapshot import Row, Snapshot
from cantle.units import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.store.searching import Explained


class Hits:
    """What a search found, best first: rows of a snapshot of the store, and their scores.

    Higher is nearer, under every metric. Iterating gives a `Hit` for each. What a hit tells of
    itself was read when it was found, so hits can be copied and go to other processes; the store
    does not go with them, and `expand` and `snapshot` raise a `StoreError` there.
    """

    __slots__ = ("_snapshot", "_told", "plan", "query", "question", "rows", "scores", "texts")

    rows: NDArray[np.int64]
    """The rows of the snapshot that were found."""
    scores: NDArray[np.float32]
    """How near each is."""
    texts: list[str]
    """The texts of the chunks."""
    question: str | None
    """What was asked, where it was asked in words."""
    query: NDArray[np.float32] | None
    """The vector that was searched with."""
    plan: Explained
    """How the search was done, and why."""

    def __init__(
        self,
        snapshot: Snapshot | None,
        told: list[Row],
        texts: list[str],
        rows: NDArray[np.int64],
        scores: NDArray[np.float32],
        plan: Explained,
        question: str | None,
        query: NDArray[np.float32] | None,
    ) -> None:
        """Made by `Store.search`; without a snapshot where they are a copy."""
        self._snapshot = snapshot
        self._told = told
        self.texts = texts
        self.rows = rows
        self.scores = scores
        self.plan = plan
        self.question = question
        self.query = query

    @property
    def snapshot(self) -> Snapshot:
        """All chunks of the store as they were.

        Raises:
            StoreError: The hits are a copy, or came from another process.
        """
        if self._snapshot is None:
            raise StoreError(
                "the hits are a copy, which holds what was read and no open store: search again"
            )
        return self._snapshot

    @property
    def ids(self) -> list[str]:
        """The chunks' ids: `{document}_{strategy}_{ordinal}`."""
        return [row.id for row in self._told]

    @property
    def sources(self) -> list[str]:
        """The ids of the documents that they are of."""
        return [row.source.id for row in self._told]

    @property
    def heading_paths(self) -> list[tuple[str, ...]]:
        """The titles above each, outermost first."""
        return [row.heading_path for row in self._told]

    def explain(self) -> str:
        """Return how the search was done, as a database would."""
        return str(self.plan)

    def expand(
        self,
        how: Expansion,
        *,
        budget: int | None = None,
        order: str = "document",
        unit: Unit = "cl100k_base",
    ) -> Passages:
        """Return the passages around the hits: no text twice, each with its best hit's score.

        Args:
            how: `neighbours(1)`, `parent("section")`, `window(tokens=200)`, `adaptive(0.6)` or
                `auto_merge(0.5)`, of `cantle`.
            budget: The most tokens of all passages together; None for no limit. What finds no room
                around a hit is left out, the hit itself before that of the next.
            order: `"document"`: as they stand in their documents; `"score"`: the best first.
            unit: What the budget and the passages' `tokens` count.

        Raises:
            StoreError: A document was changed since it was searched; or the hits are a copy, or
                came from another process.
        """
        found = expand(
            self.snapshot,
            self.rows,
            self.scores,
            how,
            budget=budget,
            order=order,
            unit=unit,
            query=self.query,
        )
        return found.explained(self.plan)

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return each hit as plain values; see `Hit.as_dict`."""
        return [hit.as_dict() for hit in self]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Hit]:
        return (Hit(self, at) for at in range(len(self)))

    def __getitem__(self, at: int) -> Hit:
        if not isinstance(at, int | np.integer):
            raise TypeError(f"hits are picked by a number, not by {at!r}")
        if not -len(self) <= at < len(self):
            raise IndexError(f"hit {at} of {len(self)}")
        return Hit(self, int(at) % len(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Hits, self._copied(slice(None))

    def _copied(self, part: slice) -> tuple[Any, ...]:
        """Return what makes a copy of some of the hits."""
        own = (self._told[part], self.texts[part], self.rows[part], self.scores[part])
        return (None, *own, self.plan, self.question, self.query)

    def __repr__(self) -> str:
        lines = [f"Hits({len(self)})"]
        lines += [f"  {hit.score:.3f}  {hit.id}  {preview(hit.text)}" for hit in self]
        return "\n".join(lines)


class Hit:
    """One chunk that was found: a view of a row of `Hits`."""

    __slots__ = ("_at", "_hits")

    def __init__(self, hits: Hits, at: int) -> None:
        """Made by `hits[at]`."""
        self._hits = hits
        self._at = at

    @property
    def _told(self) -> Row:
        """What was read of it."""
        return self._hits._told[self._at]

    @property
    def row(self) -> int:
        """Its row in the snapshot."""
        return int(self._hits.rows[self._at])

    @property
    def id(self) -> str:
        """The chunk's id."""
        return self._told.id

    @property
    def score(self) -> float:
        """How near it is; higher is nearer."""
        return float(self._hits.scores[self._at])

    @property
    def text(self) -> str:
        """The chunk's text."""
        return self._hits.texts[self._at]

    @property
    def source(self) -> str:
        """The id of the document that it is of."""
        return self._told.source.id

    @property
    def metadata(self) -> dict[str, Any]:
        """A copy of the document's metadata."""
        return dict(self._told.source.metadata)

    @property
    def strategy(self) -> str:
        """The name of the strategy that cut it."""
        return self._told.strategy

    @property
    def heading_path(self) -> tuple[str, ...]:
        """The titles above it, outermost first."""
        return self._told.heading_path

    @property
    def cite(self) -> str:
        """Where it stands, for readers: the document's title or id, and its headings."""
        return self._told.cite

    @property
    def char_start(self) -> int:
        """Where it starts in its document, in characters; -1 if it was added by hand."""
        return self._told.char_start

    @property
    def char_end(self) -> int:
        """Where it ends in its document, in characters; -1 if it was added by hand."""
        return self._told.char_end

    def as_dict(self) -> dict[str, Any]:
        """Return id, score, citation, spans and text (`passage`) as plain values."""
        spans = [] if self.char_start < 0 else [[self.char_start, self.char_end]]
        return {
            "id": self.id,
            "score": self.score,
            "source": self.source,
            "strategy": self.strategy,
            "cite": self.cite,
            "heading_path": list(self.heading_path),
            "spans": spans,
            "passage": self.text,
            "metadata": self.metadata,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the others: hits go to other processes one by one.
        return Hit, (Hits(*self._hits._copied(slice(self._at, self._at + 1))), 0)

    def __repr__(self) -> str:
        return f"Hit({self.id!r}, {self.score:.3f}, {preview(self.text)})"
