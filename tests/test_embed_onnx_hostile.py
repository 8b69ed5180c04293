"""Folders of ONNX models: how they pool, and what is wrong with them, by models of one lookup."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest

import cantle
import onnx_folder
from cantle.embed import Onnx

pytest.importorskip("onnxruntime")

TEXTS = ["the cat sat", "", "a dog", "the the the the the the the the the the the the dog"]
MEAN, CLS = "pooling_mode_mean_tokens", "pooling_mode_cls_token"
POOLING = "1_Pooling/config.json"


def unit(vector):
    return vector / np.linalg.norm(vector)


def oracle(table, tokenizer, text, pooling="mean", most=256):
    """Of a text that fits, and of one that is taken in parts."""
    ids = tokenizer.encode(text).ids
    first, *middle, last = ids
    parts = [middle[i : i + most - 2] for i in range(0, len(middle), most - 2)] or [[]]
    pooled = []
    for part in parts:
        rows = table[[first, *part, last]]
        pooled.append((unit(rows.mean(axis=0) if pooling == "mean" else rows[0]), len(rows)))
    return unit(sum(vector * n for vector, n in pooled))


@pytest.mark.parametrize(
    ("files", "pooling"),
    [
        ({}, "mean"),
        ({POOLING: {MEAN: True, CLS: False}}, "mean"),
        ({POOLING: {MEAN: False, CLS: True}}, "cls"),
        ({POOLING: {}}, "mean"),
    ],
)
@pytest.mark.parametrize(
    "inputs",
    [("input_ids",), ("input_ids", "attention_mask"),
     ("input_ids", "attention_mask", "token_type_ids")],
)  # fmt: skip
def test_vectors_are_pooled_as_the_folder_says(tmp_path, files, pooling, inputs):
    table, tokenizer = onnx_folder.write(tmp_path / "m", inputs=inputs, files=files)
    found = Onnx(tmp_path / "m")(TEXTS)
    assert found.dtype == np.float32
    want = [oracle(table, tokenizer, text, pooling) for text in TEXTS]
    assert np.allclose(found, want, atol=1e-6)


@pytest.mark.parametrize("most", [8, 9, 12])
@pytest.mark.parametrize("way", ["argument", "sentence_bert_config.json", "config.json"])
def test_a_limit_is_kept_and_nothing_lost(tmp_path, most, way):
    key = {"config.json": "max_position_embeddings"}.get(way, "max_seq_length")
    files = {} if way == "argument" else {way: {key: most}}
    table, tokenizer = onnx_folder.write(tmp_path / "m", files=files)
    found = Onnx(tmp_path / "m", max_tokens=most if way == "argument" else None)(TEXTS)
    assert np.allclose(found, [oracle(table, tokenizer, t, most=most) for t in TEXTS], atol=1e-6)


def test_a_model_may_pool_itself(tmp_path):
    table, tokenizer = onnx_folder.write(tmp_path / "m", pooled=True)
    found = Onnx(tmp_path / "m")(TEXTS[:3])
    assert np.allclose(
        found, [unit(table[tokenizer.encode(text).ids[0]]) for text in TEXTS[:3]], atol=1e-6
    )


@pytest.mark.parametrize(
    ("files", "inputs", "message"),
    [
        ({POOLING: {MEAN: True, CLS: True}}, None, "its pooling is neither mean nor cls alone"),
        ({POOLING: {"pooling_mode_max_tokens": True}}, None, "its pooling is neither mean nor cls"),
        ({POOLING: "{not"}, None, "config.json: no JSON ("),
        ({POOLING: "[" * 100_000}, None, "config.json: no JSON ("),
        ({"sentence_bert_config.json": {"max_seq_length": "x"}}, None,
         "max_seq_length ('x') must be a whole number of at least 8"),
        ({"sentence_bert_config.json": {"max_seq_length": 2}}, None,
         "max_seq_length (2) must be a whole number of at least 8"),
        ({"model.onnx": "no model"}, None, "model.onnx: no model that onnxruntime runs ("),
        ({"tokenizer.json": "{}"}, None, "tokenizer.json: no tokenizer ("),
        ({}, ("input_ids", "position_ids"), "the input 'position_ids' is none of input_ids, atten"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_folder_is_told(tmp_path, files, inputs, message):
    onnx_folder.write(tmp_path / "m", files=files, inputs=inputs or ("input_ids",))
    with pytest.raises(cantle.SettingError) as caught:
        Onnx(tmp_path / "m")(TEXTS)
    assert message in str(caught.value)


def _sum_of(folder, queue):
    queue.put(float(Onnx(folder)(TEXTS).sum()))


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_a_session_of_its_own(tmp_path):
    """The threads of a session are not there behind a fork: the child once waited for ever."""
    onnx_folder.write(tmp_path / "m")
    want = float(Onnx(tmp_path / "m")(TEXTS).sum())
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    child = fork.Process(target=_sum_of, args=(tmp_path / "m", queue))
    child.start()
    try:
        assert queue.get(timeout=60) == want
    finally:
        child.kill()
        child.join()
