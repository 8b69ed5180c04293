"""Tokenizers of every kind that `tokenizers` makes: they equal it, and say which road they take."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
from functools import cache, partial
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers

import cantle
import samples
from cases import builders
from conftest import SLOW
from samples import MINILM, patterned
from test_vocabularies import NASTY
from tokens_oracle import ALPHABETS, ordinary


def assert_equal_to_tokenizers(ours: cantle.Tokenizer, theirs: tokenizers.Tokenizer, texts) -> None:
    reference = ordinary(theirs)
    encodings = reference.encode_batch(list(texts), add_special_tokens=False)
    for text, encoding in zip(texts, encodings, strict=True):
        assert ours.encode(text).ids.tolist() == encoding.ids, text
        assert ours.count(text) == len(encoding.ids), text
        decoded = reference.decode(encoding.ids, skip_special_tokens=False)
        assert ours.decode(encoding.ids).decode() == decoded


@pytest.mark.parametrize("name", ["minilm", "bert-base-uncased"])
def test_the_tokenizer_of_minilm_equals_tokenizers(name):
    ours = cantle.Tokenizer.from_name(name)
    assert (ours.vocab_size, ours.count("word " * 500)) == (30_522, 500)
    assert ours == cantle.Tokenizer.from_file(MINILM)
    assert_equal_to_tokenizers(
        ours, tokenizers.Tokenizer.from_file(str(MINILM)), NASTY[:: 1 if name == "minilm" else 20]
    )


def trained(pre_tokenizer, normalizer=None, added=(), decoder=None, model="bpe"):
    """Return a small tokenizer over prose."""
    kinds = {
        "bpe": (models.BPE(), tokenizers.trainers.BpeTrainer),
        "unigram": (models.Unigram(), tokenizers.trainers.UnigramTrainer),
    }
    inner, trainer = kinds[model]
    tokenizer = tokenizers.Tokenizer(inner)
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if decoder is not None:
        tokenizer.decoder = decoder
    options: dict[str, Any] = {"vocab_size": 500, "show_progress": False}
    if model == "bpe":
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    else:
        options |= {"unk_token": "<unk>", "special_tokens": ["<unk>"]}
    tokenizer.train_from_iterator([builders.prose(20_000), samples.PROSE], trainer(**options))
    tokenizer.add_tokens(list(added))
    tokenizer.add_special_tokens([AddedToken("<|end|>", lstrip=True)])
    return tokenizer


LLAMA3 = patterned("cl100k_base", "llama3")._pat_str
byte_level = partial(pre_tokenizers.ByteLevel, add_prefix_space=False)

FOREIGN = {
    "gpt2": lambda: trained(byte_level(), decoder=decoders.ByteLevel()),
    "gpt2 with a prefix": lambda: trained(pre_tokenizers.ByteLevel(add_prefix_space=True)),
    "llama3": lambda: trained(
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(tokenizers.Regex(LLAMA3), "isolated"),
                byte_level(use_regex=False),
            ]
        ),
        decoder=decoders.ByteLevel(),
    ),
    "nfc": lambda: trained(byte_level(), normalizers.NFC(), decoder=decoders.ByteLevel()),
    "metaspace": lambda: trained(
        pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
        ),
        decoder=decoders.Metaspace(),
        model="unigram",
    ),
    "added": lambda: trained(
        byte_level(),
        added=[AddedToken("<tool>"), AddedToken("ox", single_word=True), AddedToken("quick")],
        decoder=decoders.ByteLevel(),
    ),
    "added that strip": lambda: trained(
        byte_level(),
        added=[AddedToken("<m>", lstrip=True), AddedToken("<n>", rstrip=True), AddedToken("a b")],
        decoder=decoders.ByteLevel(),
    ),
}


@cache
def foreign(kind: str) -> tokenizers.Tokenizer:
    return FOREIGN[kind]()


MORE = ["<tool>", " <m> ", " <n> ", "<|end|>", " ox ", "quick", "a b", "\n", " ", "word", "[CLS]"]


@pytest.mark.parametrize("kind", FOREIGN)
def test_tokenizers_of_each_kind_equal_tokenizers(kind):
    theirs = foreign(kind)
    ours = cantle.Tokenizer.from_object(theirs)
    rng = random.Random(5)
    texts = ["".join(rng.choices(MORE, k=rng.randrange(1, 15))) for _ in range(500)]
    assert_equal_to_tokenizers(ours, theirs, [*texts, *NASTY[::5]])


@pytest.mark.parametrize("kind", [*FOREIGN, "minilm"])
def test_long_texts_equal_tokenizers(kind):
    """Long enough to be encoded in pieces, of 32 kB each, with all that could stand at a cut."""
    theirs = tokenizers.Tokenizer.from_file(str(MINILM)) if kind == "minilm" else foreign(kind)
    ours = cantle.Tokenizer.from_object(theirs)
    rng = random.Random(7)
    parts = [*MORE, *NASTY[::50], *ALPHABETS["words"], " ", "\n"]
    texts = [
        "".join(rng.choices(parts, k=8_000)),
        builders.prose(2_000) * (50 if SLOW else 12),
        "\u6f22\u5b57\u3002\n" * 8_000,
    ]
    for text in texts:
        reference = ordinary(theirs).encode(text, add_special_tokens=False)
        assert ours.encode(text).ids.tolist() == reference.ids
        assert ours.count(text) == len(reference.ids)
        if kind in ("gpt2", "llama3"):
            to_byte = [0]
            for character in text:
                to_byte.append(to_byte[-1] + len(character.encode()))
            for end, (_, char_end) in zip(
                ours.offsets(text).tolist(), reference.offsets, strict=True
            ):
                assert to_byte[max(char_end - 1, 0)] < end <= to_byte[char_end]


CRATE = "tokenizers crate (its pre-tokenizer has no scanner); "


@pytest.mark.parametrize(
    ("kind", "engine"),
    [
        ("gpt2", "BPE, ByteLevel with the gpt2 pattern: own engine"),
        ("llama3", "BPE, Split by the llama3 pattern + ByteLevel: own engine"),
        ("nfc", "BPE, ByteLevel with the gpt2 pattern: own engine"),
        ("metaspace", "Unigram, WhitespaceSplit + Metaspace: own engine"),
        ("added that strip", "BPE, ByteLevel with the gpt2 pattern: own engine"),
        (
            "gpt2 with a prefix",
            f"BPE, ByteLevel with the gpt2 pattern: {CRATE}long texts are encoded in pieces",
        ),
    ],
)
def test_the_engine_says_which_road_is_taken(kind, engine):
    assert cantle.Tokenizer.from_object(foreign(kind)).engine == engine


def test_the_engine_says_where_no_cut_is_certain():
    file = json.loads(foreign("gpt2").to_str()) | {"pre_tokenizer": None}
    whole = f"BPE, no pre-tokenizer: {CRATE}no cut is certain, so each text is encoded whole"
    assert cantle.Tokenizer.from_json(json.dumps(file)).engine == whole


def test_engines_of_names():
    p50k, minilm = map(cantle.Tokenizer.from_name, ("p50k_edit", "minilm"))
    assert p50k.engine == "byte-level BPE, gpt2 pattern: own engine"
    assert minilm.engine == "WordPiece, BertPreTokenizer: own engine"


@pytest.mark.parametrize("call", ["count", "encode", "split"])
def test_ctrl_c_ends_a_long_encoding(call):
    """Seconds of work in one text; it was once asked before and after only."""
    tokenizer = cantle.Tokenizer.from_object(foreign("gpt2 with a prefix"))
    before = tokenizer.count("as good as before")
    work = (
        cantle.Recursive(200, unit=tokenizer).split if call == "split" else getattr(tokenizer, call)
    )
    text = builders.prose(2_000) * 10_000
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    # A process that was started in the background may have been told to ignore the signal.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work(text)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert time.monotonic() - started < 1.3
    timer.join()
    assert tokenizer.count("as good as before") == before
