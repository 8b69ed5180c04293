"""Tracked figures: what is compared, what counts as moved, what is recorded."""

from __future__ import annotations

import copy
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cantle
import figures
import track
from cantle.bench import measure, rounds

MACHINE = {"cpu": "A Processor", "architecture": "x86_64", "cores": 2}
REFERENCES = ("memcpy", "tiktoken", "tokenizers")


def told(
    ours: list[float], references: dict[str, list[float]] | None = None, **more: Any
) -> dict[str, Any]:
    """Return a run with one item; each reference takes a second unless it is told otherwise."""
    seconds = {name: [1.0] * len(ours) for name in REFERENCES} | (references or {})
    return {
        "schema": figures.SCHEMA,
        "kind": "tracked",
        "time": "2026-01-02T03:04:05+00:00",
        "commit": "0123456789",
        "machine": MACHINE,
        "versions": {"cantle": "0.1.0"},
        "texts": [{"text": "t", "hash": "h"}],
        "references": {
            name: {"version": "1", "text": "t", "cpu_seconds": seconds[name]} for name in seconds
        },
        "items": {"W1": {"text": "t", "bytes": 1000, "answer": "a", "cpu_seconds": ours}},
        **more,
    }


OLD = told([1.0, 1.1, 1.2])


@pytest.mark.parametrize(
    ("ours", "references", "apart", "slower"),
    [
        ([1.0, 1.1, 1.2], {}, False, False),
        ([1.1, 1.2, 1.3], {}, False, False),
        ([1.3, 1.4, 1.5], {}, True, True),
        ([0.7, 0.8, 0.9], {}, True, False),
        # The machine is slower, and so are the references.
        ([2.0, 2.2, 2.4], dict.fromkeys(REFERENCES, [2.0] * 3), False, False),
        # One of the references says that nothing happened.
        ([1.3, 1.4, 1.5], {"memcpy": [1.3, 1.3, 1.3]}, False, False),
        # One is slower, one is faster, than these references.
        ([1.3, 1.4, 1.5], {"memcpy": [3.0, 3.0, 3.0]}, False, False),
    ],
)
def test_what_moved_is_apart_by_every_reference(
    ours: list[float], references: dict[str, list[float]], apart: bool, slower: bool
) -> None:
    found = track.change(OLD, told(ours, references), "W1")
    assert found is not None
    assert (found.apart, found.slower) == (apart, slower)


def test_the_least_change_is_told() -> None:
    found = track.change(OLD, told([2.2, 2.2, 2.2], {"tiktoken": [1.5, 1.5, 1.5]}), "W1")
    assert found is not None
    assert found.part == pytest.approx(2.2 / 1.5 / 1.1 - 1)


def test_a_change_that_another_layout_may_make_does_not_fail() -> None:
    steady = told([1.0, 1.0, 1.0])
    for part, slower in ((1.02, False), (1.04, True)):
        found = track.change(steady, told([part] * 3), "W1")
        assert found is not None
        assert (found.apart, found.slower) == (True, slower)


def test_only_the_same_work_is_compared() -> None:
    new = told([1.3, 1.4, 1.5])
    other_text = told([1.0], texts=[{"text": "t", "hash": "another"}])
    assert track.change(other_text, new, "W1") is None
    assert track.change(told([1.0]) | {"items": {}}, new, "W1") is None
    updated = copy.deepcopy(new)
    updated["references"]["tiktoken"]["version"] = "2"
    assert track.comparable(OLD, updated) == ["memcpy", "tokenizers"]
    assert "tiktoken is another version or read another text: it is not compared with" in [
        *track.differences(OLD, updated)
    ]
    for reference in updated["references"].values():
        reference["version"] = "2"
    assert track.change(OLD, updated, "W1") is None


def test_another_answer_is_told() -> None:
    new = told([1.0])
    new["items"]["W1"]["answer"] = "b"
    new["versions"]["cantle"] = "0.2.0"
    assert list(track.differences(OLD, new)) == [
        "cantle is 0.2.0, and was 0.1.0",
        "W1: the answer is another than it was",
    ]


# Records


def test_the_last_record_of_this_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert track.last_record(tmp_path, MACHINE) is None
    for day, cores in (("02", 2), ("03", 2), ("04", 8)):
        run = told([1.0], time=f"2026-01-{day}T00:00:00+00:00", machine=MACHINE | {"cores": cores})
        figures.write(track.place(tmp_path, run), run)
    (tmp_path / "a-processor-2-cores-x86-64" / "broken.json").write_text("{", "utf-8")
    (tmp_path / "a-processor-2-cores-x86-64" / "new.json").write_text('{"schema": 99}', "utf-8")
    figures.write(tmp_path / "figures" / "peers.json", told([1.0], kind="peers", time="2027"))
    found = track.last_record(tmp_path, MACHINE)
    assert found is not None
    assert found["time"][:10] == "2026-01-03"
    assert capsys.readouterr().err.splitlines() == [
        "left out: cannot read broken.json: Expecting property name enclosed in double quotes: "
        "line 1 column 2 (char 1)",
        f"left out: new.json is of schema 99, not {figures.SCHEMA}",
    ]


def test_a_record_names_its_machine_and_commit_and_no_host(tmp_path: Path) -> None:
    run = told([1.0], commit="0123456789+")
    assert track.place(tmp_path, run).relative_to(tmp_path).as_posix() == (
        "a-processor-2-cores-x86-64/2026-01-02-0123456789-changed.json"
    )
    written = figures.figures("tracked", [], rounds=1)
    assert set(written["machine"]) == {"cpu", "architecture", "cores"}
    assert platform.node() not in json.dumps(written)


def test_the_commit_is_that_of_the_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"rev-parse": "abc", "status": ""}
    monkeypatch.setattr(figures, "_git", lambda command, *_: said[command])
    assert figures.commit() == "abc"
    said["status"] = " M rust/src/lib.rs"
    assert figures.commit() == "abc+"
    monkeypatch.setattr(figures, "_git", lambda *_: None)
    assert figures.commit() == "unknown"


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["/a/bench_x.py"], "python benches/bench_x.py"),
        (
            ["bench_x.py", "--json", "/a/b.json", "--rounds", "2"],
            "python benches/bench_x.py --rounds 2",
        ),
        (
            ["bench_x.py", "--json=/a/b.json", "--texts", "one a"],
            "python benches/bench_x.py --texts 'one a'",
        ),
    ],
)
def test_the_command_is_the_one_that_was_typed(arguments: list[str], command: str) -> None:
    assert figures.command(arguments) == command


# The command


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run the command on what measurements would give, one set after the other."""
    monkeypatch.setattr(track, "ITEMS", {"W1": None})

    def call(*sets: dict[str, Any], arguments: tuple[str, ...] = ()) -> tuple[int, str]:
        left = iter(copy.deepcopy(sets))
        keys = ("texts", "references", "items")
        monkeypatch.setattr(
            track, "taken", lambda *_: (lambda found: {key: found[key] for key in keys})(next(left))
        )
        status = track.main([*arguments, "--records", str(tmp_path)])
        assert next(left, None) is None, "fewer sets were measured than given"
        return status, capsys.readouterr().out

    return call


def test_without_a_record_nothing_is_compared(run: Callable[..., tuple[int, str]]) -> None:
    status, out = run(OLD)
    assert status == 0
    assert "there is no record of " in out
    assert "not compared" in out


def test_a_record_is_written_and_compared_with(
    run: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    assert run(OLD, arguments=("--record",))[0] == 0
    (path,) = tmp_path.glob("*/*.json")
    assert figures.read(path)["items"]["W1"]["cpu_seconds"] == [1.0, 1.1, 1.2]
    status, out = run(OLD)
    assert (status, "within noise" in out) == (0, True)
    slow, fast = told([1.5, 1.6, 1.7]), told([0.5, 0.6, 0.7])
    status, out = run(fast)
    assert (status, "45.5% faster" in out) == (0, True)
    status, out = run(slow, slow)
    assert (status, "45.5% slower" in out) == (1, True)
    other = told([1.0], texts=[{"text": "t", "hash": "another"}])
    status, out = run(other)
    assert (status, "nothing could be compared" in out) == (0, True)
    # The second set says that it was something else.
    status, out = run(slow, OLD)
    assert (status, "W1: within noise in the second set" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rounds", "1"), "--rounds (1) must be 2 or more: one round has no noise"),
        (("--only", "W9"), "--only ('W9') is in none of W1"),
    ],
)
def test_a_wrong_call(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        track.main([*arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


# Measuring


@pytest.fixture
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "in_a_process", lambda request, timeout: measure.measure(request))


SMALL = track.Text("multilingual", 20_000, 5_000)


@pytest.mark.usefixtures("_in_this_process")
def test_what_is_measured() -> None:
    items = {
        "all": track.Item("all", cantle.Window(100, unit="chars"), SMALL),
        "count": track.Item("count", cantle.Recursive(), SMALL),
        "each": track.Item("each", cantle.Recursive(100, unit="chars"), SMALL),
    }
    found = track.taken(items, 2)
    assert list(found["references"]) == list(REFERENCES)
    for measured in (*found["references"].values(), *found["items"].values()):
        assert len(measured["cpu_seconds"]) == 2
        assert measured["text"] in [text["text"] for text in found["texts"]]
    tokenizer = cantle.Tokenizer.from_name("cl100k_base")
    expected = sum(tokenizer.count(text) for text in SMALL.documents())
    assert found["items"]["count"]["answer"] == str(expected)
    assert track.change(found, found, "all") == track.Change(0.0, False)


@pytest.mark.usefixtures("_in_this_process")
def test_a_wrong_answer_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    item = track.Item("all", cantle.Window(100, unit="chars"), SMALL)
    monkeypatch.setattr(track, "REFERENCES", {})
    monkeypatch.setattr(measure, "faults_of_ours", lambda *_: {"over_limit": 3})
    with pytest.raises(SystemExit, match="it: 3 chunks over the limit"):
        track.taken({"it": item}, 2)


def test_rounds_that_differ_are_no_figure() -> None:
    answers = [{"hash": "a", "cpu_seconds": 1.0}, {"hash": "b", "cpu_seconds": 1.0}]
    request = measure.Request("all", None, cantle.Window())  # type: ignore[arg-type]
    with pytest.raises(SystemExit, match="rounds give different answers"):
        track._answer(rounds.Measurement(request, answers))


def test_every_tracked_figure_has_a_text() -> None:
    assert len(track.ITEMS) == 12
    assert {item.kind for item in track.ITEMS.values()} == {"all", "count", "each"}
    texts = {*track.REFERENCE_TEXTS.values(), *(item.text for item in track.ITEMS.values())}
    # Two texts of one name were taken for each other: what was compared depended on their order.
    assert len({text.name for text in texts}) == len(texts)
