# ruff: noqa: E501  (a row of a table of errors stays on one line)
"""What a tokenizer says about spans: `measure`, `truncate`, `count_all`."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import cantle
from cantle import Tokenizer
from cases import builders
from processes import environment

CL100K = Tokenizer.from_name("cl100k_base")
TOKENIZERS = {
    "cl100k_base": CL100K,
    "o200k_base": Tokenizer.from_name("o200k_base"),
    "gpt2": Tokenizer.from_name("gpt2"),
    "minilm": Tokenizer.from_name("minilm"),
    "a byte-level file": Tokenizer.from_object(builders.byte_level()),
    "with specials": Tokenizer.from_object(builders.wordpiece_mini(), count_special=True),
}
TEXTS = [
    "",
    "word",
    "Ship it on Monday.  It's the 12th,\n\nthey'll say: na\u00efve caf\u00e9 \u6f22\u5b57 \U0001f680!",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbb 123456789012   \n  e\u0301e\u0301 \u4e2d\u6587 ",
]
EVERY = pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=list(TOKENIZERS))


@EVERY
@pytest.mark.parametrize("text", TEXTS)
def test_every_span_is_as_its_text(tokenizer, text):
    ruler = tokenizer.measure(text)
    bytewise = tokenizer.measure(text.encode(), offsets="bytes")
    ends = range(len(text) + 1)
    spans = [(a, b) for a in ends for b in ends[a:]]
    expected = [tokenizer.count(text[a:b]) for a, b in spans]
    assert [ruler.size(a, b) for a, b in spans] == expected
    starts, stops = np.array(spans).T
    assert ruler.sizes(starts, stops).tolist() == expected
    to_byte = [len(text[:at].encode()) for at in ends]
    assert [bytewise.size(to_byte[a], to_byte[b]) for a, b in spans] == expected
    sizes = dict(zip(spans, expected, strict=True))
    for a in ends:
        for budget in range(max(expected) + 2):
            # Where the added specials alone are more than the budget, nothing but nothing fits.
            furthest = max(b for b in ends[a:] if sizes[a, b] <= budget)
            assert ruler.reach(a, budget) == furthest
            assert bytewise.reach(to_byte[a], budget) == to_byte[furthest]


@EVERY
@pytest.mark.parametrize("text", TEXTS)
def test_tokens_by_number(tokenizer, text):
    ends = tokenizer.encode(text).ends.tolist()
    ruler = tokenizer.measure(text, offsets="bytes")
    assert len(ruler) == len(ends)
    assert [ruler.nth(n) for n in range(len(ends))] == [0, *ends][: len(ends)]
    assert ruler.nth(len(ends)) == (len(text.encode()) if ends else 0)
    in_characters = tokenizer.measure(text)
    for n, end in enumerate(ends[:-1], 1):
        assert in_characters.nth(n) == len(text.encode()[:end].decode(errors="ignore"))


@EVERY
@pytest.mark.parametrize("text", TEXTS)
def test_truncate_is_the_longest_beginning(tokenizer, text):
    whole = tokenizer.count(text)
    for n in range(whole + 2):
        fits = [b for b in range(len(text) + 1) if tokenizer.count(text[:b]) <= n]
        byte, char = tokenizer.truncate(text, n)
        assert char == max(fits)
        assert byte == len(text[:char].encode())
        assert tokenizer.truncate(text.encode(), n) == (byte, char)


def test_truncate_is_decided_by_the_beginning():
    """A text that is fifty times as long ends at the same place, also inside a single word."""
    text = "Some words, 12 of them; nobody is left out.\n" * 100_000
    assert CL100K.truncate(text, 1_000) == CL100K.truncate(text[:100_000], 1_000)
    for word in ("a" * 1_000_000, "\u6f22" * 300_000, "ab" * 500_000):
        n = 2_000
        end = CL100K.truncate(word, n).char
        assert CL100K.count(word[:end]) <= n < CL100K.count(word[: end + 1])


def test_a_long_text_measured_by_threads():
    rng = random.Random(3)
    text = "".join(rng.choices([*TEXTS[2], " word", "\nLine", "\n\n", "12"], k=400_000))
    one, two = (CL100K.measure(text, threads=threads) for threads in (1, 2))
    starts = np.array(rng.choices(range(len(text) - 5_000), k=300))
    stops = starts + np.array(rng.choices(range(5_000), k=300))
    expected = [CL100K.count(text[a:b]) for a, b in zip(starts, stops, strict=True)]
    assert one.sizes(starts, stops).tolist() == two.sizes(starts, stops).tolist() == expected
    assert len(one) == len(two) == CL100K.count(text)


@EVERY
@pytest.mark.parametrize("threads", [0, 1, 3])
def test_count_all(tokenizer, threads):
    texts = [TEXTS[i % 4] * (1 + i % 7) for i in range(3_000)]
    expected = [tokenizer.count(text) for text in texts[:28]]
    counts = tokenizer.count_all(texts, threads=threads)
    assert counts.dtype == np.int64
    assert counts.tolist() == (expected * 108)[:3_000]
    assert tokenizer.count_all(pa.array(texts), threads=threads).tolist() == counts.tolist()
    assert tokenizer.count_all(text.encode() for text in texts[:5]).tolist() == expected[:5]
    assert tokenizer.count_all([]).tolist() == []


RULER = CL100K.measure("na\u00efve")
BYTES = CL100K.measure("na\u00efve", offsets="bytes")
WRONG = {
    "no text": (lambda: CL100K.measure(None), TypeError, "text must be str or UTF-8 bytes, not NoneType"),
    "offsets": (lambda: CL100K.measure("a", offsets="words"), cantle.SettingError, "offsets ('words') must be 'chars' or 'bytes'"),
    "threads": (lambda: CL100K.measure("a", threads=-1), cantle.SettingError, "threads (-1) must not be negative"),
    "behind": (lambda: RULER.size(0, 6), cantle.SettingError, "b (6) lies behind the end of the text, which is 5"),
    "backwards": (lambda: RULER.size(3, 2), cantle.SettingError, "b (2) must not be smaller than a (3)"),
    "negative": (lambda: RULER.size(-1, 2), cantle.SettingError, "a (-1) must not be negative"),
    "inside": (lambda: BYTES.size(0, 3), cantle.SettingError, "b (3) lies inside a character"),
    "a row": (lambda: RULER.sizes([0, 1], [5, 9]), cantle.SettingError, "b[1] (9) lies behind the end of the text, which is 5"),
    "rows": (lambda: RULER.sizes([0], [1, 2]), cantle.SettingError, "a has 1 entries, and b 2"),
    "budget": (lambda: RULER.reach(0, 1.5), TypeError, "budget (1.5) must be a whole number, not float"),
    "reach": (lambda: RULER.reach(9, 1), cantle.SettingError, "a (9) lies behind the end of the text, which is 5"),
    "nth": (lambda: RULER.nth(4), cantle.SettingError, "n (4) must be at most the number of tokens, 3"),
    "n": (lambda: CL100K.truncate("a", -1), cantle.SettingError, "n (-1) must not be negative"),
    "one text": (lambda: CL100K.count_all("a"), TypeError, "texts must be a sequence of texts, not str; use count for one"),
    "a text": (lambda: CL100K.count_all(["a", 1]), TypeError, "texts[1] must be str or UTF-8 bytes, not int"),
    "bad bytes": (lambda: CL100K.count_all(["a", b"\xff"]), cantle.TextError, "texts[1] is not UTF-8: the byte 0xff at position 0 is out of place"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), WRONG.values(), ids=list(WRONG))
def test_errors_name_what_is_wrong(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_a_hash_is_the_same_in_every_process():
    code = "import cantle; print(hash(cantle.Tokenizer.from_name('gpt2')))"
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment() | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert hashes == {b"%d\n" % hash(Tokenizer.from_name("gpt2"))}
