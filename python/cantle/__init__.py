"""cantle cuts documents into chunks that are exact slices of their source."""

from cantle._core import (
    OVERSIZE,
    InternalError,
    SettingError,
    TextError,
    TokenizerError,
    __version__,
)
from cantle.arrow import ChunkTable
from cantle.chunks import Chunk, Chunks
from cantle.documents import Documents, Skipped
from cantle.ruler import TokenRuler
from cantle.shortcut import split
from cantle.strategies import (
    Recursive,
    Sentence,
    Separator,
    Whole,
    Window,
    sentences,
    strategies_from_text,
    strategy_from_text,
)
from cantle.tokenizer import Encoding, Offset, Tokenizer

__all__ = [
    "OVERSIZE",
    "Chunk",
    "ChunkTable",
    "Chunks",
    "Documents",
    "Encoding",
    "InternalError",
    "Offset",
    "Recursive",
    "Sentence",
    "Separator",
    "SettingError",
    "Skipped",
    "TextError",
    "TokenRuler",
    "Tokenizer",
    "TokenizerError",
    "Whole",
    "Window",
    "__version__",
    "sentences",
    "split",
    "strategies_from_text",
    "strategy_from_text",
]
