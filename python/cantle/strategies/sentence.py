"""`Sentence`: whole sentences packed to the limit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from cantle import _core
from cantle.chunks import Chunks
from cantle.documents import Text, one_document
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Sentence(Splitting):
    """Whole sentences, as many as fit; one that is too large is opened at its words.

    Args:
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before; whole sentences.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        min_size: Merge a smaller chunk with a neighbour where `size` allows.
        name: The name in the chunks' ids. Default: `sentence`.
    """

    strategy = "sentence"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    min_size: int = 0
    name: str | None = None

    def __post_init__(self) -> None:
        self._build(min_size=self.min_size)


def sentences(text: Text, *, id: str | None = None) -> Chunks:
    """Return the sentences of `text`, one a chunk, without the blanks between them.

    Abbreviations, decimals, URLs, ellipses and enumerations do not end a sentence; a blank line
    does, and so does a line break before a list item or a heading. Sizes are in characters.

    Args:
        text: `str`, or UTF-8 `bytes`.
        id: The document's id.

    Raises:
        TextError: The text is not UTF-8, or holds a lone surrogate; says where.
    """
    documents = one_document(text, id)
    return Chunks(_core.sentences(text), documents, name="sentences", unit="chars")
