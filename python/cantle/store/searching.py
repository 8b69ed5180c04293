"""`Searcher`: nearest rows of one snapshot, by an index that may be older than it is.

An index file covers the parts that it was built of. Of those that changed since, its rows are left
out of every answer, and the new ones are searched exactly beside it; so an answer is never stale,
and the file is built anew when that is worth it.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle import _core
from cantle.blending import blend as blended
from cantle.digest import hash_parts
from cantle.index import Auto, DamagedIndex, Exact, Hnsw, StaleIndex
from cantle.store.database import Database, set_setting, setting
from cantle.store.parts import HASH
from cantle.store.snapshot import Snapshot
from cantle.store.words import Words, WordsByStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.index import Index, Plan

Blend = str | tuple[float, ...] | None
"""`"auto"`, the weights of the neighbours on each side, or None for no blending."""

_NEAR, _SHORT, _LONG = (0.4, 0.2), (0.25,), ()
_NEAR_TO, _SHORT_TO = 100, 200
"""Up to how many tokens a unit gains by two neighbours, and by one; measured, see docs."""
_CHARACTERS = 4.4
"""Characters in a token of English prose: sizes are counted in many units."""
_STALE = 0.1
"""The share of changed rows from which an index is built anew."""


class Step(NamedTuple):
    """One step of a search."""

    name: str
    said: tuple[str, ...]
    """What is to be said of it."""


class Explained(NamedTuple):
    """How a search was done. Printed, it reads as the plan of a database."""

    steps: tuple[Step, ...]
    """The last one first."""

    def __str__(self) -> str:
        lines = []
        for number, (name, said) in enumerate(self.steps):
            before = "  " if number else ""
            lines.append(f"{'-> ' if number else ''}{name}")
            lines += [f"{before}  {line}" for line in said]
        return "\n".join(lines)


class Dense(NamedTuple):
    """Nearest rows by vectors."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float32]
    plan: tuple[Step, ...]


class Searcher:
    """What answers questions about one snapshot."""

    def __init__(
        self,
        database: Database,
        snapshot: Snapshot,
        index: Auto | Exact | Hnsw,
        blend: Blend,
        words: WordsByStrategy,
        before: Searcher | None = None,
    ) -> None:
        """Read the vectors, or the index file that was built of them.

        Args:
            database: What to read.
            snapshot: Its rows.
            index: What searches.
            blend: How vectors are blended.
            words: The words of each strategy.
            before: What searched an earlier state: vectors of parts that are the same are its.
        """
        self.snapshot = snapshot
        self._words = words
        metric = index.hnsw.metric if isinstance(index, Auto) else index.metric
        self.weights = _weights(snapshot, blend, metric)
        self._embedded = np.flatnonzero(snapshot.embedded)
        self.waiting = int(np.count_nonzero(_searched(snapshot) & ~snapshot.embedded))
        self._parts: list[_Covering] = []
        chosen = chosen_index(index, len(self._embedded))
        if isinstance(chosen, Hnsw):
            found = _opened(database, snapshot, chosen, blend)
            if found is not None:
                self._parts.append(found)
            elif not database.in_memory:
                index = Exact(metric)
        covered = np.zeros(len(snapshot), bool)
        for part in self._parts:
            covered[part.rows[part.rows >= 0]] = True
        rest = self._embedded[~covered[self._embedded]]
        self._vectors: NDArray[np.float32] | None = None
        """Those of all embedded rows as they are searched, where each is scored."""
        if self._parts:
            if len(rest):
                # Rows of a part are covered together or not at all.
                self._parts.append(_Covering(Exact(metric).build(self._read(rest)), rest))
        else:
            vectors = self._renewed(before)
            vectors.setflags(write=False)  # Else the index makes a copy.
            self._parts.append(_Covering(index.build(vectors), rest))
            if isinstance(chosen, Exact):
                self._vectors = vectors

    def _read(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """Return the vectors of the rows of whole parts, or of all that have one, as searched."""
        snapshot = self.snapshot
        parts = None if rows is None else np.unique(snapshot.part[rows]).tolist()
        rows = self._embedded if rows is None else rows
        return blend_rows(snapshot, rows, snapshot.vectors(parts), self.weights)

    def _renewed(self, before: Searcher | None) -> NDArray[np.float32]:
        """Return the vectors of all rows that have one, as searched.

        Blending goes no further than a part. So where most parts are what they were, their vectors
        are taken as they were searched, and only the others are read and blended.
        """
        if before is None or before._vectors is None:
            return self._read()
        snapshot, old = self.snapshot, before.snapshot
        weights, old_weights = _by_name(snapshot, self.weights), _by_name(old, before.weights)
        same = {name for name, own in weights.items() if old_weights.get(name) == own}
        kept = np.array([row.name in same for row in snapshot.strategies], bool)
        parts = {stamp: part for part, stamp in enumerate(old.stamps)}
        part_before = np.array([parts.get(stamp, -1) for stamp in snapshot.stamps], np.int64)
        part = snapshot.part[self._embedded]
        there = (part_before[part] >= 0) & kept[snapshot.strategy[self._embedded]]
        if 2 * np.count_nonzero(there) < len(there) or not there.any():
            return self._read()
        moved = old.part_start[part_before[part]] - snapshot.part_start[part]
        places = np.searchsorted(before._embedded, self._embedded + moved)
        found: NDArray[np.float32] = before._vectors.take(np.where(there, places, 0), axis=0)
        if not there.all():
            found[~there] = self._read(self._embedded[~there])
        return found

    @property
    def unranked(self) -> int:
        """How many rows have a zero vector: they are never found."""
        return sum(part.built.unranked for part in self._parts)

    def dense(
        self, query: NDArray[np.float32], k: int, ef: int | None, mask: NDArray[np.bool_] | None
    ) -> Dense:
        """Return the nearest rows that the mask allows, at most `k`."""
        rows, scores, plans = [], [], []
        for part in self._parts:
            allow = part.allowed(mask)
            found = part.built.search(query, k, ef=ef, allow=allow)
            rows.append(part.rows[found.rows])
            scores.append(found.scores)
            plans.append(found.plan)
        row, score = np.concatenate(rows), np.concatenate(scores)
        best = np.lexsort((row, -score))[:k]
        said = tuple(f"{name}: {value}" for name, value in self._said())
        return Dense(row[best], score[best], _steps(plans, said))

    def words(self, at: int, rows: NDArray[np.int64]) -> Words:
        """Return the words of the strategy at a place, whose rows these are."""
        snapshot = self.snapshot
        parts = np.unique(snapshot.part[rows]).tolist()
        version = tuple(snapshot.stamps[part] for part in parts)
        name = snapshot.strategies[at].name
        return self._words.of(name, version, lambda: snapshot.texts(rows))

    def _said(self) -> list[tuple[str, str]]:
        told = []
        for at, weights in sorted(self.weights.items()):
            if weights:
                name = self.snapshot.strategies[at].name
                told.append((f"blended ({name})", ", ".join(f"{weight:g}" for weight in weights)))
        if self.waiting:
            told.append(("without a vector, not searched", str(self.waiting)))
        if self.unranked:
            told.append(("zero vectors, never ranked", str(self.unranked)))
        return told


class _Covering(NamedTuple):
    """An index, and the row of the snapshot that each of its own stands for; -1: gone."""

    built: Index
    rows: NDArray[np.int64]

    def allowed(self, mask: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        there = self.rows >= 0
        if mask is None:
            return None if there.all() else there
        return there & mask[self.rows]


def _steps(plans: list[Plan], said: tuple[str, ...]) -> tuple[Step, ...]:
    if len(plans) == 1:
        head, *lines = str(plans[0]).splitlines()
        return (Step(head, (*(line.strip() for line in lines), *said)),)
    head = (
        f"merge of {len(plans)} scans (what changed since the index was built is searched exactly)"
    )
    return (
        Step(head, said),
        *(
            Step(name, tuple(line.strip() for line in lines))
            for name, *lines in (str(plan).splitlines() for plan in plans)
        ),
    )


def _searched(snapshot: Snapshot) -> NDArray[np.bool_]:
    return np.array([row.searched for row in snapshot.strategies], bool)[snapshot.strategy]


def chosen_index(index: Auto | Exact | Hnsw, rows: int) -> Exact | Hnsw:
    """Return what `Auto` comes to for a number of rows."""
    if not isinstance(index, Auto):
        return index
    graph = rows > index.exact_up_to and find_spec("faiss") is not None
    return index.hnsw if graph else Exact(index.hnsw.metric)


def _weights(snapshot: Snapshot, blend: Blend, metric: str) -> dict[int, tuple[float, ...]]:
    """Return the weights that each strategy's vectors are blended with, by its place."""
    found: dict[int, tuple[float, ...]] = {}
    for at in range(len(snapshot.strategies)):
        rows = snapshot.strategy == at
        if blend is None or metric != "cosine" or not rows.any():
            found[at] = ()
        elif isinstance(blend, str):
            lengths = (snapshot.char_end - snapshot.char_start)[rows]
            tokens = float(lengths[lengths > 0].mean() if (lengths > 0).any() else 0) / _CHARACTERS
            found[at] = _NEAR if tokens <= _NEAR_TO else _SHORT if tokens <= _SHORT_TO else _LONG
        else:
            found[at] = blend
    return found


def blend_rows(
    snapshot: Snapshot,
    rows: NDArray[np.int64],
    vectors: NDArray[np.float32],
    weights: dict[int, tuple[float, ...]],
) -> NDArray[np.float32]:
    """Return vectors of rows blended with their neighbours', each strategy by its weights."""
    groups, strategy = snapshot.groups()[rows], snapshot.strategy[rows]
    if not any(weights.values()):
        return vectors
    found: NDArray[np.float32] = vectors.copy()
    for at, own in weights.items():
        chosen = strategy == at
        if own and chosen.any():
            found[chosen] = blended(vectors[chosen], groups[chosen], own)
    return found


def _by_name(
    snapshot: Snapshot, weights: dict[int, tuple[float, ...]]
) -> dict[str, tuple[float, ...]]:
    return {row.name: weights[at] for at, row in enumerate(snapshot.strategies)}


def index_path(database: Database) -> Path:
    """Return the file beside the store that its index is kept in."""
    return Path(database.path + ".hnsw")


def _settings(index: Hnsw, snapshot: Snapshot, blend: Blend) -> str:
    weights = _weights(snapshot, blend, index.metric)
    return json.dumps([repr(index), _by_name(snapshot, weights)])


def _serves(kept: str | None, wanted: str) -> bool:
    """Return whether an index was built as it is wanted, whatever was added to the store since.

    How vectors are blended may follow from the chunks' mean size, so it may change with them.
    """
    if kept is None:
        return False
    (index, weights), (here, now) = json.loads(kept), json.loads(wanted)
    return index == here and all(now.get(name, own) == own for name, own in weights.items())


def _stamp(settings: str, cover: bytes) -> bytes:
    return hash_parts((settings.encode(), cover), 32)


def _opened(database: Database, snapshot: Snapshot, index: Hnsw, blend: Blend) -> _Covering | None:
    """Return the index of the file beside the store; None where it is missing or of no use."""
    if database.in_memory:
        return None
    with database.read() as connection:
        settings = setting(connection, "index_settings")
        cover = setting(connection, "index_cover")
        counts = setting(connection, "index_counts")
    if cover is None or not _serves(settings, _settings(index, snapshot, blend)):
        return None
    try:
        built = Hnsw.open(index_path(database), stamp=_stamp(settings, cover))
    except (StaleIndex, DamagedIndex, OSError):
        return None
    places = {stamp: part for part, stamp in enumerate(snapshot.stamps)}
    rows = np.full(len(built), -1, np.int64)
    at = 0
    sizes = np.frombuffer(counts, "<i8").tolist()
    if sum(sizes) != len(built):
        return None
    stamps = (cover[HASH * number : HASH * (number + 1)] for number in range(len(sizes)))
    for part, count in zip(_ascending([places.get(stamp) for stamp in stamps]), sizes, strict=True):
        if part is not None:
            start = int(snapshot.part_start[part])
            rows[at : at + count] = np.arange(start, start + count)
        at += count
    lost = (
        np.count_nonzero(rows < 0)
        + np.count_nonzero(snapshot.embedded)
        - np.count_nonzero(rows >= 0)
    )
    # Beyond half, searching the rest exactly costs more than searching all so.
    return _Covering(built, rows) if lost <= len(snapshot) / 2 else None


def _ascending(places: list[int | None]) -> list[int | None]:
    """Return places of which as many are left out as needed for the others to ascend.

    An index orders equal scores by its own rows: they must stand as those of the snapshot do. A
    document that was deleted and written again stands behind others that it stood before.
    """
    ends: list[int] = []  # The least place that so many ascending ones end with, and where it is.
    at_end: list[int] = []
    before: dict[int, int] = {}
    for at, place in enumerate(places):
        if place is not None:
            many = bisect_left(ends, place)
            ends[many : many + 1], at_end[many : many + 1] = [place], [at]
            before[at] = at_end[many - 1] if many else -1
    kept: list[int | None] = [None] * len(places)
    at = at_end[-1] if at_end else -1
    while at >= 0:
        kept[at], at = places[at], before[at]
    return kept


def damage_of_index(database: Database) -> list[str]:
    """Return what is wrong with the file beside the store, every byte of which is read.

    One that is missing, or was built of another state, is not wrong: it is not used.
    """
    path = index_path(database)
    if database.in_memory or not path.is_file() or find_spec("faiss") is None:
        return []
    with database.read() as connection:
        settings = setting(connection, "index_settings")
        cover = setting(connection, "index_cover")
    if cover is None:
        return []
    try:
        Hnsw.open(path, stamp=_stamp(settings, cover), whole=True)
    except StaleIndex:
        return []
    except (DamagedIndex, OSError) as error:
        return [f"the index, which is searched only where it is whole: {error}"]
    return []


def is_stale(database: Database, snapshot: Snapshot, index: Hnsw, blend: Blend) -> bool:
    """Return whether an index file is to be built: there is none, or too much changed since."""
    found = _opened(database, snapshot, index, blend)
    if found is None:
        return True
    here = int(np.count_nonzero(snapshot.embedded))
    kept = int(np.count_nonzero(found.rows >= 0))
    return (len(found.rows) - kept) + (here - kept) > _STALE * max(1, here)


def build_index(
    database: Database,
    snapshot: Snapshot,
    index: Hnsw,
    blend: Blend,
    vectors: NDArray[np.float32],
    threads: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Build the index of all rows that have a vector, these, into the file beside the store."""
    rows = np.flatnonzero(snapshot.embedded)
    weights = _weights(snapshot, blend, index.metric)
    vectors = blend_rows(snapshot, rows, vectors, weights)
    built = index.build(vectors, threads=threads, progress=progress)
    parts = np.unique(snapshot.part[rows])
    cover = b"".join(snapshot.stamps[part] for part in parts.tolist())
    counts = np.diff(snapshot.part_start)[parts].astype("<i8").tobytes()
    settings = _settings(index, snapshot, blend)
    # The file first: if the settings are not written, they do not match it, and it counts as none.
    path = index_path(database)
    try:
        built.save(path, stamp=_stamp(settings, cover))
    except OSError as error:
        if error.filename is None:  # As where the disk is full.
            error.filename = str(path)
        raise
    with database.write(counted=False) as connection:
        set_setting(connection, "index_settings", settings)
        set_setting(connection, "index_cover", cover)
        set_setting(connection, "index_counts", counts)


def forget_index(database: Database) -> None:
    """Remove the file beside the store."""
    with suppress(OSError):
        index_path(database).unlink()


def checked_blend(blend: Any) -> Blend:
    """Return a setting of blending.

    Raises:
        SettingError: It is neither "auto" nor weights.
    """
    if blend is None or blend == "auto":
        return blend  # type: ignore[no-any-return]
    if isinstance(blend, list | tuple) and all(
        isinstance(weight, int | float) and 0 < weight < 10 for weight in blend
    ):
        return tuple(float(weight) for weight in blend)
    raise _core.SettingError(f"blend ({blend!r}) must be 'auto', weights of neighbours, or None")
