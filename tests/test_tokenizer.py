# ruff: noqa: E501  (a row of a table of errors stays on one line)
"""`Tokenizer`: where it comes from, what it counts, and when two are the same."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

import cantle
from cantle import Tokenizer
from cases import builders

CL100K = Tokenizer.from_name("cl100k_base")
WORDPIECE = builders.wordpiece_mini().to_str()


def test_bundled_vocabularies():
    assert CL100K.vocab_size == 100_256
    assert Tokenizer.from_name("o200k_base").vocab_size == 199_998
    assert CL100K.name == "cl100k_base"
    assert repr(CL100K) == "Tokenizer('cl100k_base')"


def test_count_encode_offsets_decode():
    text = "h\u00e9llo, w\u00f6rld \U0001f680"
    ids, ends = CL100K.encode(text)
    assert (ids.dtype, ends.dtype) == (np.uint32, np.int64)
    assert not ids.flags.writeable
    assert not ends.flags.writeable
    assert len(ids) == len(ends) == CL100K.count(text) == CL100K.count(text.encode())
    assert ends[-1] == len(text.encode())
    assert CL100K.decode(ids) == CL100K.decode(ids.tolist()) == text.encode()
    data, start = text.encode(), 0
    for token, end in zip(ids.tolist(), ends.tolist(), strict=True):
        assert CL100K.decode([token]) == data[start:end]
        start = end
    assert CL100K.count("") == len(CL100K.encode("").ids) == len(CL100K.offsets("")) == 0
    assert CL100K.decode([]) == b""


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("special", ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>"])
def test_special_strings_are_ordinary_text(name, special):
    tokenizer = Tokenizer.from_name(name)
    ids = tokenizer.encode(special).ids
    assert len(ids) > 1
    assert max(ids) < tokenizer.vocab_size
    assert tokenizer.decode(ids) == special.encode()


def test_special_strings_of_a_file_are_ordinary_text():
    tokenizer = Tokenizer.from_object(builders.byte_level_special())
    assert tokenizer.count("a<|endoftext|>b") == 15
    assert tokenizer.decode(tokenizer.encode("a<|endoftext|>b").ids) == b"a<|endoftext|>b"


def test_specials_count_when_asked_for():
    plain = Tokenizer.from_json(WORDPIECE)
    special = Tokenizer.from_json(WORDPIECE, count_special=True)
    assert (plain.count("hello world"), special.count("hello world")) == (2, 4)
    assert plain.count("") == special.count("") == 0
    assert np.array_equal(plain.encode("hello world"), special.encode("hello world"))
    assert plain != special
    assert special.name == f"{plain.name}+special"
    chunks = cantle.Window(4, unit=special).split("one two three four five")
    assert chunks.texts == ["one two", "three four", "five"]
    assert chunks.size.tolist() == [4, 4, 3]


class Fast:
    """What transformers' fast tokenizers look like from outside."""

    def __init__(self) -> None:
        self.backend_tokenizer = builders.wordpiece_mini()

    def __call__(self, text: str) -> None:
        raise AssertionError("a tokenizer is no callable unit")


def test_the_same_tokenizer_from_every_door(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(WORDPIECE, encoding="utf-8")
    same = [
        Tokenizer.from_json(WORDPIECE),
        Tokenizer.from_file(path),
        Tokenizer.from_file(str(path)),
        Tokenizer.from_object(builders.wordpiece_mini()),
        Tokenizer.from_object(Fast()),
        pickle.loads(pickle.dumps(Tokenizer.from_json(WORDPIECE))),
        copy.deepcopy(Tokenizer.from_json(WORDPIECE)),
    ]
    assert len(set(same)) == 1
    assert len({repr(tokenizer) for tokenizer in same}) == 1
    units = [*same, path, str(path), builders.wordpiece_mini(), Fast()]
    strategies = {cantle.Recursive(5, unit=unit) for unit in units}
    assert len(strategies) == 1
    assert len({strategy.fingerprint for strategy in strategies}) == 1
    chunks = [cantle.Recursive(5, unit=unit).split("one two three four (five)") for unit in units]
    assert all(other == chunks[0] for other in chunks)


def test_equality():
    assert Tokenizer.from_name("cl100k_base") == CL100K
    assert hash(Tokenizer.from_name("cl100k_base")) == hash(CL100K)
    assert Tokenizer.from_name("o200k_base") != CL100K
    assert Tokenizer.from_json(WORDPIECE) != Tokenizer.from_object(builders.words())
    assert CL100K != "cl100k_base"
    assert pickle.loads(pickle.dumps(CL100K)) == CL100K


BAD = [
    (lambda: Tokenizer.from_name("gpt3"), cantle.SettingError, 'no tokenizer is named "gpt3"; the names known are cl100k_base, o200k_base, o200k_harmony, gpt2, r50k_base, p50k_base, p50k_edit'),
    (lambda: Tokenizer.from_json("{}"), cantle.TokenizerError, "tokenizer.json cannot be read: Model missing. at line 1 column 2"),
    (lambda: Tokenizer.from_json("nonsense"), cantle.TokenizerError, "tokenizer.json cannot be read: expected ident at line 1 column 2"),
    (lambda: Tokenizer.from_object(7), TypeError, "tokenizer must be a tokenizers.Tokenizer, not int"),
    (lambda: Tokenizer.from_file("/no/such.json"), FileNotFoundError, "[Errno 2] No such file or directory: '/no/such.json'"),
    (lambda: CL100K.count(3), TypeError, "text must be str or UTF-8 bytes, not int"),
    (lambda: CL100K.encode(None), TypeError, "text must be str or UTF-8 bytes, not NoneType"),
    (lambda: CL100K.count("a\ud800"), cantle.TextError, "text holds a lone surrogate at character 1: it cannot be written as UTF-8"),
    (lambda: CL100K.offsets(b"ab\xff"), cantle.TextError, "text is not UTF-8: the byte 0xff at position 2 is out of place"),
    (lambda: CL100K.decode([100_255, 100_256]), cantle.TokenizerError, "100256 is no token; ids are below 100256"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_errors(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_what_is_no_token_is_named():
    tokenizer = cantle.Tokenizer.from_name("cl100k_base")
    for ids, message in [
        ([1, -1], "ids[1] (-1) is no token"),
        ([2**32], "ids[0] (4294967296) is no"),
    ]:
        with pytest.raises(cantle.TokenizerError, match=re.escape(message)):
            tokenizer.decode(ids)
    with pytest.raises(TypeError, match=re.escape("ids ('ab') must be a sequence of token ids")):
        tokenizer.decode("ab")
