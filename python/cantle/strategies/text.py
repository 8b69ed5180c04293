"""A strategy as text: `name[:size[:overlap[:unit]]][,key=value...]`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from cantle import _core
from cantle.strategies.clauses import Clauses
from cantle.strategies.documentbased import DocumentBased
from cantle.strategies.hierarchical import Hierarchical
from cantle.strategies.llm import Llm
from cantle.strategies.nested import Nested
from cantle.strategies.optimal import Optimal
from cantle.strategies.recursive import Recursive
from cantle.strategies.routed import Routed
from cantle.strategies.rows import Rows
from cantle.strategies.semantic import Semantic
from cantle.strategies.sentence import Sentence
from cantle.strategies.splitting import Splitting
from cantle.strategies.structural import Structural
from cantle.strategies.whole import Whole
from cantle.strategies.window import Window

REGISTRY: dict[str, type[Splitting]] = {
    strategy.strategy: strategy
    for strategy in (
        *(Whole, Window, Recursive, Sentence, Structural, Clauses, Rows, Routed),
        *(Semantic, Optimal, DocumentBased, Llm, Hierarchical, Nested),
    )
}
"""Every strategy by its name. The laws run over all of them."""

_SETTINGS = {field.name for one in REGISTRY.values() for field in fields(one)}  # type: ignore[arg-type]
"""The settings of all strategies."""
_UNWRITABLE = ("separators", "scope", "progress", "label")
"""Settings that no string can say."""
_POSITIONAL = ("size", "overlap", "unit")
_PAIRS = ("parent_sizes", "distances", "groups")
"""Settings of two numbers, one for level 1 and one for level 2, written `2048/512`."""


def strategy_from_text(text: str, **defaults: Any) -> Splitting:
    """Return the strategy that a text such as `window:60:12:words,trim=false` describes.

    A part that holds `:` or `,`, such as a path, is put in quotes. Capitals, `_` and `-` in the
    strategy's name do not count: `DocumentBased`, `document-based` and `documentbased` are one.

    Args:
        text: The strategy.
        defaults: Settings for what the text leaves out; those that the strategy does not have,
            but another one has, are ignored.

    Raises:
        SettingError: The text describes no strategy; says which part.
        TypeError: No strategy has a setting of such a name.
    """
    for key, default in defaults.items():
        if key not in _SETTINGS:
            raise TypeError(f"{key} ({default!r}) is a setting of no strategy")
    items = _split(text, ",")
    parts = _split(items[0], ":")
    name = strategy_name(text)
    if name not in REGISTRY:
        known = ", ".join(REGISTRY)
        raise _core.SettingError(f"strategy ({parts[0].strip()!r}) must be one of {known}")
    if len(parts) > 1 + len(_POSITIONAL):
        raise _core.SettingError(f"strategy ({text!r}) has too many parts: {_FORM}")
    strategy = REGISTRY[name]
    kinds = {field.name: str(field.type) for field in fields(strategy)}  # type: ignore[arg-type]
    settings = {key: value for key, value in defaults.items() if key in kinds}
    given = set()
    for key, value in zip(_POSITIONAL, parts[1:], strict=False):
        if value:
            settings[key] = _value(key, value)
            given.add(key)
    for item in items[1:]:
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals or key not in kinds or key in _UNWRITABLE:
            raise _core.SettingError(f"strategy ({text!r}): {item!r} sets nothing of {name}")
        if key in given:
            raise _core.SettingError(f"strategy ({text!r}) sets {key} twice")
        given.add(key)
        settings[key] = _value(key, value.strip())
    return strategy(**settings)


def strategy_name(text: str) -> str:
    """Return the name at the start of a strategy as text, as the registry has it."""
    name = text.partition(":")[0].partition(",")[0]
    return name.strip().lower().replace("_", "").replace("-", "")


def strategies_from_text(text: str, **defaults: Any) -> list[Splitting]:
    """Return the strategies of a list separated by commas.

    An item that holds `=` belongs to the strategy before it.
    """
    specs: list[str] = []
    for item in _split(text, ","):
        if "=" in item and specs:
            specs[-1] += f",{item}"
        else:
            specs.append(item)
    return [strategy_from_text(spec, **defaults) for spec in specs]


def unquoted_items(text: str, what: str) -> list[str]:
    """Return the items of a list separated by commas, such as units; an item may be in quotes.

    Args:
        text: The list.
        what: What messages call it.

    Raises:
        SettingError: A quote is not closed.
    """
    return [item for part in _split(text, ",", what) if (item := _unquoted(part.strip()))]


_FORM = "name[:size[:overlap[:unit]]][,key=value...]"


def _split(text: str, by: str, what: str = "strategy") -> list[str]:
    """Split at `by` outside quotes."""
    parts, quote = [""], ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
            parts[-1] += c
        elif c in "\"'":
            quote = c
            parts[-1] += c
        elif c == by:
            parts.append("")
        else:
            parts[-1] += c
    if quote:
        raise _core.SettingError(f"{what} ({text!r}): a quote is not closed")
    return parts


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _value(key: str, text: str) -> Any:
    text = _unquoted(text)
    if key in (
        "unit",
        "name",
        "prefix",
        "format",
        "sources",
        "embedder",
        "mode",
        "model",
        "cache",
    ) or (key == "depth" and text.isalpha()):
        return text
    if key in ("trim", "items", "header", "automatic"):
        if text.lower() not in ("true", "false"):
            raise _core.SettingError(f"{key} ({text!r}) must be true or false")
        return text.lower() == "true"
    if key in _PAIRS:
        parts = text.split("/")
        if len(parts) != 2:
            raise _core.SettingError(f"{key} ({text!r}) must be two numbers, as in 2048/512")
        return tuple(_number(key, part, text) for part in parts)
    return _number(key, text, text)


def _number(key: str, part: str, text: str) -> float:
    exact = key not in ("percentile", "distance", "distances", "deviations")
    try:
        return int(part.replace("_", "")) if exact else float(part)
    except ValueError:
        kind = "a whole number" if exact else "a number"
        kind = kind if part == text else f"two {kind.removeprefix('a ')}s"
        raise _core.SettingError(f"{key} ({text!r}) must be {kind}") from None
