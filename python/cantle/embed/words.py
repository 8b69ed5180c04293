"""Tokens of many short texts by a tokenizer of Llama's kind, each word encoded once.

Such a tokenizer has no pre-tokenizer: it puts a mark before the text and in place of each blank,
and merges whatever stands side by side. A text is therefore encoded whole, and slowly. But no merge
makes a token that the vocabulary has not, and none of its tokens has a mark behind another
character: so nothing is merged over the place before the first mark of a word. Whether that is so
is asked of the vocabulary; where it is not, texts are encoded whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core
from cantle.embed.tables import encoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.tokenizer import Tokenizer

_MARK = "\u2581"
_NORMALIZERS = [
    {"type": "Prepend", "prepend": _MARK},
    {"type": "Replace", "pattern": {"String": " "}, "content": _MARK},
]
_MOST = 1_000_000
"""Tokens of parts of words that are kept, some 25 MB with the parts; with more, none are."""


class Words:
    """Encodes texts by their words, where that is the same as encoding them whole."""

    def __init__(self, tokenizer: Tokenizer, file: str, most: int = _MOST) -> None:
        """Ask the tokenizer's file whether words can be encoded alone.

        Args:
            tokenizer: The tokenizer.
            file: The text of its `tokenizer.json`.
            most: Tokens that are kept, for each of up to four threads.
        """
        self._tokenizer = tokenizer
        alone = words_stand_alone(json.loads(file))
        self._words = _core.Words(tokenizer._core, file, most) if alone else None

    def __call__(self, texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the tokens of all texts, one behind the other, and where those of each end."""
        if self._words is None:
            return encoded(self._tokenizer, texts)
        return self._words.encode(texts)


def words_stand_alone(said: dict[str, Any]) -> bool:
    """Return whether no token goes over the place where a word starts, mark included."""
    model, normalizer = said.get("model") or {}, said.get("normalizer") or {}
    if model.get("type") != "BPE" or model.get("ignore_merges"):
        return False
    if said.get("pre_tokenizer") is not None:
        return False
    if normalizer.get("normalizers") != _NORMALIZERS:
        return False
    added = said.get("added_tokens") or ()
    # Special ones are text like any other. The others are, wherever they stand, and part the text:
    # the tokenizer puts a mark behind them.
    if not all(one.get("special") for one in added):
        return False
    tokens = [*model.get("vocab", ()), *(one["content"] for one in added)]
    return not any(" " in token or re.search(f"[^{_MARK}]{_MARK}", token) for token in tokens)
