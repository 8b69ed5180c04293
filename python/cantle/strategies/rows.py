"""`Rows`: a chunk for each row of a table, with the table's header as context."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from cantle.documents import Documents
from cantle.forms import OTHERWISE, check_format, in_place
from cantle.reading import forms_of
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Rows(Splitting):
    """One chunk for each row of CSV, TSV, or of a table in Markdown, HTML or handed-in blocks.

    The first row's chunk holds the header too, and what follows carries it as `context`: to an
    embedder all rows look alike. A row over `size` is divided between its cells, then inside of
    them; its parts are flagged (`cantle.PART`), and the later ones carry the first `keys` cells
    behind the header. A row without a value is flagged (`cantle.EMPTY`). What stands between tables
    is cut at its headings and blocks.

    Args:
        size: Most units in a chunk.
        overlap: Most units that a part of a row repeats from the one before; never from another
            row.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        keys: How many of a row's first cells say which row it is.
        header: Whether tables have a header; without one the first record is a row like others.
        prefix: What stands before the text in `embed_text`, if both are to keep `size`; as for
            `Structural`.
        format: The documents' form, one of `cantle.FORMATS`; `"auto"` goes by the ending of a
            document's id, and takes Markdown where that tells nothing. The fields of CSV are
            separated by what most often separates those of its first record.
        name: The name in the chunks' ids. Default: `rows`.
    """

    strategy = "rows"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    keys: int = 1
    header: bool = True
    prefix: str | None = None
    format: str = "auto"
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.header, bool):
            raise TypeError(f"header ({self.header!r}) must be True or False")
        check_format(self.format)
        form = self.format if in_place(self.format) else OTHERWISE
        template = self._check_prefix()
        self._build(rows=(self.keys, self.header, form, template))
        object.__setattr__(self, "keys", int(self.keys))

    def _forms(self, documents: Documents) -> list[object] | None:
        return forms_of(documents, self.format)

    def _titles(self, documents: Documents) -> list[str] | None:
        return None if self.prefix is None else documents.titles()
