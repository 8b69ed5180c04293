"""`Numbering`: the numbered clauses of some documents, and what refers to what.

How they are found stands in the core; which chunk starts in which clause, in `Chunks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Numbering:
    """Clauses and references of the documents of one call, as read-only columns.

    A row is a clause; `source`, `target` and the columns that start with `reference` have a row
    for each mention of a clause.
    """

    __slots__ = ("_tables",)

    _tables: dict[str, Any]

    def __init__(self, tables: Mapping[str, Any]) -> None:
        """Made by `Clauses`."""
        self._tables = dict(tables)
        for table in self._tables.values():
            if isinstance(table, np.ndarray) and table.flags.writeable:
                table.setflags(write=False)

    @property
    def number(self) -> list[str]:
        """Each clause's whole number, as it is written: `7.2`, `7.2(a)`, `Schedule 2, 1.1`."""
        return list(self._tables["number"])

    @property
    def title(self) -> list[str]:
        """What each clause is called; empty where it has no title."""
        return list(self._tables["title"])

    @property
    def word(self) -> list[str]:
        """What a reference calls each clause: `clause`, `article`, `section`, `schedule`."""
        return list(self._tables["word"])

    @property
    def key(self) -> list[str]:
        """Each clause's number in one form, whatever way it is written; unique in its document."""
        return list(self._tables["key"])

    @property
    def above(self) -> NDArray[np.int32]:
        """The row of the clause that each stands in; -1 for none."""
        column: NDArray[np.int32] = self._tables["above"]
        return column

    @property
    def doc(self) -> NDArray[np.int32]:
        """The number of each clause's document."""
        column: NDArray[np.int32] = self._tables["doc"]
        return column

    @property
    def byte_start(self) -> NDArray[np.int64]:
        """Where the line of each clause starts, in UTF-8 bytes."""
        column: NDArray[np.int64] = self._tables["byte_start"]
        return column

    @property
    def source(self) -> NDArray[np.int32]:
        """The row of the clause that each mention stands in; -1 before the first clause."""
        column: NDArray[np.int32] = self._tables["source"]
        return column

    @property
    def target(self) -> NDArray[np.int32]:
        """The row of the clause that each mention means; -1 for one that is not there."""
        column: NDArray[np.int32] = self._tables["target"]
        return column

    @property
    def reference_doc(self) -> NDArray[np.int32]:
        """The number of each mention's document."""
        column: NDArray[np.int32] = self._tables["reference_doc"]
        return column

    @property
    def reference_key(self) -> list[str]:
        """The number that each mention names, in the form of `key`."""
        return list(self._tables["reference_key"])

    @property
    def reference_start(self) -> NDArray[np.int64]:
        """Where the number of each mention starts, in UTF-8 bytes."""
        column: NDArray[np.int64] = self._tables["reference_start"]
        return column

    @property
    def reference_end(self) -> NDArray[np.int64]:
        """Where the number of each mention ends, in UTF-8 bytes."""
        column: NDArray[np.int64] = self._tables["reference_end"]
        return column

    def note(self, row: int) -> str:
        """Return what is said beside a chunk: a row of the notes; nothing for -1."""
        note: str = self._tables["notes"][row] if row >= 0 else ""
        return note

    def within(self, clause: int, other: int) -> bool:
        """Whether a clause is another, or stands in it."""
        while clause >= 0:
            if clause == other:
                return True
            clause = int(self.above[clause])
        return False

    def linked(self, columns: dict[str, Any], ids: list[str], scope: list[str]) -> Numbering:
        """Return the same with references to other documents followed, and notes of them.

        Args:
            columns: Those of the chunks; `note` is replaced.
            ids: The documents' ids.
            scope: For each name that the texts may call a document by, that document's id.
        """
        numbers = {name: doc for doc, name in enumerate(ids)}
        own, keys = self.doc.tolist(), self.key
        known = {pair: row for row, pair in enumerate(zip(own, keys, strict=True))}
        target = self.target.copy()
        found: dict[int, list[int]] = {}
        plain = {*zip(self.source.tolist(), target.tolist(), strict=True)}
        named = self._tables["document"]
        wanted = self.reference_key
        for row in np.flatnonzero(named >= 0).tolist():
            doc = numbers.get(scope[named[row]])
            clause = None if doc is None else _holding(known, doc, wanted[row])
            if clause is None:
                continue
            target[row] = clause
            source = int(self.source[row])
            # A text may call itself by its name as well.
            known_here = (source, clause) in plain or self.within(source, clause)
            if source >= 0 and not known_here:
                found.setdefault(clause, []).append(source)
        if not found:
            return Numbering(self._tables | {"target": target})
        notes, note = self._notes(columns, ids, found)
        note.setflags(write=False)
        columns["note"] = note
        return Numbering(self._tables | {"target": target, "notes": notes})

    def _notes(
        self, columns: dict[str, Any], ids: list[str], found: dict[int, list[int]]
    ) -> tuple[list[str], NDArray[np.int32]]:
        """Return notes and the row of each chunk's, with those of other documents behind."""
        notes, note = list(self._tables["notes"]), columns["note"].copy()
        word, number = self.word, self.number
        # Clauses stand in the order of documents and of their places.
        places = np.rec.fromarrays([self.doc, self.byte_start])
        for end in ("byte_start", "byte_end"):
            at = np.rec.fromarrays([columns["doc"], columns[end]])
            columns_at = np.searchsorted(places, at)
            if end == "byte_start":
                first = columns_at
            else:
                last = columns_at
        last_made: tuple[list[int], int] | None = None
        for row, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            clauses = [*range(a, b)]
            if (clause := int(columns["clause"][row])) >= 0 and clause not in clauses:
                clauses.append(clause)
            sources = {source for clause in clauses for source in found.get(clause, ())}
            sources -= {*range(a, b)}
            if not sources:
                continue
            mine = (clauses, int(note[row]))
            # All parts of a clause share one note.
            if mine != last_made:
                last_made = mine
                doc = columns["doc"][row]
                more = [
                    (word[s], number[s] + (f" of {ids[self.doc[s]]}" if self.doc[s] != doc else ""))
                    for s in sorted(sources)
                ]
                words = (self.note(mine[1]), *(_core.note([one]) for one in more))
                notes.append(" ".join(filter(None, words)))
            note[row] = len(notes) - 1
        return notes, note

    def __len__(self) -> int:
        return len(self._tables["doc"])

    def __repr__(self) -> str:
        return f"Numbering({len(self)} clauses, {len(self.source)} references)"

    def for_arrow(self) -> dict[str, Any]:
        """Return the tables that Arrow columns of chunks are made of."""
        return {
            "clause_numbers": self._tables["number"],
            "clause_titles": self._tables["title"],
            "clause_notes": _core.ArrowTexts(*_packed(self._tables["notes"])),
            "clause_above": self.above,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return Numbering, (self._tables,)


def _packed(notes: Sequence[str]) -> tuple[bytes, bytes]:
    data = [note.encode() for note in notes]
    ends = np.cumsum([len(note) for note in data], dtype=np.int64)
    return b"".join(data), ends.tobytes()


def _holding(known: dict[tuple[int, str], int], doc: int, key: str) -> int | None:
    """Return the clause of a key, or for an item that is none the clause around it."""
    while True:
        if (clause := known.get((doc, key))) is not None:
            return clause
        at = key.rfind("(")
        if at <= 0:
            return None
        key = key[:at]
