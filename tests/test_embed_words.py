"""Tokens by words, each encoded once, are those of whole texts."""

from __future__ import annotations

import json
import random
import threading

import pytest
import tokenizers

import cantle
from cantle.embed.words import Words, words_stand_alone

PIECES = [
    *(" ", "  ", "   ", "\u2581", "\u2581\u2581", "a", "ab", "the", "he", "t", "\n", "\t", "\xe9"),
    *("\u6f22", "\U0001f600", "\0", "\u3000", "b" * 70, " a", "b ", "ab\u2581a", "."),
]


def llama(pieces=("a", "b", "t", "h", "e", "\u2581"), merges=None, **changes):
    """A tokenizer of Llama's kind: bytes for what is not in the vocabulary, no pre-tokenizer."""
    merges = merges or [
        ("t", "h"), ("th", "e"), ("h", "e"), ("\u2581", "the"), ("\u2581", "a"), ("a", "b"),
        ("\u2581", "\u2581"), ("b", "b"), ("bb", "bb"),
    ]  # fmt: skip
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    names += [one + other for one, other in merges]
    vocab = {name: number for number, name in enumerate(dict.fromkeys(names))}
    model = tokenizers.models.BPE(
        vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True
    )
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.Sequence([
        tokenizers.normalizers.Prepend("\u2581"), tokenizers.normalizers.Replace(" ", "\u2581"),
    ])  # fmt: skip
    return made


def words_of(made, **settings) -> tuple[Words, tokenizers.Tokenizer]:
    file = made.to_str()
    return Words(cantle.Tokenizer.from_json(file), file, **settings), made


def texts(number):
    rng = random.Random(5)
    return ["", *("".join(rng.choices(PIECES, k=rng.randint(0, 9))) for _ in range(number))]


def test_tokens_are_those_of_the_whole_text():
    for settings in ({}, {"most": 30}, {"most": 0}):
        words, made = words_of(llama(), **settings)
        assert words._words is not None
        found, start = words(given := texts(2_000)), 0
        for text, end in zip(given, found[1].tolist(), strict=True):
            assert found[0][start:end].tolist() == made.encode(text).ids, repr(text)
            start = end
        assert words([])[1].tolist() == []
        assert words(["", ""])[1].tolist() == [0, 0]


@pytest.mark.parametrize(
    "change",
    [
        # A token that goes over the place where a word starts.
        lambda said: said["model"]["vocab"].update({"a\u2581": 999}),
        lambda said: said["added_tokens"].append({"content": "<a b>", "special": True}),
        lambda said: said["added_tokens"].append({"content": "ab", "special": False}),
        lambda said: said.update(pre_tokenizer={"type": "Whitespace"}),
        lambda said: said.update(normalizer=None),
        lambda said: said["normalizer"]["normalizers"].pop(),
        lambda said: said["model"].update(type="WordPiece"),
        # A text that is a token is that one, whatever is merged; a word of a longer text is not.
        lambda said: said["model"].update(ignore_merges=True),
    ],
)
def test_of_other_tokenizers_texts_are_encoded_whole(change):
    said = json.loads(llama().to_str())
    assert words_stand_alone(said)
    change(said)
    assert not words_stand_alone(said)


@pytest.mark.parametrize(
    "change",
    [
        # What the pairs alone do not tell: words are then encoded by the tokenizer.
        lambda said: said["model"].update(byte_fallback=False),
        lambda said: said["model"]["vocab"].pop("<0x41>"),
        # Of a pair that is listed twice the later place counts; two may make one token.
        lambda said: said["model"]["merges"].append(["t", "h"]),
        lambda said: said["model"]["merges"].insert(0, ["t", "he"]),
        lambda said: said["added_tokens"].append(
            {"id": 900, "content": "<s>", "special": True, "normalized": False}
            | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        ),
    ],
)
def test_words_of_other_models_are_those_of_the_whole_text(change):
    said = json.loads(llama().to_str())
    change(said)
    file = json.dumps(said)
    tokenizer = cantle.Tokenizer.from_json(file)
    words, start = Words(tokenizer, file), 0
    assert words._words is not None
    given = [*texts(400), "A the<s> the", "the thehe ab", "tthee"]
    found, ends = words(given)
    for text, end in zip(given, ends.tolist(), strict=True):
        assert found[start:end].tolist() == tokenizer._core.encode(text)[0].tolist(), repr(text)
        start = end


def test_a_merge_over_the_start_of_a_word_is_seen():
    words, made = words_of(llama(merges=[("a", "\u2581"), ("a\u2581", "a")]))
    assert words._words is None
    found, ends = words(["a a", "", "b"])
    assert found.tolist() == [*made.encode("a a").ids, *made.encode("b").ids]
    assert ends.tolist() == [len(made.encode("a a").ids)] * 2 + [len(found)]


def test_threads_share_what_is_known():
    words, made = words_of(llama())
    given = texts(500)
    want = words_of(made)[0](given)
    found: list = [None] * 8

    def work(i):
        found[i] = words(given)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for tokens, ends in found:
        assert tokens.tolist() == want[0].tolist()
        assert ends.tolist() == want[1].tolist()
