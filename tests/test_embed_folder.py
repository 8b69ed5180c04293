"""Folders of model2vec, against its own arithmetic written out slowly."""

from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
import samples
from cantle.embed import Model2Vec, Onnx
from cantle.embed.door import identity
from cantle.embed.named import resolve
from cases import builders

KINDS = {"<f2": "F16", "<f4": "F32", "<f8": "F64", "|i1": "I8", "<i8": "I64", "<i4": "I32"}
TEXTS = [
    "Warm the pot.",
    "",
    "caf\u00e9 \u6f22\u5b57 \U0001f600",
    " ",
    "the quick brown fox " * 300,
    "\u2603\u2603",
    "[UNK] </s>",
]


def safetensors(**arrays):
    """Write tables as safetensors does, by hand."""
    head, data = {"__metadata__": {"a": "b"}}, b""
    for name, table in arrays.items():
        array = np.ascontiguousarray(table)
        span = [len(data), len(data) + array.nbytes]
        kind = KINDS[array.dtype.str]
        head[name] = {"dtype": kind, "shape": array.shape, "data_offsets": span}
        data += array.tobytes()
    told = json.dumps(head).encode()
    return len(told).to_bytes(8, "little") + told + data


def folder(path, tokenizer, config=None, **arrays):
    path.mkdir(parents=True, exist_ok=True)
    (path / "tokenizer.json").write_text(tokenizer.to_str(), "utf-8")
    (path / "model.safetensors").write_bytes(safetensors(**arrays))
    if config is not None:
        (path / "config.json").write_text(json.dumps(config))
    return path


def unknown_of(tokenizer):
    model = json.loads(tokenizer.to_str())["model"]
    if "unk_id" in model:
        return model["unk_id"]
    token = model.get("unk_token")
    return None if token is None else tokenizer.token_to_id(token)


def slowly(texts, tokenizer, vectors, weights=None, mapping=None, normalize=False):
    """model2vec 0.10, `StaticModel.encode` with `max_length=None`, a token at a time."""
    found, unknown = [], unknown_of(tokenizer)
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        kept = [i for i in ids if i != unknown]
        total = np.zeros(vectors.shape[1])
        for i in kept:
            row = i if mapping is None else int(mapping[i])
            total += vectors[row].astype(np.float64) * (1 if weights is None else float(weights[i]))
        mean = total / max(1, len(kept))
        length = np.linalg.norm(mean)
        found.append(mean / length if normalize and length else mean)
    return np.array(found)


@pytest.mark.parametrize("name", sorted(builders.TOKENIZERS))
@pytest.mark.parametrize("normalize", [True, False, None])
@pytest.mark.parametrize("more", ["", "weights", "mapping", "weights mapping"])
def test_vectors_are_those_of_model2vec(tmp_path, name, normalize, more):
    tokenizer = samples.foreign(name)
    tokens = max(tokenizer.get_vocab().values()) + 1
    rng = np.random.default_rng(4)
    rows = 7 if "mapping" in more else tokens
    kind = np.int8 if more == "mapping" else np.float16 if more else np.float32
    arrays = {"embeddings": (rng.standard_normal((rows, 5)) * 40).astype(kind)}
    if "weights" in more:
        arrays["weights"] = rng.random(tokens).astype(np.float64)
    if "mapping" in more:
        arrays["mapping"] = rng.integers(0, rows, tokens)
    config = {} if normalize is None else {"normalize": normalize, "max_length": 8}
    model = Model2Vec(folder(tmp_path, tokenizer, config, **arrays))
    found = model(TEXTS)
    texts = [text for text in TEXTS if "[UNK]" not in text]  # To cantle, that is ordinary text.
    want = slowly(
        texts,
        tokenizer,
        arrays["embeddings"],
        arrays.get("weights"),
        arrays.get("mapping"),
        bool(normalize),
    )
    assert found.dtype == np.float32
    assert found.shape == (len(TEXTS), 5)
    assert np.allclose(found[: len(texts)], want, atol=1e-4 if normalize else 1e-3)
    assert not found[1].any(), "no token: the zero vector"
    assert model([]).shape == (0, 5)


@given(st.lists(samples.texts, max_size=6))
def test_a_text_counts_alone(made, texts):
    together = made(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(made([text])[0], vector)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    tokenizer = samples.foreign("wordpiece_mini")
    table = np.random.default_rng(1).standard_normal((tokenizer.get_vocab_size(), 4))
    path = tmp_path_factory.mktemp("model")
    return Model2Vec(folder(path, tokenizer, {}, embeddings=table.astype(np.float32)))


def test_the_unknown_token_counts_for_nothing(made):
    snowmen = "\u2603 \u2603"
    assert (
        samples.foreign("wordpiece_mini").encode(snowmen, add_special_tokens=False).tokens
        == ["[UNK]"] * 2
    )
    assert not made([snowmen])[0].any()
    assert np.array_equal(*made(["the a", f"the {snowmen} a"]))


def test_other_layouts_are_read(tmp_path):
    tokenizer = samples.foreign("wordpiece_mini")
    table = np.random.default_rng(2).standard_normal((tokenizer.get_vocab_size(), 4))
    vectors = {"embedding.weight": table.astype(np.float32)}
    folder(tmp_path / "0_StaticEmbedding", tokenizer, **vectors)
    text = ["the a fox"]
    plain = slowly(text, tokenizer, table)
    assert np.allclose(Model2Vec(tmp_path)(text), plain, atol=1e-5)
    (tmp_path / "modules.json").write_text(
        json.dumps([{"type": "sentence_transformers.models.Normalize"}])
    )
    want = slowly(text, tokenizer, table, normalize=True)
    assert np.allclose(Model2Vec(tmp_path)(text), want, atol=1e-5)
    assert resolve(str(tmp_path)) == Model2Vec(str(tmp_path))


def test_a_folder_is_told_by_what_it_holds(tmp_path):
    tokenizer = samples.foreign("wordpiece_mini")
    table = np.zeros((tokenizer.get_vocab_size(), 4), np.float32)
    static = folder(tmp_path / "static", tokenizer, {}, embeddings=table)
    # model2vec exports the same vectors to ONNX, and writes them beside.
    (static / "onnx").mkdir()
    (static / "onnx" / "model.onnx").write_bytes(b"")
    assert resolve(str(static)) == Model2Vec(str(static))
    run = folder(tmp_path / "run", tokenizer, **{"embeddings.word_embeddings.weight": table})
    with pytest.raises(cantle.SettingError, match=r"has no model\.onnx"):
        resolve(str(run))
    (run / "model.onnx").write_bytes(b"")
    assert resolve(str(run)) == Onnx(str(run))


def test_it_is_known_by_its_files(made, tmp_path):
    tokenizer = samples.foreign("wordpiece_mini")
    table = np.random.default_rng(1).standard_normal((tokenizer.get_vocab_size(), 4))
    table = table.astype(np.float32)
    same = Model2Vec(folder(tmp_path / "a", tokenizer, {}, embeddings=table))
    assert identity(same) == identity(made) == identity(pickle.loads(pickle.dumps(same)))
    other = Model2Vec(folder(tmp_path / "b", tokenizer, {"normalize": True}, embeddings=table))
    table[0, 0] += 1
    third = Model2Vec(folder(tmp_path / "c", tokenizer, {}, embeddings=table))
    assert len({identity(one) for one in (same, other, third)}) == 3
    # A folder that was written anew is read anew.
    before = same(["[CLS] the"])
    table += 1
    file = folder(tmp_path / "a", tokenizer, {}, embeddings=table) / "model.safetensors"
    os.utime(file, (1, 1))
    assert not np.array_equal(same(["[CLS] the"]), before)


def test_what_is_wrong_with_a_folder(tmp_path):
    tokenizer = samples.foreign("wordpiece_mini")
    table = np.zeros((tokenizer.get_vocab_size(), 4), np.float32)
    nothing = tmp_path / "nothing"
    with pytest.raises(cantle.SettingError) as caught:
        Model2Vec(nothing)
    assert str(caught.value) == (
        f"folder ({str(nothing)!r}) has no model.safetensors with a table 'embeddings' or "
        "'embedding.weight'"
    )
    with pytest.raises(TypeError, match=r"^folder \(3\) must be a path$"):
        Model2Vec(3)
    bare = folder(tmp_path / "bare", tokenizer, {}, embeddings=table)
    (bare / "tokenizer.json").unlink()
    with pytest.raises(cantle.SettingError, match=r"has no tokenizer\.json$"):
        Model2Vec(bare)
    short = folder(tmp_path / "short", tokenizer, {}, embeddings=table[:1])
    with pytest.raises(cantle.SettingError, match=r"token \d+ of its tokenizer has no vector$"):
        Model2Vec(short)(["the fox"])
    flat = folder(tmp_path / "flat", tokenizer, {}, embeddings=table[0])
    with pytest.raises(cantle.SettingError, match=r"no table 'embeddings' can be read \(its shape"):
        Model2Vec(flat)(["the"])
    wild = np.full(len(table), 9_999_999)
    wrong = folder(tmp_path / "wrong", tokenizer, {}, embeddings=table, mapping=wild)
    with pytest.raises(cantle.SettingError, match=r"'mapping' names rows that are not there$"):
        Model2Vec(wrong)(["the"])
    for name, data in {
        "junk": b"\xff" * 40,
        "empty": b"",
        "list": b"\2" + b"\0" * 7 + b"[]",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(data)
        with pytest.raises(cantle.SettingError, match=r"has no model\.safetensors"):
            Model2Vec(tmp_path / name)
    (bare / "tokenizer.json").write_text(tokenizer.to_str(), "utf-8")
    (bare / "config.json").write_text("{")
    with pytest.raises(cantle.SettingError, match=r"config\.json is no JSON"):
        Model2Vec(bare)(["the"])
