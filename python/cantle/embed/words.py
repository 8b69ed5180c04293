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
from array import array
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle.embed.tables import encoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.tokenizer import Tokenizer

_MARK = "\u2581"
_NORMALIZERS = [
    {"type": "Prepend", "prepend": _MARK},
    {"type": "Replace", "pattern": {"String": " "}, "content": _MARK},
]
_WORD = re.compile(f"[ {_MARK}]*[^ {_MARK}]+(?:[ {_MARK}]+\\Z)?|[ {_MARK}]+\\Z")
"""A word with the marks before it, and at the end with those behind it."""
_MOST = 1_000_000
"""Tokens of words that are kept, about 60 MB with the words. Then all of them are forgotten."""


class _Known(dict[str, int]):
    """Each word's number; a word that is asked for the first time is encoded, and gets the next."""

    def __init__(self, encode: Callable[[str], tuple[NDArray[np.uint32], object]]) -> None:
        self._encode = encode
        self._lock = Lock()
        self.tokens = array("I")
        """The tokens of all words, one behind the other."""
        self.bounds = [0]
        """Where those of each word start, and where the last ones end."""

    def __missing__(self, word: str) -> int:
        # The mark that its first blank stands for is put there by the tokenizer.
        tokens = self._encode(word[1:])[0].tolist()
        with self._lock:
            number = self.get(word)
            if number is None:
                number = len(self)
                self.tokens.extend(tokens)
                self.bounds.append(len(self.tokens))
                self[word] = number
        return number

    def arrays(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return tokens and bounds as they are now."""
        with self._lock:
            return np.array(self.tokens, np.uint32), np.array(self.bounds, np.int64)


class Words:
    """Encodes texts by their words, where that is the same as encoding them whole."""

    def __init__(self, tokenizer: Tokenizer, file: str) -> None:
        """Ask the tokenizer's file whether words can be encoded alone.

        Args:
            tokenizer: The tokenizer.
            file: The text of its `tokenizer.json`.
        """
        self._tokenizer = tokenizer
        self._alone = words_stand_alone(json.loads(file))
        self._known = _Known(tokenizer._core.encode)

    def __call__(self, texts: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the tokens of all texts, one behind the other, and where those of each end."""
        if not self._alone:
            return encoded(self._tokenizer, texts)
        known = self._known
        numbers: list[int] = []
        ends_of: list[int] = []
        for text in texts:
            # The mark that is put before the text, as the blank it stands for.
            numbers += map(known.__getitem__, _WORD.findall(f" {text}" if text else ""))
            ends_of.append(len(numbers))
        tokens, bounds = known.arrays()
        if len(tokens) > _MOST:
            self._known = _Known(self._tokenizer._core.encode)
        words = np.array(numbers, np.int64)
        starts, lengths = bounds[words], bounds[words + 1] - bounds[words]
        before = np.append(0, np.cumsum(lengths))
        places = np.arange(before[-1]) + np.repeat(starts - before[:-1], lengths)
        return tokens[places], before[np.array(ends_of, np.int64)]


def words_stand_alone(said: dict[str, Any]) -> bool:
    """Return whether no token goes over the place where a word starts, mark included."""
    model, normalizer = said.get("model") or {}, said.get("normalizer") or {}
    if model.get("type") != "BPE" or said.get("pre_tokenizer") is not None:
        return False
    if normalizer.get("normalizers") != _NORMALIZERS:
        return False
    tokens = [*model.get("vocab", ()), *(one["content"] for one in said.get("added_tokens") or ())]
    return not any(" " in token or re.search(f"[^{_MARK}]{_MARK}", token) for token in tokens)
