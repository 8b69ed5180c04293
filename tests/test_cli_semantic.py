"""Semantic strategies on the command line, and what they cost before anything is spent."""

from __future__ import annotations

import pytest

from cli_runs import cli, write

TEXT = "Warm the pot. Then pour the tea. Rain fell. The rain was cold."
KEYWORD = "keyword:tea pot|rain"


@pytest.mark.parametrize(
    ("strategy", "number"),
    [("semantic,distance=0.5", 2), ("optimal", 2), ("document_based", 1)],
)
def test_documents_are_cut_by_meaning(tmp_path, strategy, number):
    file = write(tmp_path / "a.txt", TEXT)
    result = cli(file, "-s", strategy, "--embedder", KEYWORD, "--unit", "words", "--size", "20")
    assert result.status == 0
    assert len(result.rows) == number
    assert result.rows[0]["text"].startswith("Warm the pot.")


def test_an_estimate_embeds_nothing(tmp_path):
    write(tmp_path / "a.txt", TEXT)
    write(tmp_path / "b" / "c.md", "# Tea\n\nPour it.\n")
    spec = "semantic:20:0:words,batch_size=3"
    result = cli(tmp_path / "a.txt", tmp_path / "b", "-s", spec, "--estimate", "--price", "100")
    assert result.status == 0
    assert result.out.splitlines() == [
        "documents  2",
        "texts      6",
        "size       17 words",
        "calls      2 of 3 texts at most",
        "price      0.0017",
    ]
    # A section that fits is not embedded.
    result = cli(tmp_path / "b", "-s", "document_based", "--estimate")
    assert "texts      0\n" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--estimate"], "--estimate means nothing to recursive: it asks no model"),
        (["--price", "1"], "--price means nothing without --estimate"),
        (["-s", "semantic", "--estimate", "-o", "x.csv"], "-o means nothing with --estimate"),
        (["--embedder", KEYWORD], "--embedder means nothing to recursive"),
        (["-s", "semantic", "--embedder", "x"], "--embedder ('x') must be one of 'static'"),
    ],
)
def test_wrong_calls(tmp_path, arguments, message):
    result = cli(write(tmp_path / "a.txt", TEXT), *arguments)
    assert result.status == 2
    assert message in result.err


def test_a_missing_package_is_told_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("cantle.embed.static.find_spec", lambda name: None)
    result = cli(write(tmp_path / "a.txt", TEXT), "-s", "semantic")
    assert result.status == 2
    assert "embedder 'static' needs the word vectors" in result.err
