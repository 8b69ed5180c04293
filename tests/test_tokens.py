"""Two roads agree: our tokens against tiktoken and `tokenizers`, on nasty strings and files."""

from __future__ import annotations

import hashlib
import sysconfig
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
import samples
from cases import builders
from conftest import SLOW
from tokens_oracle import assert_equal_to_tiktoken, ordinary, random_strings

NAMES = ["cl100k_base", "o200k_base", "r50k_base", "p50k_base"]
over_names = pytest.mark.parametrize("name", NAMES)

# What OpenAI publishes beside its `.tiktoken` files.
PUBLISHED = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
}


@cache
def real_documents() -> list[str]:
    """Files that are there anyway: sources of the standard library, READMEs of packages."""
    library = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    every = 1 if SLOW else 6
    files = [path.read_text("utf-8", errors="ignore") for path in library[::every]]
    metadata = {d.metadata["Name"]: d.metadata.get_payload() for d in distributions()}
    readmes = [metadata[name] for name in sorted(metadata)][:: 1 if SLOW else 3]
    return [text for text in [*files, *readmes] if isinstance(text, str) and text]


@over_names
def test_the_ranks_are_those_that_openai_publishes(name):
    assert hashlib.sha256(samples.tiktoken_file(name)).hexdigest() == PUBLISHED[name]


def assert_name_equals_tiktoken(name: str, texts: list[str]) -> None:
    assert_equal_to_tiktoken(cantle.Tokenizer.from_name(name), samples.encoding(name), texts)


@over_names
def test_random_strings_equal_tiktoken(name):
    assert_name_equals_tiktoken(name, random_strings())


@over_names
def test_real_documents_equal_tiktoken(name):
    texts = real_documents()
    assert sum(map(len, texts)) > 500_000
    assert_name_equals_tiktoken(name, texts)


@over_names
@given(text=samples.texts)
def test_texts_of_all_kinds_equal_tiktoken(name, text):
    assert_name_equals_tiktoken(name, [text])


@over_names
@pytest.mark.parametrize("unit", ["x", " ", "\n", "ab", "\u6f22", "0", "=", "\r\n", "a ", "\u0301"])
def test_long_runs_equal_tiktoken(name, unit):
    """Lengths around powers of two, and around the pieces of three digits."""
    texts = [unit * n for n in [*range(1, 35), 63, 64, 65, 127, 128, 129, 255, 256, 257, 1_000]]
    assert_name_equals_tiktoken(name, texts)


@over_names
@pytest.mark.parametrize("strategy", [cantle.Recursive, cantle.Window, cantle.Sentence])
def test_sizes_of_chunks_of_real_documents_equal_tiktoken(name, strategy):
    """A size is that of the chunk's own text, not of its place in the whole."""
    texts = real_documents()[:: 1 if SLOW else 8]
    for size, overlap, trim in ((64, 16, True), (200, 0, False)):
        chunks = strategy(size, overlap, name, trim).split_all(texts)
        counts = [len(i) for i in samples.encoding(name).encode_ordinary_batch(chunks.texts)]
        assert chunks.size.tolist() == counts
        assert max(counts) <= size


@over_names
def test_sizes_of_chunks_of_random_strings_equal_tiktoken(name):
    texts = ["".join(random_strings()[i::400]) for i in range(20)]
    for strategy in (cantle.Recursive, cantle.Window):
        for size, overlap in ((3, 2), (9, 4)):
            chunks = strategy(size, overlap, name, trim=False).split_all(texts)
            counts = [len(i) for i in samples.encoding(name).encode_ordinary_batch(chunks.texts)]
            assert chunks.size.tolist() == counts


@pytest.mark.parametrize("name", sorted(builders.TOKENIZERS))
@given(text=st.one_of(samples.texts, samples.plain_texts, st.text("xyz|", max_size=30)))
def test_foreign_tokenizers_equal_tokenizers(name, text):
    ours = cantle.Tokenizer.from_object(builders.TOKENIZERS[name]())
    theirs = ordinary(builders.TOKENIZERS[name]()).encode(text, add_special_tokens=False)
    assert ours.encode(text).ids.tolist() == theirs.ids
    assert ours.count(text) == len(theirs.ids)
    assert len(ours.offsets(text)) == len(theirs.ids)


@pytest.mark.parametrize("name", ["byte_level", "words", "bpe_cross", "wordpiece_mini"])
@given(text=st.text("ab cé漢xyz|.,\n", max_size=40))
def test_offsets_of_foreign_tokenizers_equal_tokenizers(name, text):
    """Where no normaliser changes the length, tokens end where `tokenizers` says."""
    ours = cantle.Tokenizer.from_object(builders.TOKENIZERS[name]()).offsets(text)
    theirs = ordinary(builders.TOKENIZERS[name]()).encode(text, add_special_tokens=False)
    to_byte = [len(text[:i].encode()) for i in range(len(text) + 1)]
    for end, (_, char_end) in zip(ours.tolist(), theirs.offsets, strict=True):
        # A token may end inside a character, which theirs rounds up to its end.
        assert to_byte[max(char_end - 1, 0)] < end <= to_byte[char_end]


@pytest.mark.parametrize("special", [False, True])
@given(text=samples.plain_texts)
def test_specials_count_only_when_asked_for(special, text):
    ours = cantle.Tokenizer.from_object(
        builders.TOKENIZERS["wordpiece_mini"](), count_special=special
    )
    theirs = ordinary(builders.TOKENIZERS["wordpiece_mini"]()).encode(
        text, add_special_tokens=special
    )
    assert ours.count(text) == (len(theirs.ids) if text else 0)
    assert len(ours.encode(text).ids) == ours.count(text) - (2 if special and text else 0)


@pytest.mark.parametrize("name", ["words_trunc16", "words_pad32"])
def test_truncation_and_padding_change_no_count_and_stay_set(name):
    tokenizer = builders.TOKENIZERS[name]()
    before = tokenizer.to_str()
    ours = cantle.Tokenizer.from_object(tokenizer)
    assert [ours.count("word " * n) for n in (0, 3, 16, 17, 100)] == [0, 3, 16, 17, 100]
    assert cantle.Recursive(40, unit=tokenizer).split("word " * 100).size.tolist() == [40, 40, 20]
    assert tokenizer.to_str() == before
    assert len(tokenizer.encode("word " * 20).ids) == (16 if name == "words_trunc16" else 32)
