"""cantle cuts documents into chunks that are exact slices of their source."""

from cantle._core import (
    EMPTY,
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
from cantle.blending import blend
from cantle.chat import Chat
from cantle.chunk import Chunk
from cantle.chunks import Chunks
from cantle.context import with_context
from cantle.distances import Distances
from cantle.documents import Documents, Skipped
from cantle.endpoint import Endpoint, EndpointError
from cantle.fallbacks import FALLBACK, Fallback
from cantle.forms import FORMATS
from cantle.inspection import Facts, facts
from cantle.invariants import RULES, Check, Rule, check
from cantle.measure.boundaries import Boundaries, boundaries
from cantle.measure.compare import Best, Comparison, compare
from cantle.numbering import Numbering
from cantle.router import ROUTE_RULES, Cost, Route, RouteRule, route
from cantle.ruler import TokenRuler
from cantle.shortcut import split
from cantle.store import (
    Hit,
    Hits,
    Loaded,
    Passage,
    Passages,
    Store,
    StoreError,
    Synced,
    adaptive,
    auto_merge,
    neighbours,
    parent,
    where_from_text,
    window,
)
from cantle.strategies import (
    Clauses,
    Declared,
    DocumentBased,
    Hierarchical,
    Llm,
    Nested,
    Optimal,
    Recursive,
    Routed,
    Rows,
    Semantic,
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
from cantle.workbook import sheets

__all__ = [
    "EMPTY",
    "FALLBACK",
    "FORMATS",
    "KINDS",
    "OVERSIZE",
    "PART",
    "ROUTE_RULES",
    "RULES",
    "SHORTENED",
    "TEMPLATE",
    "Best",
    "Block",
    "Blocks",
    "Boundaries",
    "Chat",
    "Check",
    "Chunk",
    "ChunkTable",
    "Chunks",
    "Clauses",
    "Comparison",
    "Cost",
    "Declared",
    "Distances",
    "DocumentBased",
    "Documents",
    "Encoding",
    "Endpoint",
    "EndpointError",
    "Facts",
    "Fallback",
    "Hierarchical",
    "Hit",
    "Hits",
    "InternalError",
    "Llm",
    "Loaded",
    "Nested",
    "Numbering",
    "Offset",
    "Optimal",
    "Passage",
    "Passages",
    "Recursive",
    "Report",
    "Route",
    "RouteRule",
    "Routed",
    "Rows",
    "Rule",
    "Semantic",
    "Sentence",
    "Separator",
    "SettingError",
    "Skipped",
    "Store",
    "StoreError",
    "Structural",
    "Structure",
    "Synced",
    "TextError",
    "TokenRuler",
    "Tokenizer",
    "TokenizerError",
    "Whole",
    "Window",
    "__version__",
    "adaptive",
    "auto_merge",
    "blend",
    "blocks",
    "boundaries",
    "check",
    "compare",
    "facts",
    "neighbours",
    "parent",
    "route",
    "sentences",
    "sheets",
    "split",
    "strategies_from_text",
    "strategy_from_text",
    "where_from_text",
    "window",
    "with_context",
]
