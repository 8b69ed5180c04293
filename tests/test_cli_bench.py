"""`cantle bench`: what it counts, compares, tells and writes. What a clock says is not looked at.

Most tests measure in this process; a few, which say so, in processes of their own as users do.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import cantle
from cantle.bench import measure, peers, rounds
from cantle.bench.peers import Library, Peer
from cantle.bench.plot import svg
from cantle.bench.table import markdown
from cantle.strategies import Splitting
from cli_runs import TEXT, Result, cli, write
from processes import environment
from test_bench_peers import broken

WORDS = "--units=words"
QUICK = ("--rounds", "1", "--threads", "1")


def bench(*arguments: str | Path, **options: Any) -> Result:
    return cli(*arguments, command="bench", **options)


pytestmark = pytest.mark.usefixtures("in_own_folder")


@pytest.fixture
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "in_a_process", lambda request, timeout: measure.measure(request))


here = pytest.mark.usefixtures("_in_this_process")


def written(name: str = "out.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(name).read_text(encoding="utf-8"))
    return found


# Peers of our own, which other processes find by name.


def windows(question: Splitting) -> Peer | None:
    """Answers windows of characters, one character over the limit."""
    if question.strategy != "window" or question.unit != "chars":
        return None
    size = question.size

    def cut(text: str) -> list[tuple[int, int]]:
        print("what a library prints is no answer")
        return [(at, min(at + size + 1, len(text))) for at in range(0, len(text), size + 1)]

    return Peer(cut, lambda answer: answer)


def incomplete(question: Splitting) -> Peer | None:
    """Needs a package that is not there."""
    raise ModuleNotFoundError("No module named 'nowhere'", name="nowhere")


@pytest.fixture
def add(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], None]:
    def added(name: str, adapt: Any) -> None:
        module = "pytest" if adapt else "a_module_that_is_not_there"
        # Its version is that of a package that is there.
        library = Library("pytest" if adapt else name, module, adapt)
        monkeypatch.setitem(peers.LIBRARIES, name, library)

    return added


# What is counted


@here
def test_counts_are_those_of_direct_calls() -> None:
    texts = [TEXT * 30, "Grüße 🎉 e\u0301.\r\n\r\nZweiter Absatz.\r\n" * 20, ""]
    for name, text in zip(("a.txt", "b.md", "c.txt"), texts, strict=True):
        write(f"docs/{name}", text)
    result = bench(
        "docs",
        "--strategies=recursive:20,window:30:5:chars",
        "--units=cl100k_base",
        "--threads=1,2",
        "--rounds=2",
        "--json=out.json",
    )
    told = written()
    assert (result.status, told["schema"]) == (0, 1)
    size = sum(len(text.encode()) for text in texts)
    corpus = told["corpus"]
    assert (corpus["documents"], corpus["bytes"]) == (3, size)
    assert corpus["longest_bytes"] == max(len(text.encode()) for text in texts)
    expected = [cantle.Recursive(20), cantle.Window(30, 5, "chars")]
    assert [s["fingerprint"] for s in told["strategies"]] == [s.fingerprint for s in expected]
    tokenizer = cantle.Tokenizer.from_name("cl100k_base")
    tokens = sum(tokenizer.count(text) for text in texts)
    rows = iter(told["results"])
    for strategy in expected:
        for threads in (1, 2):
            row = next(rows)
            assert row["library"] == "cantle"
            assert row["fingerprint"] == strategy.fingerprint
            assert row["threads"] == threads
            assert row["chunks"] == len(strategy.split_all(texts))
            assert (row["documents"], row["bytes"]) == (3, size)
            assert (row["faults"], row["failed"]) == ({}, None)
            assert row["tokens"] == (tokens if strategy.unit == "cl100k_base" else None)
            assert len(row["seconds_of_rounds"]) == 2
            assert row["seconds"] == min(row["seconds_of_rounds"])
            assert row["mb_per_second"] == pytest.approx(size / 1e6 / row["seconds"])
            assert row["chunks_per_second"] == pytest.approx(row["chunks"] / row["seconds"])
            assert row["documents_per_second"] == pytest.approx(3 / row["seconds"])
            assert 0 < row["p50_seconds"] <= row["p99_seconds"]
            assert (row["tokenizer_share"] is None) == (strategy.unit == "chars")
    assert next(rows, None) is None


KEYS = {
    "library",
    "version",
    "strategy",
    "fingerprint",
    "unit",
    "threads",
    "documents",
    "bytes",
    "chunks",
    "seconds",
    "seconds_of_rounds",
    "cpu_seconds",
    "cpu_seconds_of_rounds",
    "spread",
    "mb_per_second",
    "documents_per_second",
    "chunks_per_second",
    "p50_seconds",
    "p99_seconds",
    "peak_bytes",
    "tokens",
    "tokenizer_share",
    "cantle_is_faster_by",
    "faults",
    "failed",
}


@here
def test_keys_are_the_documented_ones(add: Callable[[str, Any], None]) -> None:
    write("a.txt")
    add("fake", windows)
    bench("a.txt", "--units=chars", "--against=fake", "--json=out.json", *QUICK)
    told = written()
    assert {result["library"] for result in told["results"]} == {"cantle", "pytest"}
    assert all(set(result) == KEYS for result in told["results"])
    page = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text(encoding="utf-8")
    for key in [*told, *told["corpus"], *told["machine"], *KEYS]:
        assert f"`{key}`" in page, key


@here
def test_a_table_to_paste() -> None:
    write("docs/a.txt")
    write("docs/b.txt")
    result = bench("docs", "--strategies=window:5,recursive:5,min_size=2", WORDS, *QUICK)
    head, lines = result.out.split("\n\n", 1)
    assert head.startswith("2 documents of 0.00 MB, best of 1.")
    assert f"cantle {cantle.__version__}, python " in head
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines()]
    assert [row[0] for row in rows[2:]] == ["window:5", "recursive:5,min_size=2"]
    column = rows[0].index("chunks")
    texts = [TEXT, TEXT]
    assert rows[2][column] == str(len(cantle.Window(5, unit="words").split_all(texts)))
    assert "library" not in rows[0]
    assert "faults" not in rows[0]
    assert len({len(line) for line in lines.splitlines()}) == 1
    assert re.fullmatch(r"[|\-: ]+", lines.splitlines()[1])
    assert "2 measurements" not in result.out
    assert "4 measurements in " in result.err


@here
def test_rows_of_tables_are_documents_and_the_limit_holds() -> None:
    write("a.jsonl", "".join(json.dumps({"body": TEXT, "key": i}) + "\n" for i in range(5)))
    columns = ("--column=body", "--id-column=key")
    assert bench("a.jsonl", *columns, "--limit=3", WORDS, "--json=out.json", *QUICK).status == 0
    assert written()["corpus"]["documents"] == 3
    assert written()["corpus"]["limited"] is True
    data = Path("a.jsonl").read_text(encoding="utf-8")
    assert bench("-", *columns, WORDS, "--json=out.json", *QUICK, stdin=data).status == 0
    assert written()["corpus"]["documents"] == 5


@here
def test_what_cannot_be_read_is_named_and_the_rest_is_measured() -> None:
    write("a.jsonl", '{"text": "one two"}\n{"text": "\\ud800"}\nnonsense\n')
    result = bench("a.jsonl", "missing.txt", WORDS, "--json=out.json", *QUICK)
    assert result.status == 1
    assert result.problems == [
        "cantle: skipped missing.txt: no such file or folder",
        "cantle: skipped a.jsonl:3: invalid JSON (Expecting value, column 1)",
        "cantle: skipped a.jsonl:2: cannot be cut (a lone surrogate at character 0)",
    ]
    assert written()["corpus"]["documents"] == 1
    assert sum(written()["corpus"]["skipped"].values()) == 3


@here
def test_answers_that_differ_between_threads_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(request: measure.Request, timeout: float | None) -> measure.Answer:
        answer = measure.measure(request)
        return answer | ({"hash": "another"} if request.threads == 2 else {})

    monkeypatch.setattr(rounds, "in_a_process", run)
    write("a.txt")
    arguments = ("--strategies=window", WORDS, "--threads=1,2", "--rounds=1", "--json=out.json")
    assert bench("a.txt", *arguments).status == 1
    assert [row["faults"] for row in written()["results"]] == [{}, {"answers_differ": 1}]


# Other libraries


def test_a_peer_over_the_limit_is_marked_in_a_process_of_its_own(
    add: Callable[[str, Any], None],
) -> None:
    text = "abcdefghij" * 10
    write("a.txt", text)
    add("fake", windows)
    arguments = ("--strategies=window:9,recursive:9:0:cl100k_base", "--units=chars", "--against=fa")
    result = bench("a.txt", *arguments, "--json=out.json", "--plot=out.svg", *QUICK)
    assert result.status == 0
    ours, fake, more = written()["results"]
    assert (ours["faults"], more["faults"], more["library"]) == ({}, {}, "cantle")
    assert ours["chunks"] == len(cantle.Window(9, unit="chars").split(text))
    assert more["chunks"] == len(cantle.Recursive(9).split(text))
    assert more["tokens"] == cantle.Tokenizer.from_name("cl100k_base").count(text)
    assert (fake["library"], fake["version"]) == ("pytest", pytest.__version__)
    assert fake["chunks"] == 10
    assert fake["faults"] == {"over_limit": 10}
    assert fake["cantle_is_faster_by"] == pytest.approx(fake["seconds"] / ours["seconds"])
    assert written()["unanswered"] == [
        {"library": "pytest", "strategy": "recursive:9", "unit": "cl100k_base"}
    ]
    assert "| 10 chunks over the limit |" in result.out
    assert "pytest does not answer recursive:9 cl100k_base" in result.err
    assert "10 chunks over the limit" in Path("out.svg").read_text(encoding="utf-8")


@here
def test_a_peer_that_fails_is_named_and_the_rest_is_measured(
    add: Callable[[str, Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(request: measure.Request, timeout: float | None) -> measure.Answer:
        try:
            return measure.measure(request)
        except ValueError as error:
            raise measure.Failed(f"ValueError: {error}") from None

    monkeypatch.setattr(rounds, "in_a_process", run)
    write("a.txt")
    add("one", broken)
    add("two", incomplete)
    arguments = ("--strategies=window:9", WORDS, "--json=out.json", "--plot=a.html", *QUICK)
    assert bench("a.txt", *arguments, "--against=one,two").status == 1
    ours, one, two = written()["results"]
    assert ours["failed"] is None
    assert (one["failed"], one["chunks"]) == ("ValueError: no such luck", None)
    assert (two["failed"], two["seconds"]) == ("it needs more: pip install nowhere", None)


@here
def test_a_peer_that_is_not_installed_is_named(add: Callable[[str, Any], None]) -> None:
    write("a.txt")
    add("absent", None)
    result = bench("a.txt", WORDS, "--against=absent", "--quiet", "--json=out.json", *QUICK)
    assert result.status == 1
    assert result.err == "cantle: absent is not installed: pip install absent\n"
    assert written()["not_installed"] == ["absent"]
    assert {row["library"] for row in written()["results"]} == {"cantle"}


@here
def test_peers_have_a_thread_to_be_compared_with(add: Callable[[str, Any], None]) -> None:
    write("a.txt")
    add("fake", windows)
    arguments = ("--units=chars", "--strategies=window", "--threads=2", "--rounds=1")
    bench("a.txt", *arguments, "--against=fake", "--json=out.json")
    assert [row["threads"] for row in written()["results"]] == [1, 2, 1]


# What is written


@here
@pytest.mark.parametrize("name", ["out.svg", "OUT.SVG"])
def test_a_plot_is_well_formed(name: str) -> None:
    write("a.txt")
    assert bench("a.txt", WORDS, "--plot", name, *QUICK).status == 0
    root = ElementTree.parse(name).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    bars = [node for node in root.iter() if node.get("class") == "ours" and "width" in node.attrib]
    assert len(bars) == 3
    words = "".join(root.itertext())
    assert all(name in words for name in ("recursive:512, words", "sentence:512", "1 thread"))


@here
def test_a_plot_in_a_page() -> None:
    write("a.txt")
    assert bench("a.txt", WORDS, "--plot=out.html", *QUICK).status == 0
    page = Path("out.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])


def test_what_a_plot_says_is_no_markup() -> None:
    result = dict.fromkeys(KEYS) | {
        "library": "<a&b>",
        "strategy": "<s>",
        "unit": "&",
        "threads": 1,
        "faults": {},
        "failed": "<no> & \"'",
        "mb_per_second": 1.0,
    }
    drawn = svg([result], "<title>", "a < b")
    assert "<a&b>" in "".join(ElementTree.fromstring(drawn).itertext())


def test_a_cell_of_markdown_holds_no_bar() -> None:
    assert (
        markdown(["a", "n"], [["x|y", "1"]]) == "| a    |   n |\n| ---- | --: |\n| x\\|y |   1 |\n"
    )


# Wrong calls

WRONG = [
    (["--strategies=windo"], "--strategies: strategy ('windo') must be one of"),
    (["--strategies=window:0"], "--strategies: size (0) must be"),
    (["--strategies=,"], "--strategies: strategy ('') must be one of"),
    (["--units=word"], "--units: unit ('word') must be one of"),
    (["--units=no.json"], "--units: cannot read no.json: No such file or directory"),
    (["--units="], "--units ('') names none"),
    (["--units='a"], '--units ("\'a"): a quote is not closed'),
    (["--threads=x"], "--threads ('x') must be whole numbers from 0 to 4096"),
    (["--threads=1,-2"], "--threads ('-2') must be whole numbers from 0 to 4096"),
    (["--size=3", "--overlap=3"], "--strategies: overlap (3) must be smaller than size (3)"),
    (["--against=chunkwise"], "--against ('chunkwise') must be all or one of blazechunk, "),
    (["--against=sem"], "--against ('sem') must be all or one of blazechunk, "),
    (["--format=pdf"], "--format ('pdf') must be one of"),
    (["--plot=a.png"], "--plot ('a.png') must end in .svg or .html"),
    (["--plot=a.txt"], "cannot write a.txt: it is also an input"),
    (["--json=no/out.json"], "cannot write no/out.json: there is no folder no"),
    (["--json=no/"], "cannot write no/: it is a folder"),
    (["--json=x.svg", "--plot=x.svg"], "cannot write x.svg: it is also the JSON"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_call_ends_with_2_and_one_line(arguments: list[str], message: str) -> None:
    write("a.txt")
    result = bench("a.txt", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"cantle: {message}")
    assert result.err.count("\n") == 1
    assert os.listdir() == ["a.txt"]


def test_the_usage_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    from cantle.cli.app import run

    assert run(["bench", "a.txt", "--rounds", "x"]) == 2
    assert "Try 'cantle bench --help'." in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "", " "], ids=["missing", "empty", "blank"])
@here
def test_a_corpus_without_text(content: str | None) -> None:
    if content is not None:
        write("a.txt", content)
    result = bench("a.txt", WORDS, *QUICK)
    if content == " ":
        assert result.status == 0
        return
    assert (result.status, result.out) == (1, "")
    assert result.problems[-1] == "cantle: nothing to measure: there is no document with a text"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    write("a.txt", TEXT * 1000)
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "cantle", "bench", "a.txt", "--rounds=1000", "--json=out.json"],
        env=environment() | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not list(folder.glob("cantle-*/sizes.npy")) and process.poll() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "cantle: interrupted\n")
    assert list(folder.iterdir()) == []
    assert not Path("out.json").exists()
