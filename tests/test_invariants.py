"""`cantle.check` and `cantle chunk --check`: each rule hit, each just missed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cantle
import samples
from cli_runs import cli, write

LONG = "A paragraph that says enough to stand alone."
TABLE = "| a | b |\n|---|---|\n" + "| one cell | and another |\n" * 6


def found(chunks, **settings):
    report = cantle.check(chunks, **settings)
    return [
        [rule.name for rule in cantle.RULES if bits & rule.bit] for bits in report.reasons.tolist()
    ]


def test_short_chunks_are_to_skip():
    text = "x" * 19 + "\n\n" + "y" * 20
    chunks = cantle.Recursive(20, unit="chars").split(text, id="a.txt")
    report = cantle.check(chunks)
    assert report.verdict.tolist() == ["skip", "kept"]
    assert report.counts == {"too_short": 1}
    assert chunks[report.keep].texts == ["y" * 20]
    assert found(chunks, min_chars=0) == [[], []]
    assert list(report.rows()) == [
        ("a.txt_recursive_0", "skip", "fewer characters than min_chars (19, min_chars is 20)")
    ]


def test_blanks_do_not_make_a_chunk_long_enough():
    chunks = cantle.Whole(trim=False).split(" " * 30 + "x" + "\n" * 30)
    assert found(chunks) == [["too_short"]]


def test_a_part_of_a_table_counts_with_its_header():
    chunks = cantle.Structural(30, unit="chars").split("| a long header | b |\n|-|-|\n| c | d |\n")
    assert [len(chunk.text) for chunk in chunks][1] < 20
    assert found(chunks) == [[], []]


def test_the_limit_of_a_model_counts_prefix_and_special_tokens():
    tokenizer = cantle.Tokenizer.from_object(samples.foreign("wordpiece_mini"))
    chunks = cantle.Structural(60, unit=tokenizer).split(f"# A title\n\n{LONG}\n", id="a.md")
    counted = samples.foreign_count("wordpiece_mini", chunks[0].embed_text, special=True)
    bare = samples.foreign_count("wordpiece_mini", chunks[0].embed_text, special=False)
    assert counted == bare + 2
    report = cantle.check(chunks, counted, unit=tokenizer)
    assert (report.tokens.tolist(), report.verdict.tolist()) == ([counted], ["kept"])
    with pytest.raises(cantle.TextError) as raised:
        cantle.check(chunks, counted - 1, unit=tokenizer)
    assert str(raised.value) == (
        f"chunk 'a.md_structural_0' has {counted} tokens with what stands before it and the "
        f"model's special tokens; the model takes {counted - 1} (max_model_tokens), and the "
        f"chunks were cut with size (60) in {tokenizer.name}: cut with a smaller size in the "
        "model's own unit, or with prefix= so that both count, or leave out what "
        'cantle.check(..., errors="skip") skips'
    )
    skipped = cantle.check(chunks, counted - 1, unit=tokenizer, errors="skip")
    assert skipped.verdict.tolist() == ["skip"]
    assert skipped.why(0) == [
        f"more tokens than the model takes ({counted}, it takes {counted - 1})"
    ]


def test_a_table_is_whole_or_flagged():
    blind = cantle.Recursive(12, unit="words").split(TABLE)
    assert all("cut_table" in reasons for reasons in found(blind))
    assert cantle.check(blind, min_chars=0).warned.all()
    assert found(cantle.Structural(13, unit="words").split(TABLE)) == [[]] * 6
    assert found(cantle.Recursive(200, unit="words").split(TABLE)) == [[]]


def test_prose_without_a_heading_in_a_document_with_headings_is_warned_of():
    text = f"{LONG} One.\n\n{LONG} Two.\n\n# Late\n\n{LONG} Three.\n"
    chunks = cantle.Recursive(11, unit="words").split(text)
    assert found(chunks) == [[], ["no_heading"], ["no_heading"]]
    assert found(cantle.Structural(11, unit="words").split(text)) == [[], ["no_heading"], []]
    plain = cantle.Recursive(11, unit="words").split(text.replace("# Late", "Late"))
    assert found(plain) == [[]] * 3


def test_the_form_goes_by_the_ending_of_the_id():
    text = f"Overview\n========\n\n{LONG}\n\n.. note:: {LONG}\n"
    chunks = cantle.Recursive(12, unit="words").split_all([text, text], ids=["a.rst", "a.csv"])
    warned = cantle.check(chunks, min_chars=0).warned
    assert warned[chunks.doc == 0].any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"max_model_tokens": 0}, "max_model_tokens (0) must be at least 1"),
        ({"min_chars": -1}, "min_chars (-1) must be at least 0"),
        ({"errors": "ignore"}, "errors ('ignore') must be 'raise' or 'skip'"),
        (
            {"max_model_tokens": 9},
            "max_model_tokens needs the model's tokenizer: pass unit=; the chunks are counted in "
            "'words'",
        ),
    ],
)
def test_wrong_settings(call, message):
    chunks = cantle.split("a b", unit="words")
    with pytest.raises(cantle.SettingError) as raised:
        cantle.check(chunks, **call)
    assert str(raised.value) == message


def test_none_is_no_number_of_characters():
    with pytest.raises(TypeError, match="min_chars \\(None\\) must be a whole number"):
        cantle.check(cantle.split("a b"), min_chars=None)


def test_what_is_no_chunks_is_refused():
    with pytest.raises(TypeError, match="chunks must be Chunks, not list"):
        cantle.check(["text"])  # type: ignore[arg-type]


def test_a_report_is_a_table():
    chunks = cantle.split("x\n\n" * 12, 1, unit="words")
    lines = str(cantle.check(chunks)).splitlines()
    assert lines[0] == "Check(0 kept, 0 warned, 12 to skip)"
    assert lines[1].split() == ["chunk", "verdict", "why"]
    assert lines[-1] == "... 2 more"
    assert str(cantle.check(chunks, min_chars=0)) == "Check(12 kept, 0 warned, 0 to skip)"


@given(text=samples.texts, size=st.integers(1, 30), least=st.integers(0, 30))
def test_every_chunk_has_one_verdict_and_none_is_lost(text, size, least):
    chunks = cantle.Recursive(size, unit="chars").split(text)
    report = cantle.check(chunks, 30, unit="cl100k_base", min_chars=least, errors="skip")
    assert len(report) == len(chunks)
    assert np.array_equal(report.keep, ~report.skip)
    assert not (report.skip & report.warned).any()
    short = [len(chunk.text.strip()) < least for chunk in chunks]
    assert np.array_equal(short, (report.reasons & 1) != 0)
    limit = [samples.tiktoken_count("cl100k_base", text) for text in chunks.embed_texts]
    assert report.tokens.tolist() == limit


def test_the_command_leaves_out_and_says_so(tmp_path):
    file = write(tmp_path / "a.md", f"Short.\n\n{LONG}\n")
    summary = tmp_path / "run.json"
    result = cli(file, "--size", "8", "--unit", "words", "--check", "--summary", summary)
    assert result.status == 0
    assert [row["text"] for row in result.rows] == [LONG]
    assert result.rows[0]["id"] == "a.md_recursive_1"
    assert (
        "cantle: left out a.md_recursive_0: fewer characters than min_chars (6, min_chars is 20)"
        in result.err
    )
    assert "1 chunk left out: 1 too_short" in result.err
    assert json.loads(summary.read_text())["chunks_left_out"] == {"too_short": 1}
    assert len(cli(file, "--size", "8", "--unit", "words").rows) == 2


def test_the_command_fails_for_what_a_model_would_cut(tmp_path):
    file = write(tmp_path / "a.md", f"{LONG}\n")
    result = cli(file, "--check", "--max-tokens", "5")
    assert (result.status, result.rows) == (1, [])
    assert "more tokens than the model takes (9, it takes 5)" in result.err
    assert cli(file, "--check", "--max-tokens", "9").status == 0
    assert cli(file, "--max-tokens", "9").status == 2
    refused = cli(file, "--check", "--max-tokens", "9", "--unit", "words")
    assert (refused.status, refused.err) == (
        2,
        "cantle: --max-tokens needs --model-unit: chunks are counted in words\n",
    )
