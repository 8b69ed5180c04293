"""The pages of figures say what the recorded figures say, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import bench_peers
import bench_scale
import figures
import report
from questions import QUESTIONS

ROOT = Path(__file__).parents[1]


def test_the_pages_are_those_of_the_recorded_figures() -> None:
    recorded = sorted(path.stem for path in report.FIGURES.glob("*.json"))
    assert recorded == [
        "batch",
        "peers",
        "quality",
        "quality_static",
        "scale",
        "search",
        "store",
        "stream",
        "tokens",
    ]
    for path, text in report.written().items():
        assert path.read_text("utf-8") == text, f"{path.name}: python benches/report.py"


def test_every_part_has_its_place() -> None:
    pages = "".join((ROOT / page).read_text("utf-8") for page in report.PAGES)
    for named in report.PARTS.values():
        for name in named:
            assert pages.count(f"<!-- {name} -->\n") == 1, name
            assert pages.count(f"<!-- end of {name} -->") == 1, name


def test_a_part_is_replaced_and_the_rest_stays() -> None:
    page = "a\n<!-- one -->\nold\n<!-- end of one -->\nb\n<!-- two -->\nkept\n<!-- end of two -->\n"
    once = report.filled(page, {"one": "new"})
    assert once == (
        "a\n<!-- one -->\n\nnew\n<!-- end of one -->\nb\n<!-- two -->\nkept\n<!-- end of two -->\n"
    )
    assert report.filled(once, {"one": "new"}) == once
    assert report.filled(page, {"one": r"\1 \g<0>"}).count(r"\1 \g<0>") == 1


def result(library: str, seconds: list[float], times: float | None, **more: Any) -> dict[str, Any]:
    return {
        "question": "W1",
        "text": "prose",
        "library": library,
        "version": "1.0",
        "threads": 1,
        "unit": "chars",
        "bytes": 2_000_000,
        "cpu_seconds": min(seconds, default=None),
        "cpu_seconds_of_rounds": seconds,
        "times_cantle": None if times is None else [times, times, times],
        "faults": {},
        "failed": None,
        **more,
    }


def told(kind: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    return figures.figures(kind, [], rounds=2, results=results)


PEERS = [
    result("cantle", [0.2, 0.1], None),
    result("even", [0.4], 4.0),
    result("quick", [0.05], 0.5, faults={"characters_lost": 7}),
    result("broken", [], None, failed="ValueError: no"),
]


def test_where_a_library_wins_it_says_so() -> None:
    found = told("peers", PEERS)
    made = report.parts(found)
    assert "* W1, prose: quick 1.0 takes 0.500 times" in made["peers"]
    assert "7 visible characters lost" in made["peers"]
    rows = [line for line in made["peers"].splitlines() if line.startswith("| prose")]
    order = [row.split("|")[2].strip().split()[0] for row in rows]
    assert order == ["quick", "cantle", "even", "broken"]
    assert "failed: ValueError: no" in rows[-1]
    assert "| even 4.00 |" in made["summary"]
    assert "Of 2 answers of other libraries, faults or not, 1 took less CPU time" in made["summary"]
    ((name, picture),) = report.pictures_of_peers(found)
    assert name == "peers-prose.svg"
    assert "20.0" in "".join(ElementTree.fromstring(picture).itertext())


def test_tokens_say_where_a_library_wins() -> None:
    row = {"tokenizer": "cl100k_base", "text": "prose", "bytes": 1e6, "fresh": 1.0, "warm": 1.0}
    results = [
        row | {"library": name, "times_cantle": {"fresh": fresh, "warm": warm}, "off_by": off_by}
        for name, fresh, warm, off_by in (
            ("cantle 0.1.0", 1.0, 1.0, 0),
            ("even 1", 2.0, 1.5, 0),
            ("seen 1", 1.2, 0.5, 0),
            ("wrong 1", 0.5, 0.5, -3),
        )
    ]
    made = report.parts(told("tokens", results))["tokens"]
    wins = [line for line in made.splitlines() if line.startswith("* ")]
    assert len(wins) == 2
    assert "seen 1 takes 1.20 times the CPU time of cantle, 0.500 times on a text" in wins[0]
    assert wins[1].endswith("; its count is wrong")
    assert "count off by -3" in made


def test_a_busy_machine_is_told() -> None:
    found = told("peers", PEERS) | {"load": 3.5}
    found["machine"]["cores"] = 2
    assert "while other work kept the machine busy (load 3.5)" in report.provenance(found)
    found["load"] = 1.0
    assert "busy" not in report.provenance(found)


def test_a_ratio_is_one_of_the_same_round() -> None:
    ours = {"cpu_seconds_of_rounds": [1.0, 2.0, 4.0]}
    theirs = {"cpu_seconds_of_rounds": [3.0, 2.0, 8.0]}
    assert bench_peers.compared(theirs, ours) == [2.0, 1.0, 3.0]
    assert bench_peers.compared({"cpu_seconds_of_rounds": []}, ours) is None
    assert bench_peers.compared(ours, ours) is None


def test_scales_are_drawn() -> None:
    points = [{"step": n, "cpu_seconds": n / 1e6, "peak_bytes": None} for n in (1_000, 10_000)]
    curve = {"strategy": "window", "text": "prose", "points": points, "memory_slope": None}
    results = [
        curve | {"axis": axis.name, "unit": unit, "slope": 1.0, "last_step": 1.0}
        for axis in bench_scale.AXES
        for unit in ("chars", "words")
    ]
    found = told("scale", results)
    assert report.parts(found)["scale"].count("| window ") == len(results)
    drawn = dict(report.pictures_of_scale(found))
    assert len(drawn) == len(bench_scale.AXES)
    for picture in drawn.values():
        root = ElementTree.fromstring(picture)
        paths = [node for node in root.iter() if node.tag.endswith("}path")]
        assert len(paths) == 2


def test_what_is_no_figures_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    for content, message in (
        ("[]", "a.json holds no figures\n"),
        ('{"schema": 0}', f"a.json is of schema 0, not {figures.SCHEMA}\n"),
        (f'{{"schema": {figures.SCHEMA}, "kind": "x"}}', "figures of 'x' have no page\n"),
    ):
        path.write_text(content, "utf-8")
        assert report.main([str(path)]) == 1
        assert capsys.readouterr().err == message
    assert report.main([str(tmp_path / "none.json")]) == 1


def test_every_workload_has_a_name() -> None:
    from questions import NAMES

    assert list(NAMES) == list(QUESTIONS)
