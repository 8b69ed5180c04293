"""`Clauses`: contracts, policies and statutes cut at their numbered clauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from cantle import _core
from cantle.chunks import Chunks
from cantle.documents import Documents, check_writable
from cantle.forms import check_format, in_place
from cantle.numbering import Numbering
from cantle.reading import forms_of
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Clauses(Splitting):
    """A chunk for each numbered clause: `7.2`, `Article 7`, `§ 7`, `Section 7(b)`, `Schedule 2`.

    Numbers are found at the start of lines, in plain text as in the headings, lists and paragraphs
    of Markdown, and must follow from those before; dates, versions, amounts and entries of a table
    of contents are none. Items such as `(a)` stay with their clause; one over `size` is divided at
    its items, then at paragraphs, sentences and words, never across clauses. A clause that says
    nothing but its title goes with the first one in it.

    Each chunk knows its `number`, its title and the number of the clause around it, and carries as
    `notes` which clauses refer to it: `(See also clause 7.3.)`. Notes are no part of the text.

    Args:
        size: Most units in a chunk.
        overlap: Most units that a part of a clause repeats from the one before; never from another
            clause.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        items: Whether each item, `(a)` or `(ii)`, is a chunk of its own.
        scope: References to other documents, as in "clause 7 of the Master Agreement": what the
            texts call a document, and its id. Those of one call are linked; without `scope` no
            document refers to another.
        prefix: What stands before the text in `embed_text`, if both are to keep `size`; as for
            `Structural`. Notes count as well, and so do not go with `scope`.
        format: The documents' form, one of `cantle.FORMATS`; `"auto"` goes by the ending of a
            document's id; where that tells nothing, a text with a heading such as `## Terms` is
            Markdown, and others are plain.
        name: The name in the chunks' ids. Default: `clauses`.
    """

    strategy = "clauses"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    items: bool = False
    scope: Mapping[str, str] | tuple[tuple[str, str], ...] | None = None
    prefix: str | None = None
    format: str = "auto"
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.items, bool):
            raise TypeError(f"items ({self.items!r}) must be True or False")
        check_format(self.format)
        names: tuple[tuple[str, str], ...] = ()
        if self.scope is not None:
            names = _checked(self.scope)
            # As a tuple a frozen strategy stays hashable.
            object.__setattr__(self, "scope", names)
            if self.prefix is not None:
                raise _core.SettingError(
                    f"prefix ({self.prefix!r}) does not go with scope: notes of other documents "
                    "are known only when all are cut"
                )
        form = self.format if self.format != "auto" and in_place(self.format) else None
        self._build(clauses=(self.items, [name for name, _ in names], form, self._check_prefix()))

    def _forms(self, documents: Documents) -> list[object] | None:
        return forms_of(documents, self.format)

    def _titles(self, documents: Documents) -> list[str] | None:
        return None if self.prefix is None else documents.titles()

    def _chunks(
        self,
        columns: dict[str, Any],
        documents: Documents,
        *,
        name: str | None = None,
        parents: Chunks | None = None,
    ) -> Chunks:
        if self.scope and "clauses" in columns:
            ids = [documents.id(doc) for doc in range(len(documents))]
            numbering = Numbering(columns["clauses"])
            scope = [id for _, id in _checked(self.scope)]
            columns["clauses"] = numbering.linked(columns, ids, scope)
        return super()._chunks(columns, documents, name=name, parents=parents)


def _checked(scope: object) -> tuple[tuple[str, str], ...]:
    pairs = tuple(scope.items()) if isinstance(scope, Mapping) else scope
    if not isinstance(pairs, tuple):
        raise TypeError(f"scope ({scope!r}) must be a mapping from names to ids of documents")
    for pair in pairs:
        paired = isinstance(pair, tuple) and len(pair) == 2
        if not paired or not all(isinstance(part, str) and part for part in pair):
            raise TypeError(f"scope ({scope!r}) must be a mapping from names to ids of documents")
        check_writable("scope", pair[0])
    return pairs
