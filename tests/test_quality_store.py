"""The benchmark's recipes over a store, small: what they read, against what was worked out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bench_quality
import cantle
import figures
import quality_ground
import quality_levels
import quality_recipes
import quality_store
import report
from cantle.embed import Keyword
from cantle.measure.places import Place
from quality_store import Stored, stored

#      0            13           26          38
TEA = "Warm the pot. Pour the tea. Rain fell."
#       0            13           26
RAIN = "A cloud came. It was dark. A pot of tea was warm."
QUESTIONS = [
    {"doc": "tea", "question": "How is tea made?", "spans": [[0, 13], [14, 27]]},
    {"doc": "rain", "question": "Was there a cloud?", "spans": [[0, 13]]},
]


@pytest.fixture
def ground(tmp_path: Path) -> quality_ground.Ground:
    (tmp_path / "tea.md").write_text(TEA, "utf-8")
    (tmp_path / "rain.md").write_text(RAIN, "utf-8")
    lines = "".join(f"{json.dumps(question)}\n" for question in QUESTIONS)
    (tmp_path / "questions.jsonl").write_text(lines, "utf-8")
    return quality_ground.read(tmp_path, Keyword(["tea pot", "rain cloud"]))


SPANS = {"tea": [(0, 13), (14, 27), (28, 38)], "rain": [(0, 13), (14, 26), (27, 49)]}


def sentences(ground: quality_ground.Ground) -> cantle.Chunks:
    """Return a chunk for each sentence."""
    spans = [SPANS[name] for name in ground.ids]
    return cantle.Chunks.from_spans(ground.texts, spans, ids=ground.ids, unit=quality_ground.UNIT)


def by_hand(**how: Any) -> Stored:
    """Return a recipe of sentences, with none left out."""
    return Stored("store by hand", 10, sentences, "store plain 75", min_chars=0, **how)


def test_chunks_of_a_store_are_found_as_they_are_ranked_by_cosine(
    ground: quality_ground.Ground,
) -> None:
    found = by_hand().open(ground)
    ranked = quality_recipes.Cut("by hand", 10, lambda _: [SPANS[i] for i in ground.ids])
    other = ranked.open(ground)
    assert sorted(found.chunks) == sorted(other.chunks)
    assert sorted(found.tokens) == sorted(other.tokens)
    for question, k in ((0, 3), (1, 2)):
        assert found.first(question, k) == other.first(question, k)


def test_what_is_too_short_for_a_store_is_left_out(ground: quality_ground.Ground) -> None:
    found = Stored("store", 10, sentences, "").open(ground)
    assert found.chunks == [Place("rain", 27, 49)]


def test_a_budget_holds_whole_chunks_that_are_joined(ground: quality_ground.Ground) -> None:
    found = by_hand().open(ground)
    # Tokens of the three that have the cosine 1: 7, 4 and 4.
    assert found.within(0, 7) == [Place("rain", 27, 49)]
    # "Rain fell." has another subject, and finds room: "A pot of tea was warm." has none.
    assert found.within(1, 8) == [Place("rain", 0, 13), Place("tea", 28, 38)]
    assert found.within(0, 15) == [Place("rain", 27, 49), Place("tea", 0, 27)]


def test_what_is_around_hits_is_read(ground: quality_ground.Ground) -> None:
    found = by_hand(how=cantle.neighbours(1)).open(ground)
    assert found.first(0, 1) == [Place("rain", 14, 49)]
    # Of 12 tokens the hit takes 7; "It was dark." has no more than 4.
    assert found.within(0, 12) == [Place("rain", 14, 49)]
    assert found.within(0, 7) == [Place("rain", 27, 49)]


def test_words_find_what_vectors_do_not(ground: quality_ground.Ground) -> None:
    question = "Why was it dark?"
    ground.questions[1] = question
    assert by_hand().open(ground).first(1, 1) == []
    assert by_hand(mode="text").open(ground).first(1, 1) == [Place("rain", 14, 26)]
    assert by_hand(mode="hybrid").open(ground).first(1, 1) == [Place("rain", 14, 26)]


def test_a_share_of_neighbours_puts_what_stands_beside_the_answer_before_others(
    ground: quality_ground.Ground,
) -> None:
    # Both have the cosine 0 by themselves; "Pour the tea." stands beside "Rain fell.".
    pot, tea = Place("rain", 27, 49), Place("tea", 14, 27)
    assert by_hand().open(ground).first(1, 3)[2] == pot
    assert by_hand(blend=(0.4,)).open(ground).first(1, 3)[2] == tea


def test_every_recipe_says_what_it_is_compared_with() -> None:
    found = [*stored(), *quality_levels.levels()]
    titles = [f"{recipe.name} {recipe.size}" for recipe in found]
    assert len(set(titles)) == len(titles)
    assert {recipe.against for recipe in found if isinstance(recipe, Stored)} <= set(titles)
    assert all("," not in title and title.startswith(quality_store.PREFIX) for title in titles)
    # What is read around hits is compared with the hits alone, by the same search.
    (parents,) = [r for r in found if f"{r.name} {r.size}" == "store hybrid parents of 400 100"]
    assert isinstance(parents, Stored)
    assert (parents.mode, parents.blend, parents.against) == ("hybrid", "auto", "store hybrid 100")


def test_a_recipe_of_parents_reads_them(tmp_path: Path) -> None:
    text = "".join(f"Sentence {i} is about the number {i} alone.\n\n" for i in range(100))
    (tmp_path / "many.md").write_text(text, "utf-8")
    question = {"doc": "many", "question": "Which number?", "spans": [[0, 5]]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question), "utf-8")
    ground = quality_ground.read(tmp_path, Keyword(["number"]))
    (recipe,) = [r for r in stored() if f"{r.name} {r.size}" == "store plain parents of 400 100"]
    found = recipe.open(ground)
    assert max(found.tokens) <= 100
    parents = cantle.Recursive(400, unit=quality_ground.UNIT).split(text)
    assert found.first(0, 1) == [Place("many", parents[0].char_start, parents[0].char_end)]


def test_known_borders_are_those_of_the_references(ground: quality_ground.Ground) -> None:
    recipe = quality_levels.KnownCut(1000)
    # Of tea both references are sentences; of rain the first one is.
    assert recipe.open(ground).chunks == [
        Place("rain", 0, 13),
        Place("rain", 14, 49),
        Place("tea", 0, 13),
        Place("tea", 14, 27),
        Place("tea", 28, 38),
    ]


def test_a_reference_within_a_sentence_has_borders_around_it(
    ground: quality_ground.Ground,
) -> None:
    ground.references[:] = [[Place("tea", 16, 20)], [Place("rain", 14, 20)]]
    known = quality_levels.Known(ground)
    prompt = "[1] (4) Warm the pot.\n[2] (4) Pour [...] tea.\n[3] (3) Rain fell."
    assert known(prompt) == '{"ends": [1, 2]}'
    with pytest.raises(ValueError, match=r"no text holds the sentences that begin with 'Moon\.'"):
        known("[1] (2) Moon.\n[2] (2) Sun.")


def test_what_is_measured_is_written_though_a_run_is_interrupted(
    ground: quality_ground.Ground, tmp_path: Path
) -> None:
    class Stopped(quality_recipes.Cut):
        def open(self, ground: quality_ground.Ground) -> quality_recipes.Ranked:
            raise KeyboardInterrupt

    path = tmp_path / "figures.json"
    given = bench_quality.parser().parse_args([str(tmp_path), "--json", str(path)])
    langchain = quality_recipes.Cut(
        "langchain recursive", 10, lambda _: [SPANS[i] for i in ground.ids]
    )
    found = [langchain, by_hand(), Stopped("stopped", 10, langchain.cut)]
    with pytest.raises(KeyboardInterrupt):
        bench_quality.run(given, ground, found, lambda _: None)
    told = figures.read(path)
    assert [row["name"] for row in told["results"]] == ["langchain recursive", "store by hand"]
    # The library's row is the best of one.
    (beside,) = told["best"]
    assert (beside["name"], beside["against"]) == ("store by hand", "langchain recursive 10")
    parts = report.parts(told)
    assert "store by hand" not in parts["quality"]
    assert "store by hand" in parts["quality_store"]
    assert "langchain recursive 10" in parts["quality_store_peers"]


def test_a_run_without_a_store_has_no_table_of_it(ground: quality_ground.Ground) -> None:
    given = bench_quality.parser().parse_args(["."])
    cut = quality_recipes.Cut("by hand", 10, lambda _: [SPANS[i] for i in ground.ids])
    parts = report.parts(bench_quality.run(given, ground, [cut], lambda _: None))
    assert parts["quality_store"] == parts["quality_store_peers"] == "Not measured yet.\n"
