"""`cantle.compare`: figures by hand, repeated text against a slow count, and the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
from cantle.embed import Keyword
from cantle.measure.compare import Comparing
from cantle.spans import repeated
from cli_runs import cli, write

TEA = "Warm the pot. Fill it with leaves."
CUPS = "Two cups à guest."
TOPICS = Keyword(["pot leaves", "cups guest"])


def test_figures_by_hand():
    # Windows of 4 words, 2 of which repeat: TEA has [0, 4), [2, 6), [4, 7); CUPS is one window.
    found = cantle.compare([TEA, CUPS], "whole,window:4:2:words", ids=["tea", "cups"])
    assert found.strategies == ("whole", "window")
    assert (found.documents, found.words, found.bytes) == (2, 11, 34 + 18)
    assert found.chunks.tolist() == [2, 4]
    assert found.words_stored.tolist() == [11, 4 + 4 + 3 + 4]
    assert found.mean_words.tolist() == [5.5, 3.75]
    # "Warm the pot. Fill", "pot. Fill it with", "it with leaves.", all of CUPS.
    assert found.bytes_stored.tolist() == [52, 18 + 17 + 15 + 18]
    # "pot. Fill" and "it with" come twice.
    assert found.duplicated.tolist() == [0, (9 + 7) / 68]
    assert found.best == (None, None)
    assert found.question is None


def test_the_best_chunk_of_each_strategy():
    found = cantle.compare(
        [TEA, CUPS], "whole,window:4:2:words", "leaves of the pot", TOPICS, ids=["tea", "cups"]
    )
    assert found.best[0] == ("tea_whole_0", 1.0, 7, TEA)
    # "pot." alone is as near as both words: of equals the first one is named.
    assert found.best[1] == ("tea_window_0", 1.0, 4, "Warm the pot. Fill")
    assert found.unranked.tolist() == [0, 0]
    mixed = cantle.compare([f"{TEA} {CUPS}"], "whole", "leaves of the pot", TOPICS)
    assert mixed.best[0].score == pytest.approx(0.5**0.5)


def test_titles_and_headings_are_embedded_with_the_text():
    texts, metadata = ["Nothing.", "Nothing."], [{}, {"title": "Pot"}]
    found = cantle.compare(texts, "whole", "pot", TOPICS, metadata=metadata)
    assert found.best[0].id == "doc1_whole_0"
    assert found.unranked.tolist() == [1]
    headed = cantle.compare(
        ["# Pot\n\nIt is warm.\n\n# Cups\n\nTwo."], "structural", "cups", TOPICS
    )
    assert headed.best[0].text == "# Cups\n\nTwo."


@pytest.mark.parametrize("question", ["nothing known", "pot"])
def test_what_cannot_be_ranked_is_no_answer(question):
    found = cantle.compare(["Nothing.", ""], "whole,window:3:0:words", question, TOPICS)
    assert found.best == (None, None)
    assert found.unranked.tolist() == [1, 1]
    assert [row["best"] for row in found.as_dict()["strategies"]] == [None, None]
    told = str(found)
    assert told.startswith("2 documents, 1 word, 8 bytes\n")
    assert "| whole    |          - |     - |     - |" in told


def test_a_text_of_several_strategies_is_embedded_once():
    calls = []

    def embedder(texts):
        calls.append(texts)
        return TOPICS(texts)

    cantle.compare([TEA, CUPS, CUPS], "whole,window:50:0:words", "pot", embedder)
    assert calls == [["pot"], [TEA, CUPS]]
    calls.clear()
    cantle.compare([TEA, CUPS], "whole", None, embedder)
    assert calls == []


def test_an_embedder_that_is_a_function_is_told_by_its_name():
    def topics(texts):
        return TOPICS(texts)

    found = cantle.compare([TEA], "whole", "pot", topics)
    assert found.embedder.endswith(".<locals>.topics (a function)")
    assert found.as_dict()["embedder"] == found.embedder


def test_without_documents_all_is_zero():
    found = cantle.compare([], "whole", "pot", TOPICS)
    assert (found.documents, found.chunks.tolist(), found.mean_words.tolist()) == (0, [0], [0.0])
    assert found.duplicated.tolist() == [0.0]
    assert found.best == (None,)


def test_as_dict_is_the_row_of_the_lesson_and_more():
    found = cantle.compare([TEA], [cantle.Window(4, 2, "words", name="fixed")], "pot", TOPICS)
    assert found.as_dict() == {
        "documents": 1,
        "words": 7,
        "bytes": 34,
        "skipped": [],
        "question": "pot",
        "embedder": TOPICS.fingerprint,
        "strategies": [
            {
                "strategy": "fixed",
                "size": 4,
                "overlap": 2,
                "unit": "words",
                "fingerprint": cantle.Window(4, 2, "words").fingerprint,
                "chunks": 3,
                "mean_words": 11 / 3,
                "words_stored": 11,
                "bytes_stored": 50,
                "duplicated": 16 / 50,
                "best": {"id": "doc0_fixed_0", "score": 1.0, "words": 4},
                "unranked": 0,
            }
        ],
    }
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()
    assert "best" not in cantle.compare([TEA], "whole").as_dict()["strategies"][0]


def test_strategies_of_one_name_are_told_apart():
    window = cantle.Window(4, unit="words")
    found = cantle.compare(
        [TEA], ["whole", window, "window:5:1:words", "window:5:1:words,trim=false"]
    )
    last = cantle.Window(5, 1, "words", False).fingerprint
    assert found.strategies[:2] == ("whole", "window:4:0:words")
    assert found.strategies[3] == f"window:5:1:words:{last}"
    assert len(set(found.strategies)) == 4


def test_chunks_cut_by_other_means_stand_beside():
    halves = cantle.Chunks.from_spans([TEA], [[(0, 13), (14, 34)]], name="halves")
    found = cantle.compare([TEA], [halves, cantle.Whole()], "leaves", TOPICS)
    assert found.strategies == ("halves", "whole")
    assert found.words_stored.tolist() == [7, 7]
    assert found.best[1].id == "doc0_whole_0"
    assert found.as_dict()["strategies"][0]["unit"] == "chars"
    with pytest.raises(ValueError, match=r"^strategies: the chunks 'halves' are not of these"):
        cantle.compare([CUPS], [halves])


def test_part_by_part_gives_what_all_at_once_gives():
    texts = [f"{TEA} {CUPS}", CUPS, TEA, "Rain."] * 3
    once = cantle.compare(texts, "whole,window:3:1:words", "cups", TOPICS)
    run = Comparing("whole,window:3:1:words", "cups", TOPICS)
    for first in range(0, len(texts), 5):
        part = texts[first : first + 5]
        ids = [f"doc{first + at}" for at in range(len(part))]
        assert run.take(cantle.Documents(part, ids)) == ()
    assert run.comparison().as_dict() == once.as_dict()
    assert cantle.compare(texts, "whole,window:3:1:words", "cups", TOPICS, threads=1) == once
    assert once != cantle.compare(texts[:4], "whole,window:3:1:words", "cups", TOPICS)


def test_a_document_that_cannot_be_cut_is_left_out_of_all():
    def refuses(text):
        if "Fill" in text:
            raise ArithmeticError("no leaves")
        return len(text)

    strategies = [cantle.Whole(), cantle.Window(50, unit=refuses)]
    with pytest.raises(ArithmeticError, match="no leaves"):
        cantle.compare([CUPS, TEA], strategies)
    found = cantle.compare([CUPS, TEA, b"\xff"], strategies, errors="skip")
    assert [(one.doc, one.id) for one in found.skipped] == [(1, "doc1"), (2, "doc2")]
    assert found.skipped[0].reason == "ArithmeticError: no leaves"
    assert (found.documents, found.words, found.bytes) == (1, 4, 18)
    assert found.chunks.tolist() == [1, 1]


def test_bytes_arrow_blocks_and_documents_are_taken():
    pyarrow = pytest.importorskip("pyarrow")
    asked = "whole,structural:3:0:words"
    wanted = cantle.compare([TEA, CUPS], asked, "cups", TOPICS)
    given = [
        [TEA.encode(), CUPS.encode()],
        pyarrow.array([TEA, CUPS]),
        [cantle.blocks(TEA), CUPS],
        cantle.Documents([TEA, CUPS]),
        iter([TEA, CUPS]),
    ]
    for texts in given:
        assert cantle.compare(texts, asked, "cups", TOPICS) == wanted
    page = "<h1>Pot</h1><p>It is <b>warm</b>.</p>"
    read = cantle.compare([cantle.blocks(page, format="html")], "whole,structural")
    assert (read.words, read.words_stored.tolist()) == (4, [4, 4])


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((TEA, "whole"), TypeError, "texts must be a sequence of texts, not str"),
        (([TEA], []), ValueError, "strategies ([]) must hold at least one"),
        (
            ([TEA], [3]),
            TypeError,
            "strategies[0] (3) must be a strategy, its text, or Chunks",
        ),
        (
            ([TEA], cantle.Whole()),
            TypeError,
            "strategies must be a list of strategies or a text, not Whole",
        ),
        (([TEA], "whole", 3), TypeError, "question (3) must be str"),
        # Every strategy had no best chunk.
        (([TEA], "whole", " \n"), ValueError, "question (' \\n') must not be blank"),
        (
            ([TEA], "whole", "pot", "nobody"),
            ValueError,
            "embedder ('nobody') must be one of 'static', 'minilm', 'keyword:TOPIC|TOPIC', "
            "a folder of a model, 'openai:MODEL', 'openai:MODEL@URL', 'late:' before a model, "
            "or a callable",
        ),
        (
            ([TEA], "whole", "pot", lambda texts: np.ones((1, len(texts[0])))),
            ValueError,
            "embedder: vectors of 34 numbers for chunks, of 3 for the question",
        ),
    ],
)
def test_what_is_wrong_is_said(arguments, kind, message):
    with pytest.raises(kind) as caught:
        cantle.compare(*arguments)
    assert str(caught.value) == message


def test_ids_beside_documents_are_refused():
    documents = cantle.Documents([TEA])
    with pytest.raises(ValueError, match=r"^ids and metadata are part of the documents$"):
        cantle.compare(documents, "whole", ids=["a"])
    with pytest.raises(ValueError, match=r"^errors \('ignore'\) must be 'raise' or 'skip'$"):
        cantle.compare(documents, "whole", errors="ignore")


def test_columns_are_read_only():
    found = cantle.compare([TEA], "whole")
    for name in ("chunks", "words_stored", "bytes_stored", "unranked", "mean_words", "duplicated"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(found, name)[0] = 1


def count_repeats(spans: list[tuple[int, int, int]]) -> int:
    """Return what `repeated` counts, place by place."""
    stored = [(doc, at) for doc, start, end in spans for at in range(start, end)]
    return len(stored) - len(set(stored))


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 30), st.integers(1, 30)).map(
            lambda span: (span[0], span[1], span[1] + span[2])
        ),
        max_size=12,
    )
)
def test_repeats_are_what_a_slow_count_finds(spans):
    columns = np.array(spans, np.int64).reshape(-1, 3)
    doc = columns[:, 0].astype(np.int32)
    assert repeated(doc, columns[:, 1], columns[:, 2]) == count_repeats(spans)


@given(
    st.lists(st.text("ab é\n", min_size=1, max_size=60), max_size=4),
    st.integers(2, 12),
    st.data(),
)
def test_duplicated_is_what_stored_characters_say(texts, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    strategy = cantle.Window(size, overlap, "chars")
    found = cantle.compare(texts, [strategy])
    stored = [
        (chunk.doc, at)
        for chunk in strategy.split_all(texts)
        for at in range(chunk.byte_start, chunk.byte_end)
    ]
    assert found.bytes_stored[0] == len(stored)
    twice = len(stored) - len(set(stored))
    assert found.duplicated[0] == (twice / len(stored) if stored else 0)
    assert found.words_stored[0] == sum(len(t.split()) for t in strategy.split_all(texts).texts)


# The command.


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "kb" / "tea.md", f"# Tea\n\n{TEA}\n")
    write(tmp_path / "kb" / "cups.md", f"# Cups\n\n{CUPS}\n")
    return tmp_path / "kb"


def compare(*arguments):
    return cli(*arguments, command="compare")


ASKED = ("--question", "How many cups?", "--embedder", "keyword:pot leaves|cups guest")


def test_the_command_prints_both_tables(folder):
    # Windows of the six and nine words: 16 + 18 bytes, of which "Two cups" twice; 15 + 18 + 17 +
    # 15, of which "Warm the", "pot. Fill" and "it with" twice.
    result = compare(folder, "--strategies", "whole,window:4:2:words", *ASKED)
    assert (result.status, result.err) == (0, "")
    assert result.out == (
        "2 documents, 15 words, 69 bytes\n"
        "\n"
        "| strategy | chunks | mean words | words stored | bytes stored | duplicated |\n"
        "| -------- | -----: | ---------: | -----------: | -----------: | ---------: |\n"
        "| whole    |      2 |          8 |           15 |           67 |         0% |\n"
        "| window   |      6 |          4 |           23 |           99 |        32% |\n"
        "\n"
        "question: How many cups?\n"
        "\n"
        "| strategy | best chunk       | score | words |\n"
        "| -------- | ---------------- | ----: | ----: |\n"
        "| whole    | cups.md_whole_0  | 1.000 |     6 |\n"
        "| window   | cups.md_window_0 | 1.000 |     4 |\n"
    )
    assert "question" not in compare(folder).out


def test_the_command_gives_the_json_of_the_library(folder):
    result = compare(folder, "--strategies", "whole,window:4:2:words", *ASKED, "--json")
    told = json.loads(result.out)
    assert (result.status, result.err, told.pop("schema")) == (0, "", 1)
    assert told.pop("paths") == [str(folder)]
    assert told.pop("versions")["cantle"] == cantle.__version__
    texts = [f"# Cups\n\n{CUPS}\n", f"# Tea\n\n{TEA}\n"]
    found = cantle.compare(
        texts, "whole,window:4:2:words", ASKED[1], TOPICS, ids=["cups.md", "tea.md"]
    ).as_dict()
    assert told.pop("skipped") == {}
    assert told == {name: value for name, value in found.items() if name != "skipped"}


def test_options_fill_in_what_strategies_leave_out(folder):
    call = ("--strategies", "window,semantic", "--size", "5", "--overlap", "1", "--unit", "words")
    result = compare(folder, *call, "--embedder", "keyword:pot|cups", "--json")
    window, semantic = json.loads(result.out)["strategies"]
    assert (window["size"], window["overlap"], window["unit"]) == (5, 1, "words")
    own = cantle.Semantic(5, 1, unit="words", embedder=Keyword(["pot", "cups"]))
    assert semantic["fingerprint"] == own.fingerprint


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategies", "windows"], "cantle: strategy ('windows') must be one of"),
        (["--unit", "nothing"], "cantle: unit ('nothing') must be one of"),
        (["--question", "a", "--embedder", "nobody"], "cantle: --embedder ('nobody') must be one"),
        (["--question", ""], "cantle: question ('') must not be blank"),
        (["--strategies", "window:5:9"], "cantle: overlap (9) must be smaller than size (5)"),
        (["--format", "doc"], "cantle: --format ('doc') must be one of"),
    ],
)
def test_wrong_calls_are_refused(folder, arguments, message):
    result = compare(folder, *arguments)
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_a_package_that_is_missing_is_told_before_anything_is_read(folder, monkeypatch):
    def missing(self, texts):
        raise ImportError("the embedder 'static' needs a package")

    monkeypatch.setattr(cantle.embed.Static, "__call__", missing)
    for asked in (["--question", "cups"], ["--strategies", "semantic"]):
        result = compare(folder, *asked)
        assert (result.status, result.out) == (2, "")
        assert result.err == "cantle: the embedder 'static' needs a package\n"


def test_what_is_skipped_is_named_on_standard_error(folder):
    write(folder / "bad.txt", b"\xff\xfe")
    write(folder / "rows.jsonl", '{"text": "\\ud800 half"}\n{"text": "A whole one."}\n')
    result = compare(folder, "--strategies", "whole", "--json")
    told = json.loads(result.out)
    assert result.status == 1
    assert told["documents"] == 3
    assert told["skipped"] == {"not UTF-8": 1, "cannot be cut": 1}
    assert "cantle: skipped" in result.err
    assert "rows.jsonl:1: cannot be cut (the text holds a lone surrogate" in result.err


def test_nothing_to_compare_prints_no_table(tmp_path):
    result = compare(tmp_path / "no.md")
    assert (result.status, result.out) == (1, "")
    assert "no such file" in result.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is full")
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_standard_output_that_is_full_is_told_of(folder, arguments):
    call = [sys.executable, "-m", "cantle", "compare", str(folder), "-q", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    message = "cantle: cannot write standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_a_table_on_standard_input_is_one_document():
    rows = "port,days\nOslo,3\nBergen,4\n"
    one = cli("-", "--format", "csv", "--json", stdin=rows, command="compare")
    assert json.loads(one.out)["documents"] == 1
    each = cli("-", "--format", "csv", "--column", "port", "--json", stdin=rows, command="compare")
    assert json.loads(each.out)["documents"] == 2
