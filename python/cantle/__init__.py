"""cantle cuts documents into chunks that are exact slices of their source."""

from cantle._core import (
    OVERSIZE,
    PART,
    SHORTENED,
    TEMPLATE,
    InternalError,
    SettingError,
    TextError,
    TokenizerError,
    __version__,
)
from cantle.arrow import ChunkTable
from cantle.chunk import Chunk
from cantle.chunks import Chunks
from cantle.documents import Documents, Skipped
from cantle.forms import FORMATS
from cantle.invariants import RULES, Check, Rule, check
from cantle.measure.boundaries import Boundaries, boundaries
from cantle.ruler import TokenRuler
from cantle.shortcut import split
from cantle.strategies import (
    Recursive,
    Sentence,
    Separator,
    Structural,
    Whole,
    Window,
    sentences,
    strategies_from_text,
    strategy_from_text,
)
from cantle.structure import KINDS, Block, Blocks, Report, Structure, blocks
from cantle.tokenizer import Encoding, Offset, Tokenizer

__all__ = [
    "FORMATS",
    "KINDS",
    "OVERSIZE",
    "PART",
    "RULES",
    "SHORTENED",
    "TEMPLATE",
    "Block",
    "Blocks",
    "Boundaries",
    "Check",
    "Chunk",
    "ChunkTable",
    "Chunks",
    "Documents",
    "Encoding",
    "InternalError",
    "Offset",
    "Recursive",
    "Report",
    "Rule",
    "Sentence",
    "Separator",
    "SettingError",
    "Skipped",
    "Structural",
    "Structure",
    "TextError",
    "TokenRuler",
    "Tokenizer",
    "TokenizerError",
    "Whole",
    "Window",
    "__version__",
    "blocks",
    "boundaries",
    "check",
    "sentences",
    "split",
    "strategies_from_text",
    "strategy_from_text",
]
