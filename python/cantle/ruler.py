"""`TokenRuler`: how many tokens any span of a text has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cantle import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TokenRuler:
    """Measures one text in tokens; made by `Tokenizer.measure`, which reads the text once.

    Offsets are half-open and count from the text's start: characters, or bytes where that was asked
    for. A span's size is that of its text on its own, `tokenizer.count(text[a:b])`, found without
    encoding it anew: what lies between the two words at its edges is known.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.TokenRuler) -> None:
        """Made by `Tokenizer.measure`."""
        self._core = core

    def __len__(self) -> int:
        """Return how many tokens the text has, added specials left out."""
        return self._core.total

    def size(self, a: int, b: int) -> int:
        """Return how many tokens `text[a:b]` has.

        Raises:
            SettingError: The span is none, or `a` or `b` lies inside a character.
        """
        return self._core.size(a, b)

    def sizes(
        self, a: Sequence[int] | NDArray[Any], b: Sequence[int] | NDArray[Any]
    ) -> NDArray[np.int64]:
        """Return the sizes of many spans, int64 [spans]: those from `a[i]` to `b[i]`.

        Raises:
            SettingError: As for `size`, with the row.
        """
        return self._core.sizes(a, b)

    def reach(self, a: int, budget: int) -> int:
        """Return the furthest `b` for which `text[a:b]` has at most `budget` tokens.

        More text can mean fewer tokens, as a word becomes whole; such an end is looked for up to
        256 bytes behind the place where the budget is spent. The budget is always kept.
        """
        return self._core.reach(a, budget)

    def nth(self, n: int) -> int:
        """Return where token number `n` of the whole text starts: behind the one before it.

        `nth(len(ruler))` is the text's end. A token that starts inside a character counts from that
        character; in bytes its place is exact.
        """
        return self._core.nth(n)
