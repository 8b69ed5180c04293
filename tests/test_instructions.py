"""Counted instructions: what is compared with the record, and what fails. Nothing is measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import instructions

TOOLS = {"machine": "x86_64", "rustc": "1.0.0", "valgrind": "3.0"}
RECORD = {"schema": instructions.SCHEMA, "tools": TOOLS, "kernels": {"a": 1000, "b": 1000}}


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Run the command over counts that are given; return the record's path."""
    path = tmp_path / "record" / "instructions.json"
    monkeypatch.setattr(instructions, "RECORD", path)
    monkeypatch.setattr(instructions.shutil, "which", lambda _: "valgrind")
    monkeypatch.setattr(instructions, "built", lambda: "kernels")
    monkeypatch.setattr(instructions, "tools", lambda: TOOLS)

    def called(counts: dict[str, int], record: object = None, *arguments: str) -> Path:
        if record is not None:
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(record), "utf-8")
        monkeypatch.setattr(instructions, "run", lambda *_: "\n".join(counts))
        monkeypatch.setattr(instructions, "counted", lambda _, kernel: counts[kernel])
        instructions.main([*arguments])
        return path

    return called


def test_within_the_tolerance_and_below_nothing_fails(
    call: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    call({"a": 1029, "b": 500, "c": 7}, RECORD)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["a", "1,029", "+2.90%"], ["b", "500", "-50.00%"], ["c", "7", "new"]]


def test_beyond_the_tolerance_it_fails_and_names_the_kernel(call: Callable[..., Path]) -> None:
    with pytest.raises(SystemExit, match=r"^more than 3% beyond the record: b \+3\.10%\. If"):
        call({"a": 1000, "b": 1031}, RECORD)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (None, "there is no record: nothing is compared"),
        (RECORD | {"tools": TOOLS | {"rustc": "1.1.0"}}, "of rustc 1.1.0, here 1.0.0: nothing"),
        (RECORD | {"schema": 0}, "the record is of schema 0, not 1: nothing is compared"),
    ],
)
def test_other_tools_are_told_and_not_compared(
    call: Callable[..., Path], capsys: pytest.CaptureFixture[str], record: object, why: str
) -> None:
    call({"a": 9999}, record)
    out = capsys.readouterr().out
    assert why in out
    assert "%" not in out


def test_a_record_is_written_whatever_the_old_one_says(call: Callable[..., Path]) -> None:
    path = call({"a": 5000, "c": 1}, RECORD, "--record")
    assert json.loads(path.read_text("utf-8")) == RECORD | {"kernels": {"a": 5000, "c": 1}}


def test_the_record_of_the_repository_is_whole() -> None:
    record = json.loads(instructions.RECORD.read_text("utf-8"))
    assert record["schema"] == instructions.SCHEMA
    assert {"machine", "features", "libc", "rustc", "valgrind"} == set(record["tools"])
    source = (instructions.ROOT / "rust" / "benches" / "kernels.rs").read_text("utf-8")
    assert [name for name in record["kernels"] if f'"{name}"' not in source] == []


def test_without_valgrind_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions.shutil, "which", lambda _: None)
    with pytest.raises(SystemExit, match="valgrind is not there"):
        instructions.main([])
