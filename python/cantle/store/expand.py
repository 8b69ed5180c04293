"""What is read around a hit: neighbours, parents, sections, windows.

Each way of expanding is a small frozen object. It answers for every hit with steps: spans of the
hit's document to be read as well, the nearest first. The hit's own span always comes before them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from cantle import _core, units
from cantle.store.budget import BETWEEN, UNIT, Packer, Spans, check_order, own_span, union
from cantle.store.passages import Passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.store.snapshot import Snapshot


class Expansion(Protocol):
    """A way of expanding hits."""

    def steps(self, hits: Found) -> list[list[Spans]]:
        """Return for each hit the spans to read as well, step by step."""


@dataclass(frozen=True, eq=False)
class Found:
    """Hits as a way of expanding sees them."""

    snapshot: Snapshot
    rows: list[int]
    """Those that have a place in their document, the best first."""
    query: NDArray[np.float32] | None
    """The vector that was searched with."""
    packer: Packer
    """What counts, and knows the documents' texts."""

    def part(self, row: int) -> tuple[int, int]:
        """Return the first row of a row's document and strategy, and the one behind the last."""
        start = self.snapshot.part_start
        part = int(self.snapshot.part[row])
        return int(start[part]), int(start[part + 1])

    def section(self, row: int) -> tuple[int, int]:
        """Return the first row of the rows side by side under one heading, and one behind."""
        first, last = self.part(row)
        other = self.snapshot.heading[first:last] != self.snapshot.heading[row]
        other |= self.snapshot.char_start[first:last] < 0
        before = np.flatnonzero(other[: row - first])
        behind = np.flatnonzero(other[row - first :])
        return (
            first + int(before[-1]) + 1 if len(before) else first,
            row + int(behind[0]) if len(behind) else last,
        )

    def hull(self, first: int, last: int) -> Spans:
        """Return the span from where some rows start to where they end."""
        start, end = self.snapshot.char_start, self.snapshot.char_end
        return [(int(start[first:last].min()), int(end[first:last].max()))]


@dataclass(frozen=True)
class neighbours:
    """The chunks beside a hit: those whose number in the document differs by at most `n`.

    Args:
        n: How many on each side, at least 1.

    Example:
        >>> import cantle
        >>> cantle.neighbours(2)
        neighbours(n=2)
    """

    n: int = 1

    def __post_init__(self) -> None:
        """Check the number."""
        _check_whole("n", self.n)

    def steps(self, hits: Found) -> list[list[Spans]]:
        """Return for each hit its neighbours, the nearest first."""
        ordinal = hits.snapshot.ordinal
        found = []
        for row in hits.rows:
            near = []
            for side in _sides(hits, row):
                for at in side:
                    distance = abs(int(ordinal[at]) - int(ordinal[row]))
                    if distance > self.n:
                        break
                    near.append((distance, at))
            found.append([own_span(hits.snapshot, at) for _, at in sorted(near)])
        return found


@dataclass(frozen=True)
class window:
    """As many whole chunks around a hit as fit into a number of tokens, the hit's included.

    They are taken in turn before and behind it, and on each side up to the first that does not fit.
    A hit that is larger stays alone.

    Args:
        tokens: The most that hit and neighbours may measure together, at least 1.

    Example:
        >>> import cantle
        >>> cantle.window(tokens=200)
        window(tokens=200)
    """

    tokens: int = 200

    def __post_init__(self) -> None:
        """Check the number."""
        _check_whole("tokens", self.tokens)

    def steps(self, hits: Found) -> list[list[Spans]]:
        """Return for each hit its neighbours, in turn before and behind."""
        return [self._around(hits, row) for row in hits.rows]

    def _around(self, hits: Found, row: int) -> list[Spans]:
        text = hits.packer.text_of(int(hits.snapshot.source[row]))
        held, found = own_span(hits.snapshot, row), []
        sides = list(_sides(hits, row))
        while sides:
            for side in list(sides):
                at = next(side, None)
                more = union(held + own_span(hits.snapshot, at), text) if at is not None else []
                if at is None or hits.packer.count(_read(more, text)) > self.tokens:
                    sides.remove(side)
                    continue
                held = more
                found.append(own_span(hits.snapshot, at))
        return found


@dataclass(frozen=True)
class adaptive:
    """The chunks beside a hit while they are like the question themselves.

    From the hit outwards on each side, a chunk is taken while its cosine with the question is above
    `share` times the hit's own; the first that is not ends the side. Vectors are the raw ones: a
    blended vector holds a share of the hit's, and so resembles whatever the hit does. A hit whose
    cosine is not above zero stays alone. Source: SCAR, 2026 (arXiv 2606.16661).

    Args:
        share: Above 0, at most 1; the lower, the more is taken.

    Example:
        >>> import cantle
        >>> cantle.adaptive(0.6)
        adaptive(share=0.6)
    """

    share: float = 0.6

    def __post_init__(self) -> None:
        """Check the share."""
        _check_share(self.share)

    def steps(self, hits: Found) -> list[list[Spans]]:
        """Return for each hit the neighbours that are like the question, the nearest first."""
        if hits.query is None:
            raise _core.SettingError(
                "adaptive: the hits were found without a vector; use mode='dense' or 'hybrid'"
            )
        likeness: dict[int, NDArray[np.float64]] = {}
        found = []
        for row in hits.rows:
            part, (first, _) = int(hits.snapshot.part[row]), hits.part(row)
            if part not in likeness:
                likeness[part] = _likeness(hits.snapshot, part, hits.query)
            own = likeness[part] - self.share * likeness[part][row - first]
            near = []
            for side in _sides(hits, row) if likeness[part][row - first] > 0 else ():
                for at in side:
                    if own[at - first] <= 0:
                        break
                    near.append((abs(at - row), at))
            found.append([own_span(hits.snapshot, at) for _, at in sorted(near)])
        return found


@dataclass(frozen=True)
class parent:
    """What a hit is a part of: its section, its document, or a chunk above it.

    `"section"` is the chunk that the hit was cut within; of a hit that was cut within none, the
    chunks side by side that have its heading path. `"document"` is the whole document. A strategy's
    name is the chunk of that strategy that the hit was cut within, at whatever distance; if there
    is none, those of its chunks in the document that the hit overlaps. A number is a level: 1 is a
    chunk that was cut within none, 2 one that was cut within such a one, and so on. Where a hit has
    no parent of that kind it stays as it is.

    Args:
        of: `"section"`, `"document"`, a strategy's name, or a level from 1.

    Example:
        >>> import cantle
        >>> cantle.parent("document")
        parent(of='document')
    """

    of: str | int = "section"

    def __post_init__(self) -> None:
        """Check what is asked for."""
        if isinstance(self.of, bool) or not isinstance(self.of, str | int):
            raise TypeError(f"of ({self.of!r}) must be a string or a level")
        if not isinstance(self.of, str):
            _check_whole("of", self.of)

    def steps(self, hits: Found) -> list[list[Spans]]:
        """Return for each hit the one span of its parent."""
        if isinstance(self.of, str) and self.of not in ("section", "document"):
            return [[spans] for spans in _of_strategy(hits, self.of)]
        return [[self._above(hits, row)] for row in hits.rows]

    def _above(self, hits: Found, row: int) -> Spans:
        if self.of == "document":
            return [(0, len(hits.packer.text_of(int(hits.snapshot.source[row]))))]
        line = _line(hits.snapshot, row)
        if self.of == "section":
            if len(line) > 1:
                return own_span(hits.snapshot, line[1])
            return hits.hull(*hits.section(row))
        # The last of the line is of level 1.
        return own_span(hits.snapshot, line[max(0, len(line) - int(self.of))])


@dataclass(frozen=True)
class auto_merge:
    """The parent of a hit, where enough of the parent's chunks are hits.

    A parent takes the place of its chunks when at least `share` of them are among the hits, and
    counts as one itself further up. Chunks that were cut within none have their section as parent,
    as for `parent("section")`. Source: HiChunk, 2025 (arXiv 2509.11552).

    Args:
        share: Above 0, at most 1; the lower, the more is lifted.

    Example:
        >>> import cantle
        >>> cantle.auto_merge(0.5)
        auto_merge(share=0.5)
    """

    share: float = 0.5

    def __post_init__(self) -> None:
        """Check the share."""
        _check_share(self.share)

    def steps(self, hits: Found) -> list[list[Spans]]:
        """Return for each hit the parents it is lifted to, the lowest first."""
        above = hits.snapshot.parent
        found: dict[int, list[Spans]] = {row: [] for row in hits.rows}
        for row, spans in self._sections(hits):
            found[row].append(spans)
        children = np.bincount(above[above >= 0], minlength=len(above))
        held = {row: [row] for row in hits.rows}
        while lifted := self._lifted(held, above, children):
            above_all: dict[int, list[int]] = {}
            for at, rows in held.items():
                above_all.setdefault(lifted.get(at, at), []).extend(rows)
                for row in rows if at in lifted else ():
                    found[row].append(own_span(hits.snapshot, lifted[at]))
            held = above_all
        return [found[row] for row in hits.rows]

    def _lifted(
        self, held: Iterable[int], above: NDArray[np.int64], children: NDArray[np.int64]
    ) -> dict[int, int]:
        """Return those chunks whose parents enough are held of, with their parents."""
        parents = {at: int(above[at]) for at in held if above[at] >= 0}
        there = Counter(parents.values())
        return {at: to for at, to in parents.items() if there[to] >= self.share * children[to]}

    def _sections(self, hits: Found) -> Iterator[tuple[int, Spans]]:
        sections = {row: hits.section(row) for row in hits.rows if hits.snapshot.parent[row] < 0}
        there = Counter(sections.values())
        for row, section in sections.items():
            if there[section] >= self.share * (section[1] - section[0]):
                yield row, hits.hull(*section)


def expand(
    snapshot: Snapshot,
    rows: NDArray[np.int64],
    scores: NDArray[np.floating],
    how: Expansion,
    *,
    budget: int | None = None,
    order: str = "document",
    unit: units.Unit = UNIT,
    query: NDArray[np.float32] | None = None,
) -> Passages:
    """Return the passages around hits: no text twice, each with its best hit's score.

    The hits are taken in their order. Of each, its own text and then step by step what is around
    it, as long as the budget has room; the first step that has none ends it. So a parent that is
    too large leaves its hit as it is.

    Args:
        snapshot: What the hits are rows of.
        rows: The hits, the best first.
        scores: One for each.
        how: `neighbours(1)`, `parent("section")`, `window(tokens=200)`, `adaptive(0.6)` or
            `auto_merge(0.5)`.
        budget: The most that all passages may measure together, at least 1; None for no limit.
        order: `"document"`: by document and position; `"score"`: by the best hit of each.
        unit: What `budget` and the passages' `tokens` count.
        query: The vector that was searched with, for `adaptive`.

    Raises:
        SettingError: An argument is out of its range.
        TypeError: An argument is of another type.
    """
    if not hasattr(how, "steps"):
        raise TypeError(f"how ({how!r}) must be a way of expanding, such as neighbours(1)")
    check_order(order)
    packer = Packer(snapshot, budget, unit)
    placed = [row for row in dict.fromkeys(rows.tolist()) if snapshot.char_start[row] >= 0]
    steps = dict(zip(placed, how.steps(Found(snapshot, placed, query, packer)), strict=True))
    ranks: dict[int, int] = {}
    left_out = []
    for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
        if row in ranks:
            continue
        ranks[row] = len(ranks)
        if not packer.add(row, score, own_span(snapshot, row)):
            left_out.append(row)
            continue
        for spans in steps.get(row, ()):
            if not packer.add(row, score, spans):
                break
    return packer.passages(ranks, order, left_out)


def _sides(hits: Found, row: int) -> tuple[Iterator[int], Iterator[int]]:
    """Return the rows of a row's part before it and behind it, the nearest first."""
    first, last = hits.part(row)
    placed = hits.snapshot.char_start
    return (
        (at for at in range(row - 1, first - 1, -1) if placed[at] >= 0),
        (at for at in range(row + 1, last) if placed[at] >= 0),
    )


def _read(spans: Spans, text: str) -> str:
    return BETWEEN.join(text[start:end] for start, end in spans)


def _line(snapshot: Snapshot, row: int) -> list[int]:
    """Return a row and what it was cut within, upwards."""
    line = [row]
    while (above := int(snapshot.parent[line[-1]])) >= 0:
        line.append(above)
    return line


def _of_strategy(hits: Found, name: str) -> Iterator[Spans]:
    snapshot = hits.snapshot
    names = [row.name for row in snapshot.strategies]
    if name not in names:
        known = ", ".join(map(repr, ("section", "document", *names)))
        raise _core.SettingError(f"of ({name!r}) must be one of {known}, or a level")
    strategy = names.index(name)
    for row in hits.rows:
        line = [at for at in _line(snapshot, row) if snapshot.strategy[at] == strategy]
        yield own_span(snapshot, line[0]) if line else _overlapped(snapshot, row, strategy)


def _overlapped(snapshot: Snapshot, row: int, strategy: int) -> Spans:
    """Return the spans of a strategy's chunks that a row overlaps; its own where none does."""
    own = own_span(snapshot, row)
    same = (snapshot.part_strategy == strategy) & (snapshot.part_source == snapshot.source[row])
    for part in np.flatnonzero(same).tolist():
        first, last = (int(at) for at in snapshot.part_start[part : part + 2])
        start, end = snapshot.char_start[first:last], snapshot.char_end[first:last]
        over = np.flatnonzero((start < own[0][1]) & (end > own[0][0])) + first
        return [own_span(snapshot, at)[0] for at in over.tolist()] or own
    return own


def _likeness(snapshot: Snapshot, part: int, query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosine of each row of a part with the question; 0 where there is no vector."""
    first, last = (int(at) for at in snapshot.part_start[part : part + 2])
    found = np.zeros(last - first)
    if not snapshot.embedded[first:last].all():
        return found
    vectors = snapshot.vectors([part]).astype(np.float64)
    asked = query.astype(np.float64)
    lengths = np.sqrt((vectors * vectors).sum(axis=1)) * np.sqrt((asked * asked).sum())
    products = (vectors * asked).sum(axis=1)
    np.divide(products, lengths, out=found, where=lengths > 0)
    return found


def _check_whole(name: str, value: Any) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} ({value!r}) must be a whole number")
    if value < 1:
        raise _core.SettingError(f"{name} ({value}) must be at least 1")


def _check_share(share: Any) -> None:
    if isinstance(share, bool | str | bytes) or not hasattr(share, "__float__"):
        raise TypeError(f"share ({share!r}) must be a number")
    if not 0 < share <= 1:
        raise _core.SettingError(f"share ({share}) must be above 0 and at most 1")
