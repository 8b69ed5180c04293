"""What tokens are checked against: tiktoken and `tokenizers`, on strings of all kinds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import tiktoken
import tokenizers

import cantle
from conftest import SLOW

ALPHABETS = {
    "blanks": " \t\n\r\v\f\x85\xa0\u3000\u2028\u1680\x1cab",
    "contractions": "'sStTdDmMlLrReEvV\u2019 \u017fab\u0130\u0131",
    "digits": "0123456789\u0660\u0669\u00b2\u2167\u09e7 a,.",
    "case": "aAbB\u01c5\u01c8\u02b0\u00df\u1e9e\u0130 Zz\u0410\u0430",
    "marks": "ae\u0301\u0308\u0323\u200d\ufe0f\u093e\u0e31 \u20dd",
    "scripts": "\u6f22\u5b57\u3072\u30ab\ud55c\uae00\u05d0\u0645\u0915\u0e2a\u0434\u03b1 x",
    "emoji": "\U0001f600\U0001f468\u200d\U0001f469\U0001f1eb\U0001f1f7\U0001f3fd\ufe0f! a",
    "punctuation": "!?.,;:-_/\\|()[]{}<>#@$%^&*+=~`\"'\r\n a1",
    "code": "abcdef_ (){};=\n\t    0x1F//#'\"",
    "runs": "aaaaaaaaaaa      \n\n\n======------zzz",
    "special": ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", " ", "a", "<|", "|>"],
    "words": ["the", " the", " quick", "Brown", "ing", "'s", " 42", ".", "\n\n", " \u00e9t\u00e9"],
}


@cache
def random_strings() -> list[str]:
    """20,000 strings (200,000 in the slow profile), the same in every run."""
    rng = random.Random(20_261_129)
    each = (200_000 if SLOW else 20_000) // (len(ALPHABETS) + 2)
    strings = [
        "".join(rng.choices(alphabet, k=rng.randrange(1, 40)))
        for alphabet in ALPHABETS.values()
        for _ in range(each)
    ]
    mixed = [c for alphabet in ALPHABETS.values() for c in alphabet]
    strings += ["".join(rng.choices(mixed, k=rng.randrange(1, 60))) for _ in range(each)]
    codes = [*range(0xD800), *range(0xE000, 0x110000)]
    strings += ["".join(map(chr, rng.choices(codes, k=rng.randrange(1, 12)))) for _ in range(each)]
    return strings


def assert_equal_to_tiktoken(
    ours: cantle.Tokenizer, theirs: tiktoken.Encoding, texts: Sequence[str]
) -> None:
    """Check ids, where tokens end, counts, and the way back."""
    for text, ids in zip(texts, theirs.encode_ordinary_batch(texts, num_threads=2), strict=True):
        ends = np.cumsum([len(token) for token in theirs.decode_tokens_bytes(ids)], dtype=np.int64)
        assert ours.encode(text).ids.tolist() == ids, text
        assert ours.offsets(text).tolist() == ends.tolist(), text
        assert ours.count(text) == len(ids), text
        assert ours.decode(ids) == text.encode()


def ordinary(tokenizer: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """Return a copy that neither truncates nor pads, with special strings as ordinary text."""
    copy = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    copy.encode_special_tokens = True
    copy.no_truncation()
    copy.no_padding()
    return copy
