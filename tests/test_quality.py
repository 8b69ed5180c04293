"""The benchmark of retrieval, small: its figures against those worked out by hand."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bench_quality
import cluster
import figures
import quality_ground
import quality_recipes
import quality_scores
import report
from cantle.embed import Keyword
from cantle.measure.places import Place

EMBEDDER = "keyword:tea pot|rain cloud"
#      0            13           26          38
TEA = "Warm the pot. Pour the tea. Rain fell."
#       0            13           26
RAIN = "A cloud came. It was dark. A pot of tea was warm."
QUESTIONS = [
    # The first two sentences of one text.
    {"doc": "tea", "question": "How is tea made?", "spans": [[0, 13], [14, 27]]},
    {"doc": "rain", "question": "Was there rain?", "spans": [[0, 13]]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tea.md").write_text(TEA, "utf-8")
    (tmp_path / "rain.md").write_text(RAIN, "utf-8")
    lines = "".join(f"{json.dumps(question)}\n" for question in QUESTIONS)
    (tmp_path / "questions.jsonl").write_text(lines, "utf-8")
    return tmp_path


@pytest.fixture
def ground(folder: Path) -> quality_ground.Ground:
    return quality_ground.read(folder, Keyword(["tea pot", "rain cloud"]))


def sentences(texts: list[str]) -> list[list[tuple[int, int]]]:
    spans = {TEA: [(0, 13), (14, 27), (28, 38)], RAIN: [(0, 13), (14, 26), (27, 49)]}
    return [spans[text] for text in texts]


def test_chunks_of_all_texts_are_ranked_in_one_index(ground: quality_ground.Ground) -> None:
    assert ground.ids == ["rain", "tea"]
    found = quality_recipes.Cut("by hand", 10, sentences).open(ground)
    # The question of tea: three chunks have the cosine 1, in the order of the index.
    assert found.first(0, 3) == [Place("rain", 27, 49), Place("tea", 0, 13), Place("tea", 14, 27)]
    assert found.first(1, 2) == [Place("rain", 0, 13), Place("tea", 28, 38)]


def test_the_last_chunk_of_a_budget_is_cut_off(ground: quality_ground.Ground) -> None:
    found = quality_recipes.Cut("by hand", 10, sentences).open(ground)
    # " A pot of tea was warm." is 7 tokens, "Warm the pot." 4 and "Pour the tea." 4.
    assert [found.tokens[i] for i in (2, 3, 4)] == [7, 4, 4]
    assert found.within(0, 0) == []
    assert found.within(0, 2) == [Place("rain", 27, 32)]
    assert found.within(0, 7) == [Place("rain", 27, 49)]
    assert found.within(0, 10) == [Place("rain", 27, 49), Place("tea", 0, 12)]
    everything = found.within(0, 1000)
    assert sorted(everything) == sorted(found.chunks)


def test_figures_are_those_worked_out_by_hand(
    ground: quality_ground.Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality_scores, "K", 2)
    row = quality_scores.row(quality_recipes.Cut("by hand", 10, sentences), ground)
    assert (row.title, row.chunks) == ("by hand 10", 6)
    assert row.tokens == pytest.approx((4 + 4 + 7 + 4 + 4 + 3) / 6)
    scores = {name: values.tolist() for name, values in row.scores.items()}
    # Of tea, the chunks of 22 and 13 characters are retrieved, the latter one of two references;
    # of rain, those of 13 and 10, the former the reference.
    assert scores["recall"] == [13 / 26, 1]
    assert scores["precision"] == [13 / 35, 13 / 23]
    assert scores["IoU"] == [13 / (35 + 13), 13 / 23]
    assert scores["full"] == scores["visible"] == [0, 1]
    assert scores["omega"] == [1, 1]
    assert scores["R@500t"] == [1, 1]
    whole = quality_recipes.Cut("whole", 10, lambda texts: [[(0, len(t))] for t in texts])
    other = quality_scores.row(whole, ground)
    assert other.scores["omega"].tolist() == [26 / 38, 13 / 49]
    (found,) = quality_scores.differences([(row, other)])
    assert found["omega"].mean == pytest.approx((1 - 26 / 38 + 1 - 13 / 49) / 2)
    assert found["omega"].tells
    (told,) = quality_scores.figures_of([(row, other)])
    assert told["scores"]["recall"] == 75.0
    assert told["against"] == "whole 10"
    lines = quality_scores.table_of_differences([told]).splitlines()
    assert lines[2].split("|")[1].strip() == "by hand"
    assert lines[2].split("|")[8].strip() == "+52.5 [+31.6, +73.5]*"


def test_white_space_between_chunks_is_not_seen(folder: Path) -> None:
    question = QUESTIONS[0] | {"spans": [[0, 27]]}
    (folder / "questions.jsonl").write_text(json.dumps(question), "utf-8")
    ground = quality_ground.read(folder, Keyword(["warm pour", "rain cloud"]))
    assert [ground.text(place) for place in ground.visible(0)] == TEA[:27].split()
    row = quality_scores.row(
        quality_recipes.Cut("by hand", 10, lambda _: [[(0, 13), (14, 27)]]), ground
    )
    assert row.scores["full"].tolist() == [0]
    assert row.scores["visible"].tolist() == [1]


def test_the_recursive_row_like_another_has_its_mean_size(tmp_path: Path) -> None:
    text = "".join(f"Sentence {i} is about the number {i} alone.\n\n" for i in range(200))
    (tmp_path / "many.md").write_text(text, "utf-8")
    question = {"doc": "many", "question": "Which?", "spans": [[0, 5]]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question), "utf-8")
    ground = quality_ground.read(tmp_path, Keyword(["number"]))
    for wanted in (20, 33, 70):
        found = quality_recipes.matched(ground, wanted)
        assert np.mean(found.open(ground).tokens) == pytest.approx(wanted, abs=6)


def test_runs_are_the_best_of_all() -> None:
    def worth(runs: list[tuple[int, int]], gain: np.ndarray) -> float:
        return float(sum(gain[a:b, a:b].sum() - np.trace(gain[a:b, a:b]) for a, b in runs))

    def every(first: int, pieces: int) -> list[list[tuple[int, int]]]:
        if first == pieces:
            return [[]]
        ends = range(first + 1, min(first + 3, pieces) + 1)
        return [[(first, end), *rest] for end in ends for rest in every(end, pieces)]

    vectors = np.random.default_rng(3).normal(size=(7, 3))
    similarity = vectors @ vectors.T
    gain = similarity - similarity[np.triu_indices(7, k=1)].mean()
    best = max(worth(runs, gain) for runs in every(0, 7))
    found = cluster.best_runs(similarity.copy(), 3)
    assert worth(found, gain) == pytest.approx(best)
    assert [a for a, _ in found[1:]] == [b for _, b in found[:-1]]
    assert cluster.best_runs(np.ones((1, 1)), 3) == [(0, 1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doc": "gone"}, "No such file or directory"),
        ({"spans": [[0, 99]]}, "a place of 'How is tea made?' lies outside its text"),
        ({"spans": [[3, 3]]}, "place (3, 3) of document 'tea' is empty or reversed"),
        ({"spans": []}, "a question about 'tea' has no place that answers it"),
        ({"spans": 3}, "questions.jsonl: TypeError: 'int' object is not iterable"),
    ],
)
def test_a_folder_that_is_none_is_refused(
    folder: Path, change: dict[str, Any], message: str
) -> None:
    row = QUESTIONS[0] | change
    (folder / "questions.jsonl").write_text(json.dumps(row), "utf-8")
    with pytest.raises(quality_ground.Unreadable, match=re.escape(message)):
        quality_ground.read(folder, Keyword(["tea"]))


def test_the_command_prints_and_writes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "figures.json"
    names = "cantle recursive,cantle sem,cantle optimal"
    words = ["--sizes", "8,16", "--embedder", EMBEDDER, "--strategies", names, "--json", str(path)]
    monkeypatch.setattr(sys, "argv", ["bench_quality.py", str(folder), *words])
    bench_quality.main()
    told = figures.read(path)
    assert str(folder) not in json.dumps(told)
    assert told["command"].startswith("python benches/bench_quality.py FOLDER --embedder 'keyword:")
    assert [text["questions"] for text in told["texts"]] == [1, 1]
    titles = [f"{result['name']} {result['size']}" for result in told["results"]]
    # Borders by static vectors, and by the ground's own.
    assert "cantle semantic 8" in titles
    assert f"cantle semantic ({EMBEDDER}) 16" in titles
    # A whole name is that recipe alone.
    assert f"cantle optimal ({EMBEDDER}) 16" not in titles
    reference = told["results"][titles.index("cantle recursive 8")]
    assert "differences" not in reference
    semantic = told["results"][titles.index("cantle semantic 8")]
    assert semantic["against"] == "cantle recursive 8"
    assert semantic["embedded"] == 6
    assert {one["name"] for one in told["equal"]} == {t for t in titles_of(told) if "rec" not in t}
    out, progress = capsys.readouterr()
    assert "| cantle recursive " in out
    assert "cantle semantic 8\n" in progress
    for name, part in report.parts(told).items():
        assert ("cantle recursive" in part) == ("_store" not in name)


def titles_of(told: dict[str, Any]) -> list[str]:
    return [result["name"] for result in told["results"]]
