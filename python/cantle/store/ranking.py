"""What a question finds: by vectors, by words, or by both, each put in one order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle import _core
from cantle.blending import smooth
from cantle.store.fusion import fuse
from cantle.store.searching import Explained, Searcher, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODES = ("dense", "text", "hybrid")
_DEEP = 200
"""How far down two rankings are read, at least: what stands lower changes little."""
Rerank = Callable[[str, list[str]], Sequence[float]]
"""From a question and texts to a score for each, higher for what answers it better."""


@dataclass(frozen=True)
class Asked:
    """One question to a searcher."""

    question: str | None
    query: NDArray[np.float32] | None
    k: int
    mode: str
    ef: int | None = None
    mask: NDArray[np.bool_] | None = None
    min_score: float | None = None


class Ranked(NamedTuple):
    """Rows, best first."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]
    plan: Explained


def check_mode(mode: str) -> None:
    """Raise unless there is such a mode."""
    if mode not in MODES:
        told = ", ".join(map(repr, MODES))
        raise _core.SettingError(f"mode ({mode!r}) must be one of {told}")


def ranked(searcher: Searcher, asked: Asked) -> Ranked:
    """Return the best rows for a question.

    Raises:
        SettingError: The mode needs a vector or words that were not given.
    """
    if asked.mode == "dense":
        return _above(_dense(searcher, asked, asked.k), asked.min_score)
    if asked.question is None:
        raise _core.SettingError(f"mode ({asked.mode!r}) needs a question in words")
    if asked.mode == "text":
        return _above(_by_words(searcher, asked, asked.k), asked.min_score)
    return _hybrid(searcher, asked)


def _dense(searcher: Searcher, asked: Asked, k: int) -> Ranked:
    if asked.query is None:
        raise _core.SettingError(f"mode ({asked.mode!r}) needs a vector")
    found = searcher.dense(asked.query, k, asked.ef, asked.mask)
    return Ranked(found.rows, found.scores, Explained(found.plan))


def _above(found: Ranked, least: float | None) -> Ranked:
    if least is None:
        return found
    keep = found.scores >= least
    return Ranked(found.rows[keep], found.scores[keep], found.plan)


def _by_words(searcher: Searcher, asked: Asked, k: int) -> Ranked:
    """Return the rows that share words with the question, by BM25 smoothed over neighbours."""
    snapshot = searcher.snapshot
    rows, scores = [np.empty(0, np.int64)], [np.empty(0)]
    said: list[str] = []
    groups = snapshot.groups()
    for at, strategy in enumerate(snapshot.strategies):
        own = np.flatnonzero(snapshot.strategy == at)
        allowed = np.ones(len(own), bool) if asked.mask is None else asked.mask[own]
        if not strategy.searched or not allowed.any():
            continue
        words = searcher.words(at, own)
        found: NDArray[np.float64] = words.scores(asked.question or "").astype(np.float64)
        if weights := searcher.weights.get(at):
            found = smooth(found, groups[own], weights).astype(np.float64)
            shown = ", ".join(f"{weight:g}" for weight in weights)
            said.append(f"smoothed ({strategy.name}): {shown}")
        there = (found > 0) & allowed
        rows.append(own[there])
        scores.append(found[there])
    row, score = np.concatenate(rows), np.concatenate(scores)
    best = np.lexsort((row, -score))[:k]
    allowed_rows = len(snapshot) if asked.mask is None else int(np.count_nonzero(asked.mask))
    lines = (f"allowed   {allowed_rows:,} rows", f"matching  {len(row):,} rows", *said)
    plan = Explained((Step(f"words (BM25, k {k:,})", lines),))
    return Ranked(row[best], score[best].astype(np.float32), plan)


def _hybrid(searcher: Searcher, asked: Asked) -> Ranked:
    deep = max(_DEEP, 4 * asked.k)
    dense, words = _dense(searcher, asked, deep), _by_words(searcher, asked, deep)
    fused = fuse([dense.rows, words.rows])
    keep = np.ones(len(fused.rows), bool)
    if asked.min_score is not None:
        keep = _near(searcher, asked, fused.rows, asked.min_score)
    rows, ranks = fused.rows[keep][: asked.k], fused.ranks[:, keep][:, : asked.k]
    told = tuple(
        f"{name}: rank {_rank(by_vector)} by vectors, {_rank(by_words)} by words"
        for name, by_vector, by_words in zip(
            searcher.snapshot.ids(rows), *ranks.tolist(), strict=True
        )
    )
    head = Step(f"reciprocal rank fusion (k {asked.k:,}, each ranking to {deep:,})", told)
    scores = fused.scores[keep][: asked.k].astype(np.float32)
    return Ranked(rows, scores, Explained((head, *dense.plan.steps, *words.plan.steps)))


def _near(
    searcher: Searcher, asked: Asked, rows: NDArray[np.int64], least: float
) -> NDArray[np.bool_]:
    """Return which rows reach the lowest score by their vectors."""
    near = np.zeros(len(searcher.snapshot), bool)
    if len(rows):
        mask = near.copy()
        mask[rows] = True
        query: Any = asked.query
        found = searcher.dense(query, len(rows), asked.ef, mask)
        near[found.rows[found.scores >= least]] = True
    return near[rows]


def _rank(rank: int) -> str:
    return f"{rank:,}" if rank else "none"


def reranked(found: Ranked, k: int, question: str, texts: list[str], rerank: Rerank) -> Ranked:
    """Return the rows in the order that a model of the caller's gives them.

    Raises:
        SettingError: It gives another number of scores than texts, or a NaN.
        TypeError: It gives something else than numbers.
    """
    if not texts:
        return found
    given = rerank(question, texts)
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"rerank: {type(given).__qualname__} where a number for each text is expected"
        ) from None
    if scores.shape != (len(texts),):
        raise _core.SettingError(f"rerank: scores of shape {scores.shape} for {len(texts)} texts")
    if np.isnan(scores).any():
        raise _core.SettingError(f"rerank: NaN for texts[{int(np.argmax(np.isnan(scores)))}]")
    best = np.lexsort((found.rows, -scores))[:k]
    head = Step(f"reranked (the best {len(texts):,} of what follows)", ())
    plan = Explained((head, *found.plan.steps))
    return Ranked(found.rows[best], scores[best].astype(np.float32), plan)
