"""`compare`: what several strategies make of the same documents, and what each gives a question.

Two tables, as in the lesson "Chunking strategies" of SurrealDB University: what is stored, and what
the best chunk of each strategy brings into a prompt.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from cantle import _core, units
from cantle.chunks import Chunks
from cantle.documents import (
    Arrow,
    Documents,
    Skipped,
    Text,
    arrow_strings,
    check_not_blank,
    is_arrow,
)
from cantle.embed.door import BATCH_SIZE, Embedder, embed_all, identity
from cantle.embed.named import resolve
from cantle.spans import repeated
from cantle.strategies.splitting import Errors, Splitting, skips
from cantle.strategies.text import strategies_from_text, strategy_from_text
from cantle.structure import Blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DEFAULT = "static"
_Table: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Heads and lines."""


class Best(NamedTuple):
    """The chunk of one strategy that is nearest to the question."""

    id: str
    score: float
    """The cosine of its vector and the question's."""
    words: int
    """How many words it brings into a prompt."""
    text: str

    def as_dict(self) -> dict[str, Any]:
        """Return id, score and words as values that JSON has."""
        return {"id": self.id, "score": self.score, "words": self.words}


class Comparison:
    """Strategies over the same documents: read-only columns, a row for each strategy.

    Printed, it is one table, or two where a question was asked.
    """

    __slots__ = (
        *("_settings", "best", "bytes", "bytes_stored", "chunks", "documents", "duplicated"),
        *("embedder", "mean_words", "question", "skipped", "strategies", "unranked", "words"),
        "words_stored",
    )

    documents: int
    """How many documents were cut by every strategy."""
    words: int
    """How many words they have: runs of anything but white space."""
    bytes: int
    """How many bytes of UTF-8 they have."""
    skipped: tuple[Skipped, ...]
    """The documents that a strategy could not cut; no figure counts them."""
    question: str | None
    """What was asked."""
    embedder: str | None
    """The embedder that was asked: what it says it is, or its name."""
    strategies: tuple[str, ...]
    """The name of each; with size, overlap and unit where several have one name."""
    chunks: NDArray[np.int64]
    """How many chunks there are."""
    mean_words: NDArray[np.float64]
    """How many words a chunk has; 0 where there is none."""
    words_stored: NDArray[np.int64]
    """How many words all chunks have."""
    bytes_stored: NDArray[np.int64]
    """How many bytes of UTF-8 all chunks have."""
    duplicated: NDArray[np.float64]
    """Which part of `bytes_stored` another chunk of the strategy holds already, from 0 to 1."""
    best: tuple[Best | None, ...]
    """The chunk nearest to the question; None where none can be ranked, or nothing was asked."""
    unranked: NDArray[np.int64]
    """How many chunks have a zero vector, and so are near to nothing."""

    def __init__(
        self,
        rows: Sequence[_Row],
        documents: Mapping[str, int],
        skipped: tuple[Skipped, ...],
        question: str | None,
        embedder: str | None,
    ) -> None:
        """Made by `compare`."""
        self.documents, self.words = documents["documents"], documents["words"]
        self.bytes = documents["bytes"]
        self.skipped = skipped
        self.question, self.embedder = question, embedder
        self.strategies = _labels(rows)
        self._settings = tuple(row.settings for row in rows)
        self.best = tuple(row.best for row in rows)
        for name in ("chunks", "words_stored", "bytes_stored", "unranked"):
            setattr(self, name, np.array([getattr(row, name) for row in rows], np.int64))
        repeats = np.array([row.bytes_repeated for row in rows], np.int64)
        self.mean_words = self.words_stored / np.maximum(self.chunks, 1)
        self.duplicated = repeats / np.maximum(self.bytes_stored, 1)
        for column in (self.chunks, self.words_stored, self.bytes_stored, self.unranked):
            column.setflags(write=False)
        for share in (self.mean_words, self.duplicated):
            share.setflags(write=False)

    def __len__(self) -> int:
        return len(self.strategies)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON has; `strategies` is a list, a row for each."""
        found: dict[str, Any] = {
            "documents": self.documents,
            "words": self.words,
            "bytes": self.bytes,
            "skipped": [skipped._asdict() for skipped in self.skipped],
            "question": self.question,
            "embedder": self.embedder,
            "strategies": [],
        }
        for at, strategy in enumerate(self.strategies):
            row = {
                "strategy": strategy,
                **self._settings[at],
                "chunks": int(self.chunks[at]),
                "mean_words": float(self.mean_words[at]),
                "words_stored": int(self.words_stored[at]),
                "bytes_stored": int(self.bytes_stored[at]),
                "duplicated": float(self.duplicated[at]),
            }
            if self.question is not None:
                best = self.best[at]
                row["best"] = None if best is None else best.as_dict()
                row["unranked"] = int(self.unranked[at])
            found["strategies"].append(row)
        return found

    def tables(self) -> list[_Table]:
        """Return the heads and the lines of each table, as texts to be shown."""
        heads = ("strategy", "chunks", "mean words", "words stored", "bytes stored", "duplicated")
        stored = [
            (
                strategy,
                f"{self.chunks[at]:,}",
                f"{self.mean_words[at]:,.0f}",
                f"{self.words_stored[at]:,}",
                f"{self.bytes_stored[at]:,}",
                f"{self.duplicated[at]:.0%}",
            )
            for at, strategy in enumerate(self.strategies)
        ]
        if self.question is None:
            return [(heads, stored)]
        asked = [
            (strategy, "-", "-", "-")
            if best is None
            else (strategy, best.id, f"{best.score:.3f}", f"{best.words:,}")
            for strategy, best in zip(self.strategies, self.best, strict=True)
        ]
        return [(heads, stored), (("strategy", "best chunk", "score", "words"), asked)]

    def about(self) -> list[str]:
        """Return a line that stands above each table."""
        counts = {"document": self.documents, "word": self.words, "byte": self.bytes}
        told = (f"{n:,} {what}{'' if n == 1 else 's'}" for what, n in counts.items())
        lines = [", ".join(told)]
        return lines if self.question is None else [*lines, f"question: {self.question}"]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from cantle.bench.table import markdown

        told = zip(self.about(), self.tables(), strict=True)
        return "\n\n".join(f"{about}\n\n{markdown(*table)}".rstrip() for about, table in told)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.strategies)}; {self.documents} documents)"


def compare(
    texts: Iterable[Text | Blocks] | Arrow | Documents,
    strategies: str | Iterable[Splitting | Chunks | str],
    question: str | None = None,
    embedder: Embedder | str | None = None,
    *,
    ids: Iterable[str] | None = None,
    metadata: Iterable[Mapping[str, Any]] | None = None,
    threads: int = 0,
    batch_size: int = BATCH_SIZE,
    errors: Errors = "raise",
) -> Comparison:
    """Return what strategies make of the same documents, and what each gives a question.

    `duplicated` is the part of the stored bytes that another chunk of the same strategy and
    document holds already: the lengths of all chunks, less what they cover together, by their
    lengths. Text that stands in a document twice counts as two texts.

    With a question every chunk is embedded as for a store, with title and headings before its text;
    raw vectors are compared, without blending, by their cosine. Of chunks that are equally near the
    first one is named.

    Args:
        texts: The documents' texts, their `Blocks`, an Arrow array of texts, or `Documents`.
        strategies: What is compared: a list in text as for `strategies_from_text`, or strategies,
            their texts, or `Chunks` of the same documents that were cut by other means.
        question: What is asked of every strategy's chunks.
        embedder: What embeds question and chunks; also what strategies in text embed sentences
            with, where they do not say. Default: `"static"`.
        ids: One id per text.
        metadata: One mapping per text; a `title` is embedded with its chunks.
        threads: How many threads cut; 0 is one per core.
        batch_size: Most texts in a call of the embedder.
        errors: `"skip"` leaves out documents that a strategy cannot cut, of all strategies;
            `skipped` names them.

    Raises:
        SettingError: There is no strategy; chunks are not of these documents.
        TypeError: A strategy is none.
        TextError: A text cannot be cut, unless that is skipped.

    Example:
        >>> import cantle
        >>> text = "Tea is made of leaves. Warm the pot before you fill it. Pour."
        >>> print(cantle.compare([text], "whole,window:6:2:words"))
        1 document, 13 words, 61 bytes
        <BLANKLINE>
        | strategy | chunks | mean words | words stored | bytes stored | duplicated |
        | -------- | -----: | ---------: | -----------: | -----------: | ---------: |
        | whole    |      1 |         13 |           13 |           61 |         0% |
        | window   |      3 |          6 |           17 |           83 |        27% |
    """
    if isinstance(texts, str | bytes | Blocks):
        kind = type(texts).__qualname__
        raise TypeError(f"texts must be a sequence of texts, not {kind}")
    documents = texts
    if not isinstance(documents, Documents):
        given = arrow_strings(texts, "texts") if is_arrow(texts) else tuple(texts)  # type: ignore[arg-type]
        documents = Documents(given, ids, metadata)
    elif ids is not None or metadata is not None:
        raise _core.SettingError("ids and metadata are part of the documents")
    run = Comparing(strategies, question, embedder, threads, batch_size, skips(errors))
    run.take(documents)
    return run.comparison()


class Comparing:
    """A comparison that is made of some documents after the other, in bounded memory."""

    def __init__(
        self,
        strategies: str | Iterable[Splitting | Chunks | str],
        question: str | None = None,
        embedder: Embedder | str | None = None,
        threads: int = 0,
        batch_size: int = BATCH_SIZE,
        skip: bool = False,
    ) -> None:
        """Check what is asked, and embed the question; see `compare`."""
        if question is not None:
            check_not_blank("question", question)
        self._strategies = _checked(strategies, embedder)
        self._threads = threads
        self._batch_size = batch_size
        self._skip = skip
        self._question = question
        self._embedder: Embedder | None = None
        self._rows = [_Row(strategy) for strategy in self._strategies]
        self._totals = Counter(dict.fromkeys(("documents", "words", "bytes"), 0))
        self._skipped: list[Skipped] = []
        if question is not None:
            self._embedder = resolve(_DEFAULT if embedder is None else embedder)
            (self._query,) = embed_all(self._embedder, [question], called=lambda _: "the question")

    def take(self, documents: Documents) -> tuple[Skipped, ...]:
        """Count some documents; return those that are left out, as a strategy cannot cut them."""
        made = [self._cut(strategy, documents) for strategy in self._strategies]
        skipped = {one.doc: one for chunks in reversed(made) for one in chunks.skipped}
        if skipped:
            bad = list(skipped)
            made = [chunks[~np.isin(chunks.doc, bad)] for chunks in made]
        self._skipped += (left := tuple(skipped[doc] for doc in sorted(skipped)))
        for name, count in _totals(documents, set(skipped), self._threads).items():
            self._totals[name] += count
        words = [_words(chunks, self._threads) for chunks in made]
        for row, chunks, sizes in zip(self._rows, made, words, strict=True):
            row.count(chunks, sizes)
        if self._embedder is not None:
            self._ask(made, words)
        return left

    def _cut(self, strategy: Splitting | Chunks, documents: Documents) -> Chunks:
        if isinstance(strategy, Chunks):
            if list(strategy.documents.texts) != list(documents.texts):
                raise _core.SettingError(
                    f"strategies: the chunks {strategy.name!r} are not of these documents"
                )
            return strategy
        # A copy, since a strategy may note in it what it read off the texts.
        return strategy._cut(copy.copy(documents), self._threads, self._skip)

    def _ask(self, made: list[Chunks], words: list[NDArray[np.int64]]) -> None:
        """Find the chunks nearest to the question; a text of several strategies is embedded once.

        Raises:
            SettingError: Vectors of the chunks have another length than the question's.
        """
        from cantle.index import Exact

        assert self._embedder is not None
        texts = [chunks.embed_texts for chunks in made]
        once: dict[str, int] = {}
        places: list[tuple[Chunks, int]] = []
        for chunks, own in zip(made, texts, strict=True):
            for at, text in enumerate(own):
                if once.setdefault(text, len(once)) == len(places):
                    places.append((chunks, at))

        def called(row: int) -> str:
            chunks, at = places[row]
            return f"chunk {chunks[at].id!r}"

        vectors = embed_all(self._embedder, list(once), batch_size=self._batch_size, called=called)
        if len(vectors) and vectors.shape[1] != len(self._query):
            raise _core.SettingError(
                f"embedder: vectors of {vectors.shape[1]} numbers for chunks, of "
                f"{len(self._query)} for the question"
            )
        for chunks, own, sizes, row in zip(made, texts, words, self._rows, strict=True):
            if not own:
                continue
            mine = vectors[[once[text] for text in own]]
            row.unranked += int(np.count_nonzero(~mine.any(axis=1)))
            if not self._query.any():  # It is near to nothing.
                continue
            found = Exact().build(mine).search(self._query, 1)
            if len(found.rows):
                place = int(found.rows[0])
                chunk = chunks[place]
                row.meet(Best(chunk.id, float(found.scores[0]), int(sizes[place]), chunk.text))

    def comparison(self) -> Comparison:
        """Return what was counted."""
        told = None if self._embedder is None else units.readable(identity(self._embedder))
        return Comparison(self._rows, self._totals, tuple(self._skipped), self._question, told)


class _Row:
    """What is counted of one strategy."""

    def __init__(self, strategy: Splitting | Chunks) -> None:
        self.settings: dict[str, Any] = {}
        if isinstance(strategy, Chunks):
            self.name, self._details = strategy.name, strategy.unit
            self.settings["unit"] = strategy.unit
        else:
            self.name = strategy.name or strategy.strategy
            unit = units.describe(units.resolve(strategy.unit))
            self.settings |= {"size": strategy.size, "overlap": strategy.overlap, "unit": unit}
            self._details = f"{strategy.size}:{strategy.overlap}:{unit}"
        self.settings["fingerprint"] = strategy.fingerprint
        self.chunks = self.words_stored = self.bytes_stored = self.bytes_repeated = 0
        self.unranked = 0
        self.best: Best | None = None

    @property
    def names(self) -> tuple[str, str, str]:
        """What it may be called, the longer ones where several have the shorter."""
        longer = f"{self.name}:{self._details}"
        return self.name, longer, f"{longer}:{self.settings['fingerprint']}"

    def count(self, chunks: Chunks, words: NDArray[np.int64]) -> None:
        self.chunks += len(chunks)
        self.words_stored += int(words.sum())
        self.bytes_stored += int((chunks.byte_end - chunks.byte_start).sum())
        self.bytes_repeated += repeated(chunks.doc, chunks.byte_start, chunks.byte_end)

    def meet(self, best: Best) -> None:
        if self.best is None or best.score > self.best.score:
            self.best = best


def _labels(rows: Sequence[_Row]) -> tuple[str, ...]:
    """Return what each row is called: the shortest name that no other has."""
    times = [Counter(names) for names in zip(*(row.names for row in rows), strict=True)]
    return tuple(
        next((name for name, n in zip(row.names, times, strict=True) if n[name] == 1), row.names[2])
        for row in rows
    )


def _checked(
    strategies: str | Iterable[Splitting | Chunks | str], embedder: Embedder | str | None
) -> list[Splitting | Chunks]:
    known = {} if embedder is None else {"embedder": embedder}
    if isinstance(strategies, str):
        return list(strategies_from_text(strategies, **known))
    if isinstance(strategies, Splitting | Chunks) or not isinstance(strategies, Iterable):
        kind = type(strategies).__qualname__
        raise TypeError(f"strategies must be a list of strategies or a text, not {kind}")
    found = [
        strategy_from_text(one, **known) if isinstance(one, str) else one for one in strategies
    ]
    for at, one in enumerate(found):
        if not isinstance(one, Splitting | Chunks):
            raise TypeError(f"strategies[{at}] ({one!r}) must be a strategy, its text, or Chunks")
    if not found:
        raise _core.SettingError("strategies ([]) must hold at least one")
    return found


def _totals(documents: Documents, bad: set[int], threads: int) -> dict[str, int]:
    """Return how many documents are counted, and their words and bytes."""
    columns = units.whole("words").split(documents.texts, threads, True)
    kept = ~np.isin(columns["doc"], list(bad))
    size = columns["byte_end"] - columns["byte_start"]
    return {
        "documents": len(documents) - len(bad),
        "words": int(columns["size"][kept].sum()),
        "bytes": int(size[kept].sum()),
    }


def _words(chunks: Chunks, threads: int) -> NDArray[np.int64]:
    """Return how many words each chunk has, counted on its own text."""
    if not len(chunks):
        return np.zeros(0, np.int64)
    spans = (chunks.doc, chunks.byte_start, chunks.byte_end, chunks.char_start)
    columns = units.whole("words").split_within(chunks.documents.texts, *spans, threads)
    counts = np.zeros(len(chunks), np.int64)
    counts[columns["parent"]] = columns["size"]
    return counts
