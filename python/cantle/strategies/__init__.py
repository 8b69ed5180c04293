"""The strategies, and how one is written in a string."""

from __future__ import annotations

from cantle.strategies.clauses import Clauses
from cantle.strategies.documentbased import DocumentBased
from cantle.strategies.hierarchical import Hierarchical
from cantle.strategies.llm import Llm
from cantle.strategies.nested import Nested
from cantle.strategies.optimal import Optimal
from cantle.strategies.recursive import Recursive, Separator
from cantle.strategies.routed import Declared, Routed
from cantle.strategies.rows import Rows
from cantle.strategies.semantic import Semantic
from cantle.strategies.sentence import Sentence, sentences
from cantle.strategies.splitting import Splitting
from cantle.strategies.structural import Structural
from cantle.strategies.text import strategies_from_text, strategy_from_text
from cantle.strategies.whole import Whole
from cantle.strategies.window import Window

__all__ = [
    "Clauses",
    "Declared",
    "DocumentBased",
    "Hierarchical",
    "Llm",
    "Nested",
    "Optimal",
    "Recursive",
    "Routed",
    "Rows",
    "Semantic",
    "Sentence",
    "Separator",
    "Splitting",
    "Structural",
    "Whole",
    "Window",
    "sentences",
    "strategies_from_text",
    "strategy_from_text",
]
