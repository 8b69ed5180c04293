"""Fresh text of any size with the statistics of a given one, in order and in letters.

A model walks through the text it was trained on: after each token it jumps to a place with the same
two tokens before it (a quarter of the time, the same one) and reads on there. Words thus come as
often, and after the same words, as in the original, and so do line breaks, blank lines and signs.

A walk alone would never meet a new word, and a tokenizer's memo would soon know all. By Good and
Turing the chance that the next word is new is the share of the words met once, so each time one of
these comes up, another is coined from the halves of two. New words thus never cease, however long
the text. (Of 16 MB of made prose 1.8% of the second half is not in the first, as far in as 900 MB;
of real prose 4%, since a new word soon comes again.)

Thousands of walks go on at once, each a document that ends at a paragraph. Randomness is the raw
output of PCG64, which NumPy keeps, and only whole numbers are reckoned with: the bytes depend
neither on the machine nor on the version (Python 3.10 to 3.13 and NumPy 1.24 to 2.5 agreed).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

VERSION = 1
"""Raise it with any change that alters the bytes."""

WALKS, STEPS = 2048, 1024
"""Of one block, which is about 10 MB; the first few are smaller, for small corpora."""
MOST = 16_000_000
"""Characters that are learnt from; more cost memory and change little."""

# A letter is what is no blank, digit, punctuation mark or symbol, nor of a script without blanks:
# of those each character is a token.
_NO_LETTER = (
    r"\s\d!-/:-@\[-`{-~\u00a0-\u00bf\u2000-\u2bff\u3000-\u9fff\uf900-\ufaff\ufe10-\ufe4f"
    r"\uff00-\uffef\u0e00-\u0eff\u1780-\u17ff\U0001f000-\U0003ffff"
)
_TOKEN = re.compile(
    rf" ?[^{_NO_LETTER}]+(?:['’][^{_NO_LETTER}]+)?"  # a word, with the blank before it
    r"| ?\d+"
    r"| +(?= )"  # blanks but the last
    r"|[ \t]*\n\s*"  # a line break, with the blank lines and the indentation after it
    r"| ?([!-/:-@\[-`{-~])\1*"  # a mark, or a run of it
    r"|.",
    re.DOTALL,
)

Tokens = npt.NDArray[np.int64]
Table = npt.NDArray[np.int32]


class Model:
    """What was learnt from a text. `write` makes text; the same seed makes the same."""

    def __init__(self, text: str) -> None:
        tokens = [found.group() for found in _TOKEN.finditer(text[:MOST])]
        if len(tokens) < 3:
            raise ValueError(f"a text of {len(text)} characters teaches nothing")
        counts = Counter(tokens)
        number = {token: i for i, token in enumerate(counts)}
        self._bytes = [token.encode() for token in counts]
        self._blank = len(self._bytes)
        self._bytes.append(b"\n\n")
        at = np.array([number[token] for token in tokens], np.int64)
        self._at = at

        # Inside a code fence a walk only jumps to places inside fences, so that fences stay paired.
        fence = np.array([token.startswith(("```", "~~~")) for token in counts])[at]
        line = np.array(["\n" in token for token in counts])[at]
        fence[1:] &= line[:-1]
        inside = np.cumsum(fence) & 1
        paragraph = np.array([token.count("\n") > 1 for token in counts])[at] & (inside == 0)
        self._paragraph = paragraph
        # A text without paragraphs begins anywhere.
        self._begins = (np.flatnonzero(paragraph) + 1) % len(at)
        if not len(self._begins):
            self._begins = np.arange(len(at))

        # The places of a group (same tokens before) lie together in `places`. The text is a ring.
        one = at * 2 + inside
        two = np.unique(np.roll(at, 1) * (2 * len(counts)) + one, return_inverse=True)[1]
        tables = zip(_groups(two.reshape(-1)), _groups(one), strict=True)
        self._places, self._start, self._count = (np.concatenate(both) for both in tables)
        self._start[len(at) :] += len(at)

        self._coins = [count == 1 and _is_word(token) for token, count in counts.items()]
        self._coins.append(False)
        self._rare = np.array(self._coins)
        self._halves: dict[int, list[str]] = {}
        for token, coin in zip(counts, self._coins, strict=False):
            if coin and not token.strip().isdigit():
                self._halves.setdefault(_script(token), []).append(token.strip())
        self._tokens = list(counts)

    def write(self, seed: int = 0) -> Iterator[bytes]:
        """Yield blocks without end."""
        block = 0
        while True:
            yield self.block(seed, block)
            block += 1

    def block(self, seed: int, block: int) -> bytes:
        """Return one block; blocks do not depend on each other."""
        return b"".join(self.documents(seed, block))

    def documents(
        self, seed: int, block: int, walks: int = WALKS, steps: int = STEPS
    ) -> list[bytes]:
        """Return the documents of a block, one for each walk, about 5 kB each."""
        raw = np.random.PCG64(np.random.SeedSequence([VERSION, seed, block]))
        drawn = raw.random_raw(walks * (steps + 1)).reshape(steps + 1, walks)
        place = self._begins[_below(drawn[0], len(self._begins))]
        places = np.empty((steps, walks), np.int64)
        for step in range(steps):
            places[step] = place
            coin = drawn[step + 1]
            group = np.where(coin & 3, place, place + len(self._at))
            place = self._places[self._start[group] + _below(coin, self._count[group])] + 1
            place[place == len(self._at)] = 0

        places = np.ascontiguousarray(places.T)
        breaks = self._paragraph[places]
        last = steps - 1 - np.argmax(breaks[:, ::-1], axis=1)
        last[~breaks.any(axis=1)] = steps - 1
        tokens = self._at[places]
        tokens[np.arange(walks), last] = self._blank
        tokens = tokens[np.arange(steps) <= last[:, None]]
        ends = np.cumsum(last + 1).tolist()
        words = list(map(self._bytes.__getitem__, tokens.tolist()))
        rare = np.flatnonzero(self._rare[tokens])
        for i, dice in zip(rare.tolist(), raw.random_raw(len(rare)).tolist(), strict=True):
            words[i] = self._coined(self._tokens[tokens[i]], dice)
        return [b"".join(words[i:j]) for i, j in zip([0, *ends], ends, strict=False)]

    def _coined(self, token: str, dice: int) -> bytes:
        """Return a new word in place of `token`: its first half, and the second of another."""
        blank, word = token[: token[0] == " "], token.lstrip(" ")
        if word.isdigit():
            return f"{blank}{1 + dice % 9}{dice % 10 ** (len(word) - 1):0{len(word) - 1}}".encode()
        others = self._halves[_script(token)]
        other = others[(dice >> 8) % len(others)]
        head = 2 + (dice & 15) % (len(word) - 2)
        tail = 1 + ((dice >> 4) & 15) % (len(other) - 2)
        return f"{blank}{word[:head]}{other[tail:]}".encode()


def walks_of(block: int) -> int:
    return WALKS >> max(0, 6 - block)


def _below(raw: npt.NDArray[np.uint64], count: int | Table) -> Tokens:
    """Return whole numbers under `count` from the upper half of the raw ones."""
    high = (raw >> np.uint64(32)).astype(np.int64)
    below: Tokens = (high * count) >> 32
    return below


def _groups(key: Tokens) -> tuple[Table, Table, Table]:
    """Return the places sorted by key, and for each place where its group begins and its length."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    length = np.diff(np.r_[first, len(key)])
    group = np.repeat(np.arange(len(first)), length)
    start, count = np.empty_like(order, np.int32), np.empty_like(order, np.int32)
    start[order], count[order] = first[group], length[group]
    return order.astype(np.int32), start, count


def _is_word(token: str) -> bool:
    word = token.strip()
    return len(word) > 3 and (word[0].isalpha() or (word.isascii() and word.isdigit()))


def _script(token: str) -> int:
    """Halves are joined within a block of 256 code points, which tells scripts apart."""
    return ord(token.lstrip(" ")[0]) >> 8
