"""`-o FOLDER/`: parts that a stopped run goes on from; nothing is lost and nothing comes twice."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cantle
from cantle.cli import arrow_reading, cutting, parts
from cli_runs import Result, cli, write
from conftest import SLOW

ARGUMENTS = ("d", "--size", "4", "--unit", "words", "-o", "out/")


@pytest.fixture(autouse=True)
def _here(in_own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make five inputs, and parts and batches that are smaller than they are."""
    monkeypatch.setattr(parts, "_BYTES", 300)
    monkeypatch.setattr(cutting, "_DOCUMENTS", 4)
    monkeypatch.setattr(arrow_reading, "ROWS", 4)
    write("d/a.jsonl", "".join(f'{{"text": "a{i} two three four five"}}\n' for i in range(30)))
    write("d/b.csv", "text\n" + "".join(f"b{i} two three four five\n" for i in range(30)))
    pq.write_table(pa.table({"text": [f"c{i} two three four" for i in range(30)]}), "d/c.parquet")
    for i in range(9):
        write(f"d/d{i}.txt", f"d{i} two three four five " * i)
    write("d/empty.csv", "")


def rows(folder: str = "out") -> list[dict[str, Any]]:
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".parquet"):
            found += pq.read_table(f"{folder}/{name}").to_pylist()
    return sorted(found, key=lambda row: (row["source"], row["ordinal"]))


def expected() -> list[dict[str, Any]]:
    assert cli(*ARGUMENTS[:-1], "one.parquet", "--quiet").status in (0, 1)
    found = pq.read_table("one.parquet").to_pylist()
    return sorted(found, key=lambda row: (row["source"], row["ordinal"]))


def listed() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("out/manifest.jsonl").read_bytes().splitlines()][1:]


def stopped_after(calls: int, monkeypatch: pytest.MonkeyPatch, *more: str) -> Result:
    """Run until the batch of that number."""
    cut = cantle.Recursive.split_all
    seen = []

    def interrupt(self: Any, *arguments: Any, **rest: Any) -> cantle.Chunks:
        seen.append(1)
        if len(seen) > calls:
            raise KeyboardInterrupt
        return cut(self, *arguments, **rest)

    with monkeypatch.context() as patch:
        patch.setattr(cantle.Recursive, "split_all", interrupt)
        return cli(*ARGUMENTS, *more)


def test_a_run_fills_the_folder_and_a_second_one_finds_all_done() -> None:
    assert cli(*ARGUMENTS).status == 0
    assert rows() == expected()
    names = sorted(os.listdir("out"))
    assert names == ["manifest.jsonl", *(part["part"] for part in listed())]
    assert len(names) > 5
    before = {name: Path(f"out/{name}").read_bytes() for name in names}
    again = cli(*ARGUMENTS)
    assert (again.status, again.err[:12]) == (0, "0 documents,")
    assert {name: Path(f"out/{name}").read_bytes() for name in sorted(os.listdir("out"))} == before


@pytest.mark.parametrize("calls", [0, 1, 2, 3, 5, 8, 13, 20, 25])
def test_a_stopped_run_goes_on(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped_after(calls, monkeypatch)
    assert result.status == 130
    assert result.err == "cantle: interrupted; the same call goes on from the parts in out/\n"
    assert not [name for name in os.listdir("out") if name.endswith(".tmp")]
    done = len(rows())
    stopped_after(2, monkeypatch)
    assert len(rows()) >= done
    assert cli(*ARGUMENTS).status == 0
    assert rows() == expected()


def test_every_run_takes_a_few_documents() -> None:
    runs = 0
    while not cli(*ARGUMENTS, "--limit", "7").err.startswith("0 documents"):
        runs += 1
        assert runs < 30
    assert rows() == expected()
    assert runs == 15  # 99 documents.


def test_a_changed_input_is_cut_anew_and_what_shares_its_parts() -> None:
    cli(*ARGUMENTS)
    touched = [p["part"] for p in listed() if {"d3.txt", "d7.txt"} & {e["id"] for e in p["inputs"]}]
    kept = {p["part"] for p in listed()} - set(touched)
    stamps = {name: os.stat(f"out/{name}").st_mtime_ns for name in kept}
    write("d/d3.txt", "other words that are here now")
    write("d/new.txt", "new words that are here now")
    os.unlink(f"out/{touched[-1]}")
    assert cli(*ARGUMENTS).status == 0
    assert rows() == expected()
    assert len(kept) > 5
    assert {name: os.stat(f"out/{name}").st_mtime_ns for name in kept} == stamps
    assert cli(*ARGUMENTS).err.startswith("0 documents")


@settings(
    max_examples=300 if SLOW else 12, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_parts_that_are_lost_come_again_and_nothing_comes_twice(data: st.DataObject) -> None:
    if not os.path.exists("whole"):
        cli(*ARGUMENTS, "--quiet")
        os.rename("out", "whole")
    shutil.rmtree("out", ignore_errors=True)
    shutil.copytree("whole", "out")
    names = [part["part"] for part in listed()]
    for name in data.draw(st.sets(st.sampled_from(names))):
        os.unlink(f"out/{name}")
    cli(*ARGUMENTS, "--limit", str(data.draw(st.integers(1, 30))), "--quiet")
    assert cli(*ARGUMENTS, "--quiet").status == 0
    assert rows() == expected()
    assert cli(*ARGUMENTS).err.startswith("0 documents")


def test_a_part_without_a_line_is_none_and_a_half_line_is_no_line() -> None:
    cli(*ARGUMENTS)
    lines = Path("out/manifest.jsonl").read_bytes().splitlines(keepends=True)
    write("out/manifest.jsonl", b"".join(lines[:3]) + lines[3][:20])
    write("out/part-00099.parquet", b"half")
    assert cli(*ARGUMENTS).status == 0
    assert rows() == expected()


def test_a_bad_row_is_told_once_and_a_broken_file_in_every_run() -> None:
    write("d/a.jsonl", '{"text": "one"}\n{"no": 1}\n{"text": "three"}\n')
    write("d/b.csv", 'text\none\n"two')
    first = cli(*ARGUMENTS)
    second = cli(*ARGUMENTS)
    row = "cantle: skipped d/a.jsonl:2: no column 'text' (its columns: 'no')"
    rest = "cantle: skipped d/b.csv:3: invalid CSV (a quote is not closed; the rest of the file is "
    assert (first.status, first.problems) == (1, [row, f"{rest}not read)"])
    assert (second.status, second.problems) == (1, [f"{rest}not read)"])
    write("d/b.csv", 'text\none\n"two"\n')
    assert cli(*ARGUMENTS).problems == [row]  # It shares a part with the file that has changed.
    assert rows() == expected()


def test_an_output_inside_an_input_is_no_input() -> None:
    arguments = (*ARGUMENTS[:-1], "d/out/")
    assert cli(*arguments).status == 0
    assert cli(*arguments).err.startswith("0 documents")
    assert len(rows("d/out")) > 100


def wrong(*more: str) -> str:
    result = cli(*ARGUMENTS, *more)
    assert result.status == 2
    return result.err


def test_a_folder_that_is_not_ours_is_left_alone() -> None:
    cli(*ARGUMENTS)
    before = sorted(os.listdir("out"))
    other = "cantle: cannot write out/: it holds chunks that were cut with other settings\n"
    assert wrong("--overlap", "1") == other
    assert wrong("--carry", "x") == other
    assert sorted(os.listdir("out")) == before
    write("out/manifest.jsonl", b"\xff\n")
    assert wrong() == "cantle: cannot write out/: its manifest.jsonl cannot be read\n"
    os.rename("out/manifest.jsonl", "out/x")
    assert wrong() == "cantle: cannot write out/: it is not empty, and has no manifest.jsonl\n"
    assert len(os.listdir("out")) == len(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "-o", "out/"), "out/: what came on standard input does not come again"),
        (("d", "-o", "d/d1.txt/"), "d/d1.txt/: it is no folder"),
        (("d", "-o", "no/out/"), "no/out/: there is no folder no"),
    ],
)
def test_a_folder_that_cannot_be(arguments: tuple[str, ...], message: str) -> None:
    result = cli(*arguments)
    assert (result.status, result.err) == (2, f"cantle: cannot write {message}\n")
    assert os.listdir() == ["d"]


def test_a_full_disk_keeps_the_parts_that_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    sync = os.fsync
    calls = []

    def full(number: int) -> None:
        calls.append(1)
        if len(calls) > 8:
            raise OSError(28, "No space left on device")
        sync(number)

    with monkeypatch.context() as patch:
        patch.setattr("cantle.cli.target.os.fsync", full)
        result = cli(*ARGUMENTS)
    assert (result.status, result.err) == (
        1,
        "cantle: cannot write out/: No space left on device\n",
    )
    assert rows()
    assert cli(*ARGUMENTS).status == 0
    assert rows() == expected()
