"""A slow, obvious version of trimming, windows and packing, which the fast code must equal.

Written from the requirements (A2, A3) in plain Python. All offsets are characters. Grapheme
borders, sentence ends and word parts come from `cantle._core.cuts`, whose rules Rust's tests check
against Unicode's files; every other cut is found here by other means than in the core.

A blank is Unicode White_Space. A cluster is blank when all its characters are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import ceil

from cantle import _core

BLANKS = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode White_Space in full. `str.isspace` also takes U+001C to U+001F, which are no blanks."""

BREAKS = "\n\v\f\r\x85\u2028\u2029"
"""The characters that end a line; the pair CR LF ends one."""

_BREAK = re.compile(f"\r\n|[{BREAKS}]")
_WORD = re.compile(f"[^{BLANKS}]+")

Unit = str | Callable[[str], int]
Span = tuple[int, int]


def is_blank(text: str) -> bool:
    return not text.strip(BLANKS)


def size(text: str, unit: Unit) -> int:
    """Return how many units `text` has, counted on its own."""
    if not text:
        return 0
    if unit == "bytes":
        return len(text.encode())
    if unit == "chars":
        return len(text)
    if unit == "words":
        return len(_WORD.findall(text))
    assert callable(unit)
    return unit(text)


@lru_cache(maxsize=4096)
def borders(text: str) -> tuple[int, ...]:
    """Return every grapheme border of `text`, both ends included."""
    return (0, *(_core.cuts(text, "grapheme").tolist() if text else ()))


def clusters(text: str, start: int, end: int) -> list[Span]:
    every = borders(text)
    edges = [start, *every[bisect_right(every, start) : bisect_left(every, end)], end]
    return [(a, b) for a, b in pairwise(edges) if a < b]


@lru_cache(maxsize=100_000)
def trim(text: str, start: int, end: int) -> Span | None:
    """Return the span without the blank clusters around it, or None if there is nothing else.

    Blank lines go whole; the indent of the first line that is left stays, if the line starts within
    the span.
    """
    if is_blank(text[start:end]):
        return None
    parts = clusters(text, start, end)
    first = next(a for a, b in parts if not is_blank(text[a:b]))
    last = next(b for a, b in reversed(parts) if not is_blank(text[a:b]))
    line = max((text.rfind(c, 0, first) + 1 for c in BREAKS), default=0)
    return (line if line >= start else first, last)


# --------------------------------------------------------------------------------------- levels


def paragraphs(text: str) -> list[int]:
    """Return where each paragraph starts that a blank line, a form feed or U+2029 precedes."""
    starts, breaks, strong = [], 0, False
    at = 0
    for found in [*_BREAK.finditer(text), None]:
        end = found.start() if found else len(text)
        if not is_blank(text[at:end]):
            if breaks > 1 or strong:
                starts.append(at)
            breaks, strong = 0, False
        if found:
            breaks += 1
            strong |= found.group() in ("\f", "\u2029")
            at = found.end()
    return starts


def lines(text: str) -> list[int]:
    return [found.end() for found in _BREAK.finditer(text)]


def words(text: str) -> list[int]:
    return [found.start() for found in _WORD.finditer(text)]


def literal(pattern: str, side: str) -> Callable[[str], list[int]]:
    """Return the cuts at a literal: behind it (`end`) or before it (`start`)."""

    def cuts(text: str) -> list[int]:
        found, at = [], text.find(pattern)
        while at >= 0:
            found.append(at + (len(pattern) if side == "end" else 0))
            at = text.find(pattern, at + len(pattern))
        return found

    return cuts


def regex(pattern: str, side: str) -> Callable[[str], list[int]]:
    def cuts(text: str) -> list[int]:
        hits = re.finditer(pattern, text)
        return [hit.end() if side == "end" else hit.start() for hit in hits]

    return cuts


def from_core(level: str) -> Callable[[str], list[int]]:
    return lambda text: _core.cuts(text, level).tolist()


Level = Callable[[str], list[int]]
SENTENCE: list[Level] = [from_core("sentence"), words, from_core("word_part")]
RECURSIVE: list[Level] = [paragraphs, lines, *SENTENCE]


# --------------------------------------------------------------------------------------- packing


@dataclass
class Packed:
    """A chunk: its trimmed span, its raw span, and where the units it is made of start."""

    start: int
    end: int
    raw_start: int
    raw_end: int
    units: list[int] | None  # None: grapheme clusters


class Packer:
    """Packs one text. `fits` and `size` always count a trimmed slice on its own."""

    def __init__(
        self, text: str, limit: int, overlap: int, unit: Unit, trim: bool = True, min_size: int = 0
    ) -> None:
        self.text, self.limit, self.overlap, self.unit = text, limit, overlap, unit
        self.trim, self.min_size = trim, min_size
        self.borders = borders(text)
        self.chunks: list[Packed] = []

    def size(self, start: int, end: int) -> int:
        span = trim(self.text, start, end) if self.trim else (start, end)
        return size(self.text[slice(*span)], self.unit) if span else 0

    def size_of(self, start: int, end: int) -> int:
        """Return the visible characters of a stretch."""
        span = trim(self.text, start, end)
        return span[1] - span[0] if span else 0

    def fits(self, start: int, end: int) -> bool:
        return self.size(start, end) <= self.limit

    def add(self, raw_start: int, raw_end: int, units: list[int] | None) -> None:
        span = trim(self.text, raw_start, raw_end) if self.trim else (raw_start, raw_end)
        if span is None:
            return
        if self.chunks and span[1] <= self.chunks[-1].end:
            return  # inside the chunk before
        if self.chunks and span[0] <= self.chunks[-1].start:
            self.chunks.pop()  # the chunk before lies inside this one
        if units is not None:
            units = [at for at in units if at < span[1]]  # blank pieces at its end repeat nothing
        self.chunks.append(Packed(*span, raw_start, raw_end, units))

    # Levels: pieces of one level pack together; one too large is opened at the next level.

    def by_levels(self, levels: list[Level]) -> list[Span]:
        if self.text:
            self.pack(0, [len(self.text)], levels)
        return self.merged()

    def pack(self, start: int, ends: list[int], below: list[Level]) -> None:
        while ends:
            # Trimmed, blank pieces come along; it is the first visible one that has to fit.
            visible = [i for i, end in enumerate(ends) if not self.trim or self.size_of(start, end)]
            if not visible:
                return
            must = visible[0]
            first = self.overlap_start(start, ends[must])
            if not self.fits(first, ends[must]):
                if must:
                    start, ends = ends[must - 1], ends[must:]  # without its indent it may fit
                else:
                    self.open(start, ends[0], below)
                    start, ends = ends[0], ends[1:]
                continue
            many = must + 1
            while many < len(ends) and self.fits(first, ends[many]):
                many += 1
            before = self.chunks[-1].units if self.chunks else None
            shared = [unit for unit in before or [] if first < unit < start]
            self.add(first, ends[many - 1], [*shared, start, *ends[: many - 1]])
            start, ends = ends[many - 1], ends[many:]

    def open(self, start: int, end: int, levels: list[Level]) -> None:
        for depth, level in enumerate(levels):
            found = {start + at for at in level(self.text[start:end])} & set(self.borders)
            inside = sorted(at for at in found if start < at < end)
            if inside:
                self.pack(start, [*inside, end], levels[depth + 1 :])
                return
        self.windows(start, end)

    def overlap_start(self, start: int, need: int) -> int:
        """Return where the chunk whose first new piece is `start..need` begins."""
        if not self.chunks or not self.overlap:
            return start
        last = self.chunks[-1]
        units = last.units
        if units is None:
            # Blanks before what is repeated are no part of it.
            back = self.back(last.end if self.trim else start)
            units = [at for at in self.borders if at >= back]
        else:
            # Units that count nothing, such as blanks in words, are no overlap.
            units = [at for at in units if self.size(at, start)]
        return self.first_shared((u for u in units if u > last.start), start, need)

    def first_shared(self, units: Iterable[int], start: int, need: int) -> int:
        for unit in units:
            if unit >= start:
                break
            if self.size(unit, start) <= self.overlap and self.fits(unit, need):
                return unit
        return start

    # Windows: the end is the last border that keeps the limit, the next start the first border
    # that leaves at most the overlap. Units are counted off before blanks are trimmed.

    def by_windows(self) -> list[Span]:
        self.windows(0, len(self.text))
        return self.merged()

    def windows(self, start: int, end: int) -> None:
        before = None
        while start < end:
            need = next(at for at in self.borders if at > start)
            first = start
            if before is None:
                first = self.overlap_start(start, need)
            elif self.overlap:
                back = self.back(start)
                units = [at for at in self.borders if before < at < start and at >= back]
                first = self.first_shared(units, start, need)
            close = need
            reach = self.reach(first, end)
            for at in self.borders:
                if start < at <= reach and self.fits(first, at):
                    close = max(close, at)
            self.add(first, close, None)
            before, start = first, close

    def reach(self, start: int, end: int) -> int:
        """Return the furthest place where a window from `start` may end: where its units do."""
        if self.unit == "words":
            found = list(_WORD.finditer(self.text[start:]))
            more = len(found) >= self.limit
            return min(end, start + found[self.limit - 1].end()) if more else end
        keeps = (at for at in self.borders if start < at <= end)
        return max((at for at in keeps if self.raw_size(start, at) <= self.limit), default=start)

    def back(self, end: int) -> int:
        """Return the furthest place before `end` where an overlap may start: where its units do."""
        if self.unit == "words":
            found = words(self.text[:end])
            return found[-self.overlap] if len(found) >= self.overlap else 0
        shared = (at for at in self.borders if at < end)
        return min((at for at in shared if self.raw_size(at, end) <= self.overlap), default=end)

    def raw_size(self, start: int, end: int) -> int:
        return size(self.text[start:end], self.unit)

    def merged(self) -> list[Span]:
        """Return the spans, chunks below `min_size` joined with a neighbour from left to right."""
        done: list[Packed] = []
        for chunk in self.chunks:
            if done:
                top = done[-1]
                small = min(size(self.text[c.start : c.end], self.unit) for c in (top, chunk))
                if small < self.min_size and self.fits(top.raw_start, chunk.raw_end):
                    done[-1] = Packed(top.start, chunk.end, top.raw_start, chunk.raw_end, None)
                    continue
            done.append(chunk)
        return [(chunk.start, chunk.end) for chunk in done]


def window_words(n: int, limit: int, overlap: int) -> list[Span]:
    """Return the windows over `n` units by the formula of A2."""
    step = limit - overlap
    if n == 0:
        return []
    many = 1 + ceil((n - limit) / step) if n > limit else 1
    return [(k * step, min(k * step + limit, n)) for k in range(many)]


def split(
    strategy: str,
    text: str,
    limit: int,
    overlap: int,
    unit: Unit,
    *,
    trimmed: bool = True,
    min_size: int = 0,
    levels: list[Level] | None = None,
) -> list[Span]:
    """Return the character spans that a strategy must give."""
    packer = Packer(text, limit, overlap, unit, trimmed, min_size)
    if strategy == "whole":
        span = (trim(text, 0, len(text)) if trimmed else (0, len(text))) if text else None
        return [span] if span else []
    if strategy == "window":
        return packer.by_levels([words]) if unit == "words" else packer.by_windows()
    if strategy == "sentence":
        return packer.by_levels(SENTENCE)
    return packer.by_levels(RECURSIVE if levels is None else levels)
