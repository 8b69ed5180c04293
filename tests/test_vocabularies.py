"""Bundled vocabularies and ranks of tiktoken: names, other patterns, ranks of any kind."""

from __future__ import annotations

import base64
import pickle
import random
from functools import partial

import pytest
import tiktoken
import tiktoken.model
import tiktoken_ext.openai_public as openai_public

import cantle
import samples
from cantle import names, units
from samples import patterned
from tokens_oracle import assert_equal_to_tiktoken, random_strings

NASTY = random_strings()[::2]
"""10,000 strings."""


def ranks_text(ranks: dict[bytes, int]) -> bytes:
    lines = sorted((rank, token) for token, rank in ranks.items())
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in lines)


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
