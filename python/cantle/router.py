"""`route`: which strategy for which document, why, and what it costs.

What decides stands in tables: rules over facts, what a strategy needs of a document, and in which
order others take its place. A caller's own rules go before or in place of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cantle import _core, units
from cantle.documents import Text
from cantle.inspection import Facts, check_words, facts
from cantle.strategies.meaning import ByMeaning
from cantle.strategies.pieces import ByPieces
from cantle.strategies.splitting import Splitting
from cantle.strategies.text import REGISTRY, strategy_from_text, strategy_name
from cantle.structure import Blocks

Condition = tuple[str, str, Any]
"""A fact, how it is compared (`>=`, `<=`, `==`, `in`), and with what."""

_CODE = ("python", "rust", "javascript", "typescript", "tsx", "go", "java", "c", "cpp")


@dataclass(frozen=True)
class RouteRule:
    """One rule: documents of which all conditions hold are cut by the first strategy that can."""

    name: str
    documents: str
    """Which documents it is about, in words."""
    when: tuple[Condition, ...]
    """All of them must hold."""
    strategies: tuple[str, ...]
    """The one that suits, then those that take its place, as text."""
    why: str

    def __post_init__(self) -> None:
        place = f"rule {self.name!r}"
        # A string would be taken for a list of letters.
        for name in ("when", "strategies"):
            if not isinstance(value := getattr(self, name), tuple | list):
                raise TypeError(f"{place}: {name} ({value!r}) must be a tuple")
        for condition in self.when:
            if not _is_condition(condition):
                raise _core.SettingError(
                    f"{place}: {condition!r} must be a fact, one of {', '.join(_COMPARE)}, and a "
                    "value that a fact is compared with so"
                )
        for strategy in self.strategies:
            if not isinstance(strategy, str):
                raise TypeError(f"{place}: strategies ({strategy!r}) must be str")
        if not self.strategies:
            raise _core.SettingError(f"rule {self.name!r} names no strategy")


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "in": lambda a, b: a in b,
}


def _is_condition(condition: object) -> bool:
    if not isinstance(condition, tuple | list) or len(condition) != 3:
        return False
    fact, compare, _ = condition
    known = {*Facts.__dataclass_fields__, "over"}
    if not (isinstance(fact, str) and isinstance(compare, str)):
        return False
    if fact not in known or compare not in _COMPARE:
        return False
    try:
        holds((fact, compare, condition[2]), Facts(), 1)
    except TypeError:
        return False
    return True


def holds(condition: Condition, known: Facts, size: int) -> bool:
    """Whether a condition holds; the fact `over` says that the document is larger than `size`."""
    name, compare, value = condition
    fact = known.size > size if name == "over" else getattr(known, name)
    return bool(_COMPARE[compare](fact, value))


ROUTE_RULES: tuple[RouteRule, ...] = (
    RouteRule(
        "declared contract",
        "declared a contract, a statute or terms",
        (("kind", "in", ("contract", "agreement", "statute", "law", "terms")),),
        ("clauses", "structural", "recursive"),
        "questions name clauses, and clauses name each other",
    ),
    RouteRule(
        "declared policy",
        "declared a policy, a specification or a manual",
        (("kind", "in", ("policy", "specification", "manual", "handbook")),),
        ("structural", "recursive"),
        "a section answers one question, and its headings say which",
    ),
    RouteRule(
        "declared notes",
        "declared notes, of a spreadsheet for example",
        (("kind", "in", ("notes",)),),
        ("recursive",),
        "free text in cells is prose",
    ),
    RouteRule(
        "long ticket",
        "declared a ticket or a message, over the limit",
        (("kind", "in", ("ticket", "message", "email")), ("over", "==", True)),
        ("semantic", "recursive"),
        "a long one wanders between subjects and has no headings",
    ),
    RouteRule(
        "ticket",
        "declared a ticket or a message, within the limit",
        (("kind", "in", ("ticket", "message", "email")),),
        ("whole",),
        "it is one answer",
    ),
    RouteRule(
        "declared scan",
        "declared the text of a scanned page",
        (("kind", "in", ("scan", "ocr")),),
        ("recursive", "semantic"),
        "its line breaks and headings are guesses",
    ),
    RouteRule(
        "mixed topics",
        "declared a transcript or of mixed topics, without headings",
        (("kind", "in", ("transcript", "chat", "mixed")), ("headings", "<=", 2)),
        ("semantic", "recursive"),
        "subjects change with no mark in the text",
    ),
    RouteRule(
        "source code",
        "source code",
        (("form", "in", _CODE),),
        ("structural", "recursive"),
        "definitions are the sections of code",
    ),
    RouteRule(
        "spreadsheet",
        "CSV, TSV and workbooks, of two columns or more",
        (("form", "in", ("csv", "tsv", "xlsx")), ("columns", ">=", 2)),
        ("rows", "recursive"),
        "a row is one answer, and its header says what the cells mean",
    ),
    RouteRule(
        "spreadsheet notes",
        "CSV, TSV and workbooks, of one column",
        (("form", "in", ("csv", "tsv", "xlsx")),),
        ("recursive",),
        "free text in cells is prose",
    ),
    RouteRule(
        "contract",
        "four numbered clauses or more whose text stands behind the number",
        (("clause_paragraphs", ">=", 4),),
        ("clauses", "structural", "recursive"),
        "questions name clauses, and clauses name each other",
    ),
    RouteRule(
        "tables",
        "three fifths or more of it in tables",
        (("table_share", ">=", 0.6), ("rows", ">=", 3)),
        ("rows", "structural", "recursive"),
        "a row is one answer, and its header says what the cells mean",
    ),
    RouteRule(
        "numbered",
        "five numbered clauses or more that are referred to, without headings",
        (("clauses", ">=", 5), ("references", ">=", 2), ("headings", "<=", 1)),
        ("clauses", "structural", "recursive"),
        "questions name clauses, and clauses name each other",
    ),
    RouteRule(
        "structured",
        "two headings or more",
        (("headings", ">=", 2),),
        ("structural", "recursive"),
        "a section answers one question, and its headings say which",
    ),
    RouteRule(
        "prose",
        "everything else",
        (),
        ("recursive",),
        "paragraphs and sentences are the only borders",
    ),
)
"""The rules, the first that holds decides. They are data: put your own before them."""

NEEDS: Mapping[str, tuple[Condition, ...]] = {
    "structural": (("headings", ">=", 1),),
    "clauses": (("clauses", ">=", 1),),
    "rows": (("rows", ">=", 1),),
    "whole": (("over", "==", False),),
}
"""What a strategy needs of a document; without it the next of the rule takes its place."""

FALLBACK: tuple[str, ...] = ("recursive",)
"""What cuts a document that nothing of its rule can."""

_SEMANTIC = ("semantic", "llm", "optimal", "documentbased")
"""Strategies that embed every sentence, or ask a model, before they cut."""
_STRUCTURED = 3
"""So many headings make a document well structured."""


@dataclass(frozen=True)
class Cost:
    """What a strategy makes of a document."""

    chunks: int
    units: int
    """Of all chunks, in the unit they were cut by; what stands before them is not counted."""
    embeddings: int
    """Texts to embed: the chunks, and the sentences where the cut itself needs them."""
    stored_bytes: int
    duplicated: float
    """The part of the stored text that is stored more than once."""


@dataclass(frozen=True)
class Route:
    """What a document is cut by."""

    strategy: Splitting
    rule: str
    """The name of the rule that decided."""
    reasons: tuple[str, ...]
    """Why this strategy, and why not the ones before it."""
    warnings: tuple[str, ...]
    facts: Facts
    cost: Cost | None = field(default=None)
    """None where only facts were given."""

    @property
    def settings(self) -> str:
        """The strategy as text, with its size."""
        return f"{self.strategy.strategy}:{self.strategy.size}"

    def as_dict(self) -> dict[str, Any]:
        """Return the route as plain values."""
        return {
            "strategy": self.strategy.strategy,
            "size": self.strategy.size,
            "rule": self.rule,
            "reasons": list(self.reasons),
            "warnings": list(self.warnings),
            "cost": None if self.cost is None else dict(self.cost.__dict__),
        }


def route(
    document: Text | Blocks | Facts,
    *,
    id: str = "",
    kind: str = "",
    size: int = 512,
    unit: units.Unit = "cl100k_base",
    rules: Sequence[RouteRule] = ROUTE_RULES,
    cost: bool = True,
    **settings: Any,
) -> Route:
    """Return the strategy for a document, why it is that one, and what it costs.

    Args:
        document: A text, blocks, or the facts that are known of a document.
        id: The document's id; its ending tells the form. What facts say of it stands otherwise.
        kind: What it is declared to be: `contract`, `policy`, `ticket`, `notes`, `scan`,
            `transcript`; another word decides nothing.
        size: Most units in a chunk.
        unit: What sizes count.
        rules: The rules, the first that holds decides; `(*mine, *cantle.ROUTE_RULES)` puts your own
            first.
        cost: Whether to cut the document to see what that costs.
        settings: Further settings for the strategy, as `overlap`; what it has not is left out. One
            that embeds is chosen only if `embedder` is among them.

    Raises:
        SettingError: No rule holds, or a setting has no value that can be used.

    Example:
        >>> import cantle
        >>> chosen = cantle.route("# Tea\\n\\nWarm the pot.\\n\\n## Black\\n\\nFive minutes.\\n")
        >>> chosen.strategy.strategy, chosen.rule
        ('structural', 'structured')
    """
    if not isinstance(rules, Iterable) or isinstance(rules, str | bytes):
        raise TypeError(f"rules ({rules!r}) must be a list of RouteRule")
    rules = tuple(rules)
    for i, rule in enumerate(rules):
        if not isinstance(rule, RouteRule):
            raise TypeError(f"rules[{i}] ({rule!r}) must be RouteRule")
    if isinstance(document, Facts):
        check_words(id=id, kind=kind)
        known = replace(document, id=id or document.id, kind=kind or document.kind)
    else:
        known = facts(document, id=id, kind=kind, unit=unit)
    for rule in rules:
        if all(holds(condition, known, size) for condition in rule.when):
            break
    else:
        raise _core.SettingError("rules: none holds for this document")
    reasons = [f"{rule.documents}: {rule.why}"]
    for wanted in (*rule.strategies, *FALLBACK):
        name = strategy_name(wanted)
        if name not in REGISTRY:
            reasons.append(f"{name} would suit, but this version does not have it")
            continue
        if (model := _model_of(REGISTRY[name])) and not (
            model in settings or f"{model}=" in wanted
        ):
            reasons.append(f"{name} would suit, but no {model} is given")
            continue
        missing = [need for need in NEEDS.get(name, ()) if not holds(need, known, size)]
        if missing:
            needs = ", ".join(_words(need, known) for need in missing)
            reasons.append(f"{name} would suit, but {needs}")
            continue
        strategy = strategy_from_text(wanted, size=size, unit=unit, **settings)
        break
    else:
        raise _core.SettingError(f"rule {rule.name!r}: none of its strategies is there")
    warnings = []
    # The one that is preferred counts: it comes in the place of another as soon as it is there.
    preferred = strategy_name(rule.strategies[0])
    if strategy.strategy in _SEMANTIC or preferred in _SEMANTIC:
        warnings += structured_warning(known, preferred)
    made = None
    if cost and not isinstance(document, Facts):
        made = cost_of(strategy, document, known)
    return Route(strategy, rule.name, tuple(reasons), tuple(warnings), known, made)


def structured_warning(known: Facts, strategy: str) -> list[str]:
    """Return the warning about a strategy that embeds what headings would tell, if they do."""
    if strategy not in _SEMANTIC or known.headings < _STRUCTURED:
        return []
    return [
        f"{strategy} embeds every sentence ({known.sentences}) to find borders that "
        f"{known.headings} headings mark already: about twenty times the cost for no gain"
    ]


def _words(need: Condition, known: Facts) -> str:
    name, compare, value = need
    if name == "over":
        return f"its size of {known.size} is over the limit"
    return f"{name} is {getattr(known, name)} and must be {compare} {value}"


def _model_of(strategy: type[Splitting]) -> str | None:
    """Return the setting that names the model a strategy asks, if it asks one."""
    if issubclass(strategy, ByMeaning):
        return "embedder"
    return "model" if issubclass(strategy, ByPieces) else None


def cost_of(strategy: Splitting, document: Text | Blocks, known: Facts) -> Cost:
    """Return what a strategy makes of a document, by cutting it."""
    chunks = strategy.split(document, id=known.id or None)
    lengths = chunks.byte_end - chunks.byte_start
    stored = int(lengths.sum())
    # What a chunk repeats lies before where the one before ended.
    reached = np.maximum.accumulate(np.append([0], chunks.byte_end))[:-1]
    twice = int(np.clip(reached - chunks.byte_start, 0, lengths).sum())
    # What finds the borders is embedded on top.
    embedded = 0 if chunks.distances is None else len(chunks.distances)
    return Cost(
        chunks=len(chunks),
        units=int(chunks.size.sum()),
        embeddings=len(chunks) + embedded,
        stored_bytes=stored,
        duplicated=twice / stored if stored else 0.0,
    )
