"""`Passages`: what is read of a store, pieces of documents with where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle.chunk import preview

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.store.searching import Explained


class Passage(NamedTuple):
    """A piece of one document, cut from its text once."""

    cite: str
    """Where it stands, for readers: the document's title or id, and the headings over all of it."""
    passage: str
    """The text; where it has several spans, a blank line stands between them."""
    source: str
    """The document's id."""
    heading_path: tuple[str, ...]
    """The headings over all of it, outermost first."""
    spans: tuple[tuple[int, int], ...]
    """Where it starts and ends in the document, in characters; none of what was added by hand."""
    score: float
    """That of its best hit."""
    ids: tuple[str, ...]
    """The ids of the hits that it holds, the best first."""
    rows: tuple[int, ...]
    """Their rows."""
    tokens: int
    """The size of its text."""

    def as_dict(self) -> dict[str, Any]:
        """Return all but the rows as plain values; `id` is that of its best hit."""
        row = {"id": self.ids[0], **self._asdict()}
        row["ids"] = list(self.ids)
        row["heading_path"] = list(self.heading_path)
        row["spans"] = [list(span) for span in self.spans]
        del row["rows"]
        return row

    def __repr__(self) -> str:
        return f"Passage({self.cite!r}, {self.score:.3f}, {preview(self.passage)})"


class Passages(Sequence[Passage]):
    """Passages in order, of which no two hold the same text of a document."""

    __slots__ = ("_passages", "left_out", "plan", "unit")

    unit: str
    """What `tokens` counts."""
    left_out: tuple[int, ...]
    """The rows of hits that the budget had no room for, the best first."""
    plan: Explained | None
    """How the hits were found, and why so."""

    def __init__(
        self,
        passages: Sequence[Passage],
        *,
        unit: str,
        left_out: Sequence[int] = (),
        plan: Explained | None = None,
    ) -> None:
        """Made by `Hits.expand` and `Store.retrieve`."""
        self.plan = plan
        self._passages = tuple(passages)
        self.unit = unit
        self.left_out = tuple(left_out)

    def explained(self, plan: Explained) -> Passages:
        """Return the passages with how the hits were found."""
        return Passages(self._passages, unit=self.unit, left_out=self.left_out, plan=plan)

    def explain(self) -> str:
        """Return how the hits were found, as a database would."""
        return "" if self.plan is None else str(self.plan)

    @property
    def texts(self) -> list[str]:
        """The passages' texts."""
        return [passage.passage for passage in self]

    @property
    def cites(self) -> list[str]:
        """Where each stands, for readers."""
        return [passage.cite for passage in self]

    @property
    def sources(self) -> list[str]:
        """The id of each passage's document."""
        return [passage.source for passage in self]

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score of each passage's best hit."""
        return np.array([passage.score for passage in self], np.float64)

    @property
    def tokens(self) -> NDArray[np.int64]:
        """The size of each passage in `unit`, counted on its text."""
        return np.array([passage.tokens for passage in self], np.int64)

    @property
    def size(self) -> int:
        """The size of all of them in `unit`: what a budget holds. Citations are not counted."""
        return int(self.tokens.sum())

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return each passage as plain values; see `Passage.as_dict`."""
        return [passage.as_dict() for passage in self]

    def __len__(self) -> int:
        return len(self._passages)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._passages)

    def __getitem__(self, at: Any) -> Any:
        """Return a passage by its number, or several by a slice."""
        return self._passages[at]

    def __repr__(self) -> str:
        lines = [f"Passages({len(self)}, {self.size} {self.unit})"]
        lines += [f"  {p.score:.3f}  {p.cite}  {preview(p.passage)}" for p in self]
        return "\n".join(lines)
