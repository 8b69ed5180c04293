"""Texts that are hard on splitters and tokenizers, each made to any size from a seed."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

VERSION = 1
"""Raise it with any change that alters the bytes."""
BLOCK = 1 << 20
"""Random numbers behind one block."""

Raw = npt.NDArray[np.uint64]


def _repeated(raw: Raw) -> bytes:
    return b"a" * len(raw)


def _no_blanks(raw: Raw) -> bytes:
    letters = 97 + (raw >> np.uint64(32)) % np.uint64(26)
    return bytes(letters.astype(np.uint8))


def _blanks(raw: Raw) -> bytes:
    return bytes(np.frombuffer(b"\n\n\n \n \t\r\n", np.uint8)[raw % np.uint64(9)])


def _base64(raw: Raw) -> bytes:
    # Lines of 76 characters, as in mail.
    return base64.encodebytes(bytes(raw.astype("<u8")))


def _one_line(raw: Raw) -> bytes:
    """Words without a line break; their lengths fall off as those of English, roughly."""
    text = np.frombuffer(_no_blanks(raw), np.uint8).copy()
    text[(raw & np.uint64(0xFFFF)) < 11_000] = 32
    return bytes(text)


def _ideographs(raw: Raw) -> bytes:
    points = (0x4E00 + raw % np.uint64(20_000)).astype("<u2")
    return bytes(points).decode("utf-16-le").encode()


_LEVELS = [("> ", ""), ("  - ", ""), ("[", "]"), ('{"a":', "}"), ("#", "\n"), ("(", ")")]


def _nested(raw: Raw) -> bytes:
    """Quotes, lists, brackets and more, one within another to a depth of up to 200."""
    lines = []
    for i, dice in enumerate(raw[: len(raw) // 200].tolist()):
        depth = dice % 200 + 1
        before, after = _LEVELS[(dice >> 32) % len(_LEVELS)]
        lines.append(f"{before * depth}text {i}{after * depth}")
    return "\n".join([*lines, ""]).encode()


def _pieces(pieces: list[str]) -> Callable[[Raw], bytes]:
    def make(raw: Raw) -> bytes:
        return "".join([pieces[i] for i in (raw % np.uint64(len(pieces))).tolist()]).encode()

    return make


_MARKS = [chr(code) for code in range(0x300, 0x36F)]
_LETTERS = [*"aeionstrZ", "가", "ᄀ", "ᅡ", "ᆨ", "क", "्", "ष"]
_FACES = ["👩", "👨", "🧑", "👧", "🐈", "❤\ufe0f", "💻", "🚀"]
_JOINED = [f"{one}\u200d{two}" for one in _FACES for two in _FACES]
_TONES = [f"{hand}{chr(0x1F3FB + tone)}" for hand in "👍👋🤝🧑" for tone in range(5)]
_FLAGS = [chr(0x1F1E6 + i) + chr(0x1F1E6 + (i * 7 + 3) % 26) for i in range(26)]
_FAMILIES = [f"{a}\u200d{b}\u200d{c}\u200d{c}" for a in "👩👨" for b in "👩👨" for c in "👧👦👶"]

KINDS: dict[str, Callable[[Raw], bytes]] = {
    "hostile-repeated": _repeated,
    "hostile-no-blanks": _no_blanks,
    "hostile-blanks": _blanks,
    "hostile-base64": _base64,
    "hostile-one-line": _one_line,
    "hostile-ideographs": _ideographs,
    "hostile-nested": _nested,
    # Six marks to a letter: up to dozens in a row make one grapheme.
    "hostile-combining": _pieces(_MARKS + _LETTERS),
    "hostile-emoji": _pieces(_JOINED + _TONES + _FLAGS + _FAMILIES + [" ", ". "]),
}


def write(kind: str, seed: int = 0) -> Iterator[bytes]:
    """Yield blocks of a hostile kind without end."""
    block = 0
    while True:
        words = [VERSION, seed, block, sorted(KINDS).index(kind)]
        yield KINDS[kind](np.random.PCG64(np.random.SeedSequence(words)).random_raw(BLOCK))
        block += 1
