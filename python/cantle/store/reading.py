"""`Reading`: what is asked of a store: searches, what it holds, whether it is whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cantle import _core, units
from cantle.documents import check_not_blank
from cantle.embed.door import Embedder, embed_all, identity
from cantle.limits import whole
from cantle.store.budget import fill
from cantle.store.checking import facts, problems
from cantle.store.database import Database, Moved, set_setting, setting
from cantle.store.hits import Hits
from cantle.store.passages import Passages
from cantle.store.ranking import Asked, Rerank, check_mode, ranked, reranked
from cantle.store.searching import Searcher, chosen_index
from cantle.store.settings import Settings
from cantle.store.snapshot import Snapshot
from cantle.store.where import Where, mask_of
from cantle.store.words import WordsByStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRIES = 2
"""How often a search begins anew since the store was written meanwhile, before it keeps the file
as it is."""
_FEWEST, _TOKENS = 50, 5
"""Rows that are ranked for a budget: at least so many, and one for so many tokens."""
_Answer = TypeVar("_Answer")


class Reading:
    """The questions that a store answers; `Store` adds what writes."""

    def __init__(self, database: Database, settings: Settings) -> None:
        """Made by `Store.open`."""
        self._database = database
        self._settings = settings
        self._lock = database.lock
        self._searcher: Searcher | None = None
        self._words = WordsByStrategy()

    @property
    def path(self) -> str:
        """The file, or `:memory:`."""
        return self._database.path

    @property
    def embedder(self) -> Embedder:
        """What turns texts into vectors.

        Raises:
            SettingError: The store's embedder has no name, and none was given.
        """
        return self._settings.callable

    def snapshot(self) -> Snapshot:
        """Return all chunks as columns, as they are now."""
        return self._current().snapshot

    def _current(self) -> Searcher:
        with self._lock:
            with self._database.read() as connection:
                generation = setting(connection, "generation", 0)
            if self._searcher is None or self._searcher.snapshot.generation != generation:
                self._searcher = self._again(self._made)
            return self._searcher

    def _made(self) -> Searcher:
        # Rows and vectors of one moment: other processes may write all the while.
        with self._database.read():
            return Searcher(
                self._database,
                Snapshot(self._database),
                self._settings.index,
                self._settings.blend,
                self._words,
                self._searcher,
            )

    def _again(self, act: Callable[[], _Answer]) -> _Answer:
        """Return what an act gives; it begins anew where the store was written meanwhile."""
        for _ in range(_TRIES):
            try:
                return act()
            except Moved:
                continue
        # All of it at one moment: what other processes write meanwhile is not seen.
        with self._database.read():
            return act()

    def describe(self) -> str:
        """Return what searches, in words: the embedder, the index, what is blended."""
        snapshot = self.snapshot()
        chosen = chosen_index(self._settings.index, int(np.count_nonzero(snapshot.embedded)))
        blended = "; ".join(
            f"{row.name} blended with neighbours by {weights}"
            for row, weights in zip(
                snapshot.strategies, self._current().weights.values(), strict=True
            )
            if weights
        )
        return f"{chosen!r}, vectors of {units.readable(identity(self.embedder))}" + (
            f"; {blended}" if blended else ""
        )

    def remember(self, told: Mapping[str, Any]) -> None:
        """Keep plain values for who fills the store again: where its documents are, for one."""
        with self._database.write(counted=False) as connection:
            set_setting(connection, "remembered", json.dumps(dict(told)))

    def remembered(self) -> dict[str, Any]:
        """Return what `remember` was given last; nothing if it never was."""
        with self._database.read() as connection:
            found: dict[str, Any] = json.loads(setting(connection, "remembered", "{}"))
        return found

    def info(self) -> dict[str, Any]:
        """Return what the store holds, as plain values: counts, sizes, settings, strategies."""

        def act() -> dict[str, Any]:
            searcher = self._current()
            count = int(np.count_nonzero(searcher.snapshot.embedded))
            chosen = repr(chosen_index(self._settings.index, count))
            return facts(self._database, searcher, chosen)

        return self._again(act)

    def check(self) -> list[str]:
        """Return what is wrong with the store, in words; nothing where all is right.

        The whole file is read: every text is hashed again, so that no vector is of another text.
        """
        return problems(self._database)

    def search(
        self,
        question: str | None = None,
        k: int = 5,
        *,
        vector: Any = None,
        where: Where | None = None,
        mode: str = "dense",
        ef: int | None = None,
        min_score: float | None = None,
        rerank: Rerank | None = None,
        candidates: int = 50,
    ) -> Hits:
        """Return the chunks that answer a question best, best first.

        Args:
            question: What is asked, in words; the store's embedder embeds it.
            k: The most hits; fewer come where fewer match.
            vector: What is asked, as a vector; beside a question it stands for the embedder's.
            where: What hits must be: see `Where`.
            mode: `"dense"`, by vectors; `"text"`, by words (BM25, smoothed over neighbours where
                vectors are blended); `"hybrid"`, by both, their ranks fused.
            ef: How widely HNSW searches; higher finds more and takes longer.
            min_score: The lowest score of a hit; in mode `"hybrid"` that by its vector.
            rerank: Called with the question and the texts of the best `candidates`; gives a score
                for each, by which they are put in order.
            candidates: How many are handed to `rerank`.

        Raises:
            SettingError: What is asked is missing or blank, or has another length or a NaN; k is
                below 1; a condition or a mode names what is not there.
        """
        return self.search_all(
            [question],
            k,
            vectors=None if vector is None else [vector],
            where=where,
            mode=mode,
            ef=ef,
            min_score=min_score,
            rerank=rerank,
            candidates=candidates,
        )[0]

    def search_all(
        self,
        questions: Sequence[str | None],
        k: int = 5,
        *,
        vectors: Any = None,
        where: Where | None = None,
        mode: str = "dense",
        ef: int | None = None,
        min_score: float | None = None,
        rerank: Rerank | None = None,
        candidates: int = 50,
    ) -> list[Hits]:
        """Return the hits of many questions; arguments are those of `search`.

        The questions are embedded together, and all are answered from one state of the store.
        """
        k = whole("k", k, 1)
        check_mode(mode)
        most = k if rerank is None else max(k, whole("candidates", candidates, 1))
        asked = [
            Asked(question, query, most, mode, ef, None, min_score)
            for question, query in self._asked(questions, vectors, mode)
        ]
        return self._answered(
            where,
            vectors is None and mode != "text",
            lambda searcher, mask: [
                self._hits(searcher, replace(one, mask=mask), k, rerank) for one in asked
            ],
        )

    def retrieve(
        self,
        question: str | None = None,
        budget: int = 1_000,
        *,
        vector: Any = None,
        where: Where | None = None,
        mode: str = "hybrid",
        ef: int | None = None,
        min_score: float | None = None,
        order: str = "document",
        unit: units.Unit = "cl100k_base",
    ) -> Passages:
        """Return the passages that fill a budget of tokens best.

        The best chunks are taken until the next one has no room, those that touch are joined, and
        each passage says where it stands. In one budget, small chunks hold more answers than large
        ones, and more than what stands around hits: see docs/quality.md.

        Args:
            question: As for `search`.
            budget: The most that all passages measure together.
            vector: As for `search`.
            where: As for `search`.
            mode: As for `search`.
            ef: As for `search`.
            min_score: As for `search`.
            order: `"document"`: as they stand in their documents; `"score"`: the best first.
            unit: What the budget counts.
        """
        check_mode(mode)
        ((said, query),) = self._asked([question], None if vector is None else [vector], mode)
        # A chunk has some tokens at least: more rows than these cannot have room.
        deep = max(_FEWEST, whole("budget", budget, 1) // _TOKENS)
        asked = Asked(said, query, deep, mode, ef, None, min_score)

        def act(searcher: Searcher, mask: NDArray[np.bool_] | None) -> Passages:
            found = ranked(searcher, replace(asked, mask=mask))
            passages = fill(
                searcher.snapshot, found.rows, found.scores, budget, unit=unit, order=order
            )
            return passages.explained(found.plan)

        return self._answered(where, vector is None and mode != "text", act)

    def _answered(
        self,
        where: Where | None,
        embedded: bool,
        act: Callable[[Searcher, NDArray[np.bool_] | None], _Answer],
    ) -> _Answer:
        """Return an answer of one state of the store.

        Args:
            where: What rows must be.
            embedded: Whether the store's embedder embedded the question: it must be the one that
                the vectors are of, which another process may have changed.
            act: Gives the answer.
        """
        settings = self._settings

        def once() -> _Answer:
            searcher = self._current()
            if embedded:
                settings.check_embedder(searcher.snapshot.embedder)
            return act(searcher, mask_of(searcher.snapshot, where))

        return self._again(once)

    def _hits(self, searcher: Searcher, asked: Asked, k: int, rerank: Rerank | None) -> Hits:
        found, snapshot = ranked(searcher, asked), searcher.snapshot
        if rerank is not None:
            texts = snapshot.texts(found.rows)
            found = reranked(found, k, asked.question or "", texts, rerank)
        told, texts = snapshot.told(found.rows), snapshot.texts(found.rows)
        return Hits(snapshot, told, texts, *found, asked.question, asked.query)

    def _asked(
        self, questions: Sequence[str | None], vectors: Any, mode: str
    ) -> list[tuple[str | None, NDArray[np.float32] | None]]:
        """Return questions with their vectors, where the mode needs them."""
        if isinstance(questions, str):
            raise TypeError("questions must be a sequence of strings; use search for one")
        for at, question in enumerate(questions):
            if question is not None:
                check_not_blank(f"questions[{at}]", question)
            elif vectors is None:
                raise _core.SettingError("neither a question nor a vector is given")
        if vectors is not None:
            given = np.asarray(vectors, np.float32)
            if given.ndim != 2 or len(given) != len(questions):
                raise _core.SettingError(
                    f"vectors of shape {given.shape} for {len(questions)} questions; one row each"
                )
            return list(zip(questions, given, strict=True))
        if mode == "text" or not questions:
            return [(question, None) for question in questions]
        texts = [question for question in questions if question is not None]
        found = embed_all(self.embedder, texts, called=lambda at: f"questions[{at}]")
        return list(zip(questions, found, strict=True))
