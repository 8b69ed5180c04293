"""Texts of every kind, as a list and for Arrow: the tests of Arrow cut these."""

from __future__ import annotations

import cantle

TEXTS = [
    "One short sentence. And another one.",
    "",
    None,
    "tiny",
    "exactly 12 b",
    "Ünï çödé: 漢字かな交じり文。😀 Und noch ein Satz, der länger ist.",
    "Lines\nof\n\ntext, 1234567890 and more words than one chunk can hold at all.",
    "tiny",
]
PLAIN = [text or "" for text in TEXTS]
SPLITTER = cantle.Recursive(12, 3, "chars")
