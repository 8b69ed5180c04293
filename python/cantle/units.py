"""What `unit=` accepts, turned into what the core takes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import CellType, CodeType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cantle import _core, names
from cantle.digest import digest
from cantle.tokenizer import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

Unit: TypeAlias = "str | os.PathLike[str] | Tokenizer | Callable[[str], int] | Any"
"""A plain unit's name, a tokenizer's name, the path or the text of a `tokenizer.json`, the path of
a `.tiktoken` file, a tokenizer object, or a callable from a text to its size."""

PLAIN = ("bytes", "chars", "words")
_CALLABLE = re.compile(r"""'([^']+)'(?: '([^' ]+)' \(.*| (['"])[0-9a-f]+ \(.*)?""", re.DOTALL)
"""The identity of a callable without a fingerprint: its name; then, of a `partial`, that of what it
calls, or the code of a function."""


class TiktokenCount:
    """The callable for a `tiktoken.Encoding` whose pattern cantle has no scanner for."""

    def __init__(self, encoding: Any) -> None:
        """Keep the encoding."""
        self.encoding = encoding

    def __call__(self, text: str) -> int:
        """Return how many tokens `text` has."""
        return len(self.encoding.encode_ordinary(text))

    @property
    def fingerprint(self) -> str:
        """What tells the encoding from others: a hash of its pattern and ranks."""
        ranks = sorted(self.encoding._mergeable_ranks.items(), key=lambda item: item[1])
        told = repr((self.encoding._pat_str, ranks)).encode()
        return f"tiktoken:{digest(told, 8)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TiktokenCount) and self.encoding is other.encoding

    def __hash__(self) -> int:
        return hash(self.encoding.name)


def resolve(unit: Unit) -> str | Tokenizer | Callable[[str], int]:
    """Return a plain unit's name, a `Tokenizer` or a callable.

    Raises:
        SettingError: A string names no unit.
        TokenizerError: What it names is no tokenizer.
        TypeError: The object cannot serve as unit.
        OSError: The path cannot be read.
    """
    if isinstance(unit, Tokenizer):
        return unit
    if isinstance(unit, str):
        return unit if unit in PLAIN else _from_text(unit)
    if isinstance(unit, os.PathLike):
        return _from_path(Path(unit))
    if hasattr(unit, "_mergeable_ranks"):
        known = _core.pattern_name(str(getattr(unit, "_pat_str", "")))
        return TiktokenCount(unit) if known is None else Tokenizer.from_tiktoken(unit)
    if hasattr(unit, "to_str") or hasattr(unit, "backend_tokenizer"):
        return Tokenizer.from_object(unit)
    if callable(unit) and not hasattr(unit, "save_pretrained"):
        return unit
    raise TypeError(f"unit ({unit!r}) must be a string, a tokenizer or a callable")


def _from_text(unit: str) -> Tokenizer:
    if unit.startswith("{"):
        return Tokenizer.from_json(unit)
    if unit in names.EXTRAS or names.vocabulary(unit):
        return Tokenizer.from_name(unit)
    path = Path(unit)
    # `owner/model` is a name of the Hub unless something is there.
    named = unit.count("/") < 2 and not unit.startswith(("/", ".", "~")) and "\\" not in unit
    if unit.endswith((".json", ".tiktoken")) or not named or ("/" in unit and path.exists()):
        return _from_path(path)
    known = ", ".join(repr(name) for name in (*PLAIN, *_core.vocabularies(), *names.EXTRAS))
    raise _core.SettingError(
        f"unit ({unit!r}) must be one of {known}, the path of a tokenizer.json, "
        f"a tokenizer or a callable; cantle downloads nothing: {names.how_to_save(unit)}"
    )


def _from_path(path: Path) -> Tokenizer:
    if path.suffix == ".tiktoken":
        return Tokenizer.from_tiktoken(path)
    # What `save_pretrained` writes is a folder.
    return Tokenizer.from_file(path / "tokenizer.json" if path.is_dir() else path)


def describe(unit: str | Tokenizer | Callable[..., Any]) -> str:
    """Return a unit's name for people and fingerprints."""
    if isinstance(unit, str):
        return unit
    if isinstance(unit, Tokenizer):
        return unit.name
    if isinstance(unit, TiktokenCount):
        return f"tiktoken:{unit.encoding.name}"
    return f"{unit.__module__}.{getattr(unit, '__qualname__', type(unit).__qualname__)}"


def identity(unit: str | Tokenizer | Callable[..., Any]) -> str:
    """Return what tells a unit from others in a fingerprint, the same in every process.

    A callable says it itself in an attribute `fingerprint`. Else it is known by its name, the code
    of a function, and the plain values that a function captured or a `partial` holds; the state of
    other objects is not looked at.
    """
    if isinstance(unit, str | Tokenizer):
        return describe(unit)
    own = getattr(unit, "fingerprint", None)
    if isinstance(own, str):
        return own
    known: list[object] = [describe(unit)]
    if isinstance(unit, partial):
        known += [describe(unit.func), unit.args, tuple(sorted(unit.keywords.items()))]
    code = getattr(unit, "__code__", None)
    if isinstance(code, CodeType):
        known += [_code(code), getattr(unit, "__defaults__", None)]
        known += [tuple(sorted((getattr(unit, "__kwdefaults__", None) or {}).items()))]
        known += [_content(cell) for cell in getattr(unit, "__closure__", None) or ()]
    return " ".join(map(_plain, known))


def readable(known: str) -> str:
    """Return an identity for people: of a callable its name and what it is, without its code."""
    match = _CALLABLE.fullmatch(known)
    if match is None:  # It says itself what it is.
        return known
    name, of, code = match.groups()
    what = f"of {of}" if of else "a function" if code else "an object"
    return f"{name} ({what})"


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is bound later
        return None


def _plain(value: object) -> str:
    """Return a value as text that is the same in every process: of others than these, the type."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_plain, value))})"
    if value is None or isinstance(value, (str, bytes, int, float, complex)):
        return repr(value)
    return _code(value) if isinstance(value, CodeType) else type(value).__qualname__


def _code(code: CodeType) -> str:
    return f"{code.co_code.hex()} {code.co_names} {_plain(code.co_consts)}"


def seen_by_model(unit: Unit) -> str | Tokenizer | Callable[[str], int]:
    """Return the unit that counts what a model sees of a text: its special tokens as well."""
    resolved = resolve(unit)
    return resolved.with_special() if isinstance(resolved, Tokenizer) else resolved


def for_core(unit: str | Tokenizer | Callable[[str], int]) -> object:
    """Return the object that `_core.Splitter` takes as unit."""
    return unit._core if isinstance(unit, Tokenizer) else unit


def whole(unit: str | Tokenizer | Callable[[str], int]) -> _core.Splitter:
    """Return what measures texts and cuts nothing."""
    return _core.Splitter("whole", 2**62, 0, for_core(unit), False, 0, None)


def sizes(
    unit: str | Tokenizer | Callable[[str], int], texts: Sequence[str], threads: int = 0
) -> NDArray[np.int64]:
    """Return the size of each text; int64 [texts]. That of an empty one is 0."""
    columns = whole(unit).split(texts, threads, False)
    for _, error, _ in columns["failures"]:
        raise error
    counts = np.zeros(len(texts), np.int64)
    counts[columns["doc"]] = columns["size"]
    return counts
