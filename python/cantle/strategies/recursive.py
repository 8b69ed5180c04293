"""`Recursive`: the largest meaningful pieces that fit; and its `Separator`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass

from cantle import _core
from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Separator:
    r"""A place where a text may be cut.

    Args:
        pattern: A literal, or with `regex` a regular expression in the syntax of Rust's regex
            crate, whose searches take linear time and so have no look-around.
        regex: Whether `pattern` is a regular expression.
        side: `"end"`: the separator stays with what precedes; `"start"`: it goes with what
            follows. Default: `"start"` for a literal that begins with a newline and holds something
            visible (`"\n## "`), else `"end"`.
    """

    pattern: str
    _: KW_ONLY
    regex: bool = False
    side: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.pattern, str):
            raise TypeError(f"pattern ({self.pattern!r}) must be str")
        if self.side not in (None, "start", "end"):
            raise _core.SettingError(f"side ({self.side!r}) must be 'start' or 'end'")


@dataclass(frozen=True)
class Recursive(Splitting):
    r"""The largest meaningful pieces that fit: paragraphs, lines, sentences, words, graphemes.

    Pieces of one level pack together while they fit. A piece that is too large is opened at the
    next level, and its parts pack among themselves. Nothing is dropped but blanks.

    Args:
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before; whole units of the level that
            chunk was cut at.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around each chunk.
        separators: Cut at these instead, the strongest first: literals, compiled regular
            expressions or `Separator`s, such as `["\n## ", "\n\n", "\n", ". ", " "]`. `""` stands
            for grapheme clusters, which also come when all others are used up.
        min_size: Merge a smaller chunk with a neighbour where `size` allows.
        name: The name in the chunks' ids. Default: `recursive`.
    """

    strategy = "recursive"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    separators: Iterable[str | re.Pattern[str] | Separator] | None = None
    min_size: int = 0
    name: str | None = None

    def __post_init__(self) -> None:
        levels = None
        if self.separators is not None:
            checked = tuple(_separator(i, s) for i, s in enumerate(_iterable(self.separators)))
            object.__setattr__(self, "separators", checked)
            levels = [(s.pattern, s.regex, s.side) for s in _before_graphemes(checked)]
        self._build(min_size=self.min_size, separators=levels)


def _iterable(separators: object) -> Iterable[object]:
    if isinstance(separators, str | bytes) or not isinstance(separators, Iterable):
        raise TypeError(f"separators ({separators!r}) must be a list of separators")
    return separators


def _separator(i: int, separator: object) -> Separator:
    if isinstance(separator, str):
        separator = Separator(separator)
    elif isinstance(separator, re.Pattern) and isinstance(separator.pattern, str):
        separator = Separator(_with_flags(i, separator), regex=True)
    elif not isinstance(separator, Separator):
        raise TypeError(
            f"separators[{i}] ({separator!r}) must be str, a compiled pattern or Separator"
        )
    try:
        separator.pattern.encode()
    except UnicodeEncodeError as error:
        raise _core.SettingError(
            f"separators[{i}] holds a lone surrogate at character {error.start}"
        ) from None
    return separator


def _with_flags(i: int, pattern: re.Pattern[str]) -> str:
    """Return the pattern with its flags written inside, as the core's engine reads them."""
    known = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}
    flags = "".join(letter for flag, letter in known.items() if pattern.flags & flag)
    left = pattern.flags & ~(sum(known) | re.UNICODE)
    if left:
        raise _core.SettingError(f"separators[{i}]: the flag {re.RegexFlag(left)!r} is not offered")
    # A comment at the end of a verbose pattern must not swallow the bracket.
    end = "\n)" if "x" in flags else ")"
    return f"(?{flags}:{pattern.pattern}{end}" if flags else pattern.pattern


def _before_graphemes(separators: tuple[Separator, ...]) -> tuple[Separator, ...]:
    for i, separator in enumerate(separators):
        if not separator.pattern:
            if i + 1 < len(separators):
                raise _core.SettingError(f"separators[{i}] is empty: '' must come last")
            return separators[:i]
    return separators
