"""`DocumentBased`: sections first, long ones divided where their subject shifts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from cantle import _core, units
from cantle.chunks import Chunks
from cantle.documents import Documents
from cantle.embed.door import BATCH_SIZE, Embedder, Progress
from cantle.forms import OTHERWISE, check_format, in_place
from cantle.labels import Labeller, opening_words
from cantle.reading import forms_of
from cantle.strategies.meaning import ByThreshold
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class DocumentBased(ByThreshold, Splitting):
    """Sections by their headings; one over `size` is divided where its subject shifts.

    Sections are those of `Structural`. Only the sentences of sections that do not fit are embedded,
    and such a section is cut like a document of `Semantic`, with a threshold of its own. Of a
    section of several parts each part's heading path ends in `Heading - Label` in place of
    `Heading`; the text is untouched.

    Args:
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before; never from another section.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        embedder: As for `Semantic`.
        depth: Which headings start a section; as for `Structural`.
        target: About how many units a section, or a part of one, should have. Default: two thirds
            of `size`.
        percentile: As for `Semantic`, of the distances of each section.
        distance: As for `Semantic`.
        deviations: As for `Semantic`, of the distances of each section.
        automatic: As for `Semantic`, in each section.
        mode: As for `Semantic`.
        buffer: As for `Semantic`.
        min_size: As for `Semantic`.
        min_sentences: As for `Semantic`.
        prefix: What stands before the text in `embed_text`, if both are to keep `size`; as for
            `Structural`. Room is left for a label of a dozen letters; a longer one costs outer
            headings.
        label: Makes the labels: called for each section that was divided with its heading and the
            sentences of each part, returns a label for each. None: `cantle.labels.opening_words`.
        format: The documents' form, one of `cantle.FORMATS`; as for `Structural`.
        batch_size: Most texts in a call of the embedder.
        progress: Called after each batch with how many texts are embedded, and how many there are.
        name: The name in the chunks' ids. Default: `documentbased`.
    """

    strategy = "documentbased"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    embedder: Embedder | str = "static"
    depth: int | str = "auto"
    target: int | None = None
    percentile: float | None = None
    distance: float | None = None
    deviations: float | None = None
    automatic: bool = False
    mode: str = "previous"
    buffer: int = 0
    min_size: int | None = None
    min_sentences: int = 1
    prefix: str | None = None
    label: Labeller | None = None
    format: str = "auto"
    batch_size: int = BATCH_SIZE
    progress: Progress | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.label is not None and not callable(self.label):
            raise TypeError(f"label ({self.label!r}) must be callable or None")
        check_format(self.format)
        form = self.format if in_place(self.format) else OTHERWISE
        self._build(core="meaning", meaning=self._meaning((self.depth, form)))
        if not isinstance(self.depth, str):
            object.__setattr__(self, "depth", int(self.depth))

    def _forms(self, documents: Documents) -> list[object] | None:
        return forms_of(documents, self.format)

    def _target(self) -> int | None:
        return self._sizes()[0] if self.depth == "auto" else None

    def _chunks(
        self,
        columns: dict[str, Any],
        documents: Documents,
        *,
        name: str | None = None,
        parents: Chunks | None = None,
    ) -> Chunks:
        plain = columns
        if "compared" in columns and "structure" in columns:
            columns = self._labelled(columns, documents)
        chunks = super()._chunks(columns, documents, name=name, parents=parents)
        if self.prefix is None or columns is plain:
            return chunks
        # Labels were unknown when the text was cut: one that is too long costs outer headings.
        rows = np.flatnonzero(columns["heading"] != plain["heading"])
        unit = units.resolve(self.unit)
        lost = columns["lost"].copy() if "lost" in columns else np.zeros(len(chunks), np.int32)
        flags = columns["flags"].copy()
        while len(rows):
            parts = chunks[rows]
            bare = np.array([a == b for a, b in zip(parts.embed_texts, parts.texts, strict=True)])
            rows = rows[~bare & (units.sizes(unit, parts.embed_texts) > self.size)]
            lost[rows] += 1
            flags[rows] |= _core.SHORTENED
            shortened = columns | {"lost": lost, "flags": flags}
            chunks = super()._chunks(shortened, documents, name=name, parents=parents)
        return chunks

    def _labelled(self, columns: dict[str, Any], documents: Documents) -> dict[str, Any]:
        """Return the columns with a heading of its own for each part of a section."""
        tables = columns["structure"]
        old = {
            name: tables[name].tolist()
            for name in ("level", "above", "heading_doc", "heading_start")
        }
        titles: list[str] = list(tables["titles"])
        heading = columns["heading"].copy()
        label = self.label or opening_words
        for rows, parts in _divided(columns, documents):
            # Below a heading inside of the section it is that one that the labels go to.
            under: dict[int, list[int]] = {}
            for i, above in enumerate(columns["heading"][rows].tolist()):
                under.setdefault(above, []).append(i)
            for above, mine in under.items():
                if above < 0 or len(mine) < 2:
                    continue
                labels = _checked(label(titles[above], [parts[i] for i in mine]), len(mine))
                for i, word in zip(mine, labels, strict=True):
                    if not word:
                        continue
                    for column in old.values():
                        column.append(column[above])
                    heading[rows[i]] = len(titles)
                    titles.append(f"{titles[above]} - {word}")
        added = {name: np.array(column, tables[name].dtype) for name, column in old.items()} | {
            "titles": _texts(titles)
        }
        return columns | {"heading": heading, "structure": tables | added}


def _divided(
    columns: dict[str, Any], documents: Documents
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield for each section that was divided the rows of its chunks, and the sentences of each."""
    found = columns["compared"]
    # The last sentence of a section has no distance.
    last = np.flatnonzero(np.isnan(found["distance"]))
    first = np.append(0, last[:-1] + 1)
    doc, start, end = (columns[name] for name in ("doc", "byte_start", "byte_end"))
    encoded = -1
    for a, b in zip(first.tolist(), (last + 1).tolist(), strict=True):
        number = int(found["doc"][a])
        low, high = np.searchsorted(doc, [number, number + 1])
        low, high = (
            low + np.searchsorted(end[low:high], found["byte_start"][a], "right"),
            low + np.searchsorted(start[low:high], found["byte_end"][b - 1], "left"),
        )
        if number != encoded:
            text, encoded = documents.texts[number], number
            data = text.encode() if isinstance(text, str) else text
        rows = list(range(int(low), int(high)))
        if len(rows) < 2:
            continue
        parts = []
        for row in rows:
            one = a + np.searchsorted(found["byte_end"][a:b], start[row], "right")
            other = a + np.searchsorted(found["byte_start"][a:b], end[row], "left")
            # Of a sentence that is too large for a chunk, each has its own part.
            spans = zip(
                np.maximum(found["byte_start"][one:other], start[row]).tolist(),
                np.minimum(found["byte_end"][one:other], end[row]).tolist(),
                strict=True,
            )
            parts.append([data[c:d].decode() for c, d in spans])
        yield rows, parts


def _checked(labels: object, parts: int) -> list[str]:
    given = list(labels) if isinstance(labels, list | tuple) else None
    if given is None or not all(isinstance(one, str) for one in given):
        raise TypeError(f"label: {labels!r} where a list of strings is expected")
    if len(given) != parts:
        raise _core.SettingError(f"label: {len(given)} labels for {parts} parts")
    return given


def _texts(titles: list[str]) -> _core.ArrowTexts:
    data = [title.encode() for title in titles]
    ends = np.cumsum([len(title) for title in data], dtype="<u8")
    return _core.ArrowTexts(b"".join(data), ends.tobytes())
