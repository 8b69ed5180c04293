"""`Structural`: documents cut at their own structure."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from cantle.documents import Documents
from cantle.forms import OTHERWISE, check_format, in_place
from cantle.reading import forms_of
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Structural(Splitting):
    """The document's own structure: sections by their headings, and blocks inside of them.

    A section is a chunk; one that is too large is divided inside: at the headings below, between
    blocks, between the items of a list, and only then inside a block. A table or a block of code is
    whole where it fits; else its parts are flagged (`cantle.PART`) and carry its header row, or its
    fence line, as `context`. A heading goes with the text below it, and one without a body with the
    first section that follows. Every chunk has the `heading_path` in force at its first block that
    is no heading.

    Args:
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before; never from another section.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        depth: Which headings start a section: those of at most this level, or `"all"`; `"auto"`
            chooses for each document the first of 2, 3 and 4 whose sections have a median size of
            0.4 to 1.5 times `target`, else 2. `chunks.report` says what was chosen, and why.
        target: About how many units a section should have. Default: `size`.
        min_size: Merge a smaller chunk with a neighbour where `size` allows, across headings too.
        prefix: What stands before the text in `embed_text`, if the two together are to keep `size`:
            a template that names some of `{title}`, `{path}`, `{context}` and `{notes}`, or
            `"path"` for the usual one (`cantle.TEMPLATE`). What takes more than half of `size`, or
            with the text more than all of it, loses its outer headings first, down to nothing, and
            the chunk is flagged (`cantle.SHORTENED`). None: only the text counts.
        format: The documents' form, one of `cantle.FORMATS`; `"auto"` goes by the ending of a
            document's id, and takes Markdown where that tells nothing. Of HTML the readable text is
            cut, and `chunks.source_start` leads back; source code needs `cantle[code]`.
        name: The name in the chunks' ids. Default: `structural`.
    """

    strategy = "structural"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    depth: int | str = "auto"
    target: int | None = None
    min_size: int = 0
    prefix: str | None = None
    format: str = "auto"
    name: str | None = None

    def __post_init__(self) -> None:
        template = self._check_prefix()
        check_format(self.format)
        form = self.format if in_place(self.format) else OTHERWISE
        self._build(min_size=self.min_size, structural=(self.depth, self.target, form, template))
        for number in ("depth", "target"):
            value = getattr(self, number)
            if value is not None and not isinstance(value, str):
                object.__setattr__(self, number, int(value))

    def _forms(self, documents: Documents) -> list[object] | None:
        return forms_of(documents, self.format)

    def _titles(self, documents: Documents) -> list[str] | None:
        return None if self.prefix is None else documents.titles()

    def _target(self) -> int | None:
        return (self.target or self.size) if self.depth == "auto" else None
