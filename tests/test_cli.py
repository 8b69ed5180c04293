"""`cantle chunk` as a user runs it: inputs, settings, output, messages, exit status."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import cantle
from cantle.cli.app import run
from cli_runs import TEXT, cli, write

pytestmark = pytest.mark.usefixtures("in_own_folder")


# Output


def test_rows_are_what_the_api_gives() -> None:
    write("a.txt", TEXT * 30)
    write("b.md", "Grüße 🎉 e\u0301.\r\n\r\nZweiter Absatz.\r\n" * 20)
    result = cli("a.txt", "b.md", "--size", "20", "--overlap", "5", "--unit", "words")
    strategy = cantle.Recursive(20, 5, "words")
    texts = [Path(name).read_bytes().decode() for name in ("a.txt", "b.md")]
    chunks = strategy.split_all(texts, ids=["a.txt", "b.md"])
    assert result.status == 0
    assert result.rows == [chunk.as_dict() for chunk in chunks]
    assert len(result.rows) > 10


def test_rows_with_metadata_are_what_the_api_gives() -> None:
    rows = [{"text": TEXT * (i % 3), "n": i, "tags": ["x", i]} for i in range(5)]
    write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    result = cli("a.jsonl", "--size", "5", "--unit", "words")
    chunks = cantle.Recursive(5, 0, "words").split_all(
        [row["text"] for row in rows],
        ids=[f"a.jsonl:{i + 1}" for i in range(5)],
        metadata=[{"n": i, "tags": ["x", i]} for i in range(5)],
    )
    assert result.rows == [chunk.as_dict() for chunk in chunks]


@pytest.mark.parametrize(
    "content",
    [
        "Zeile eins.\r\nZeile zwei.\r\n\r\nAbsatz.\r\n",
        "\ufeffMit BOM. Und mehr.\n",
        "日本語の文です。次の文です。\n\n終わり。",
        "👩‍👩‍👧‍👦 e\u0301\u0301 \u202eabc\u202c\x1b[31m \x00 end",
        "\r\r\n\n\u2028\u0085 x \x1c y",
    ],
)
@pytest.mark.parametrize("trim", [[], ["--no-trim"]])
@pytest.mark.parametrize("strategy", ["whole", "window", "recursive", "sentence"])
def test_chunks_are_exact_slices_of_the_file(content: str, trim: list[str], strategy: str) -> None:
    data = write("a.txt", content).read_bytes()
    result = cli("a.txt", "-s", strategy, "--size", "6", "--unit", "chars", *trim)
    assert result.status == 0
    assert result.rows
    for row in result.rows:
        assert data[row["byte_start"] : row["byte_end"]].decode() == row["text"]
        assert content[row["char_start"] : row["char_end"]] == row["text"]
    if trim:
        assert "".join(row["text"] for row in result.rows) == content


def test_output_file_holds_the_same_lines_and_nothing_is_left_beside_it() -> None:
    write("a.txt")
    printed = cli("a.txt", "-o", "-").out
    result = cli("a.txt", "-o", "out.jsonl")
    assert (result.status, result.out) == (0, "")
    assert Path("out.jsonl").read_bytes() == printed.encode()
    assert sorted(os.listdir()) == ["a.txt", "out.jsonl"]


def test_without_a_terminal_lines_are_printed_and_a_table_on_request() -> None:
    write("a.txt")
    assert cli("a.txt").rows[0]["id"] == "a.txt_recursive_0"
    result = cli("a.txt", "--table", "--size", "6", "--unit", "words")
    lines = [line.split(None, 3) for line in result.out.splitlines()]
    assert [line[0] for line in lines] == ["id", "a.txt_recursive_0", "a.txt_recursive_1"]
    assert lines[1][1:3] == ["0..29", "6"]
    assert lines[2][3].startswith("Seven eight nine. Ten.")


def test_table_and_file_together() -> None:
    write("a.txt")
    result = cli("a.txt", "--table", "-o", "out.jsonl")
    assert "a.txt_recursive_0" in result.out
    assert Path("out.jsonl").read_text(encoding="utf-8").count("\n") == 1


def test_table_shows_what_a_terminal_would_act_upon_as_escapes() -> None:
    write("a.txt", "red \x1b[31m and \u202e turned [bold]\n")
    line = cli("a.txt", "--table").out.splitlines()[1]
    assert r"red \x1b[31m and \u202e turned [bold]" in line
    assert "\x1b" not in line


def test_table_marks_oversize_and_summary_counts_it() -> None:
    write("a.txt", "👩‍👩‍👧‍👦")
    result = cli("a.txt", "--table", "--size", "2", "--unit", "chars")
    assert "7!" in result.out
    assert "1 chunk over the limit: one indivisible unit is larger" in result.err


def test_surrogates_in_metadata_are_written_as_escapes() -> None:
    write("a.jsonl", '{"text": "x y", "note": "\\ud800"}\n')
    result = cli("a.jsonl")
    assert result.status == 0
    assert r"\ud800" in result.out


def test_summary_and_quiet() -> None:
    write("a.txt")
    write("b.txt", "")
    result = cli("a.txt", "b.txt")
    line = result.err.splitlines()[0]
    assert line.startswith("2 documents, 1 chunk (sizes in cl100k_base), 54 bytes in ")
    assert line.endswith(" MB/s")
    assert cli("a.txt", "b.txt", "--quiet").err == ""


def test_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own() -> None:
    write("a.txt")
    mask = os.umask(0o022)
    try:
        cli("a.txt", "-o", "out.jsonl")
        assert os.stat("out.jsonl").st_mode & 0o777 == 0o644
        os.chmod("out.jsonl", 0o600)
        cli("a.txt", "-o", "out.jsonl")
        assert os.stat("out.jsonl").st_mode & 0o777 == 0o600
    finally:
        os.umask(mask)


def test_a_link_as_target_stays_a_link() -> None:
    write("a.txt")
    write("real.jsonl", "old")
    os.symlink("real.jsonl", "out.jsonl")
    assert cli("a.txt", "-o", "out.jsonl").status == 0
    assert Path("out.jsonl").is_symlink()
    assert Path("real.jsonl").read_text(encoding="utf-8").startswith('{"id"')


def test_a_device_as_target_stays_a_device() -> None:
    write("a.txt")
    assert cli("a.txt", "-o", os.devnull).status == 0
    assert not Path(os.devnull).is_file()


# Settings


def test_options_fill_in_what_the_strategy_leaves_out() -> None:
    write("a.txt", TEXT * 20)
    options = ["--overlap", "3", "--unit", "words", "--min-size", "4", "--name", "mine"]
    result = cli("a.txt", "-s", "sentence:12", *options)
    strategy = cantle.Sentence(12, 3, "words", min_size=4, name="mine")
    chunks = strategy.split(TEXT * 20, id="a.txt")
    assert result.rows == [chunk.as_dict() for chunk in chunks]
    assert result.rows[0]["id"] == "a.txt_mine_0"


def test_the_same_setting_given_twice_alike_is_no_conflict() -> None:
    write("a.txt")
    arguments = ["-s", "window:6:2:cl100k_base,trim=false", "--size", "6", "--overlap", "2"]
    assert cli("a.txt", *arguments, "--unit", "cl100k_base", "--no-trim").status == 0


def test_a_tokenizer_file_as_unit() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = {"[UNK]": 0, "One": 1, "two": 2}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save("tokenizer.json")
    write("a.txt", "One two. Three")
    result = cli("a.txt", "-s", "whole", "--unit", "./tokenizer.json")
    assert (result.status, [row["size"] for row in result.rows]) == (0, [4])


WRONG = [
    (["--size", "0"], "size (0) must be at least 1"),
    (["--size", "4", "--overlap", "4"], "overlap (4) must be smaller than size (4)"),
    (["--min-size", "600"], "min_size (600) must not be larger than size (512)"),
    (
        ["-s", "window:8", "--min-size", "2"],
        "--min-size means nothing to window, but to recursive, sentence, structural, semantic, "
        "optimal, documentbased, llm",
    ),
    (
        ["-s", "window:8", "--size", "9"],
        "--size and --strategy 'window:8' set size to different values",
    ),
    (
        ["-s", "window:8:0:words", "--unit", "chars"],
        "--unit and --strategy 'window:8:0:words' set unit to different values",
    ),
    (
        ["-s", "window,trim=true", "--no-trim"],
        "--no-trim and --strategy 'window,trim=true' set trim to different values",
    ),
    (
        ["-s", "magic"],
        "strategy ('magic') must be one of whole, window, recursive, sentence, structural, "
        "clauses, rows, routed, semantic, optimal, documentbased, llm, hierarchical, nested",
    ),
    (["-s", "window:8,deep=2"], "strategy ('window:8,deep=2'): 'deep=2' sets nothing of window"),
    (["-s", "window:x"], "size ('x') must be a whole number"),
    (
        ["--unit", "tokens"],
        "unit ('tokens') must be one of 'bytes', 'chars', 'words', 'cl100k_base', 'o200k_base', "
        "'o200k_harmony', 'gpt2', 'r50k_base', 'p50k_base', 'p50k_edit', 'minilm', "
        "'bert-base-uncased', the path of a tokenizer.json, a tokenizer or a callable; "
        "cantle downloads nothing: on a machine with network, "
        "AutoTokenizer.from_pretrained('tokens').save_pretrained('folder') of the package "
        "transformers writes folder/tokenizer.json",
    ),
    (["--unit", "./no.json"], "unit: cannot read no.json: No such file or directory"),
    (
        ["-s", "routed,sources=no.toml"],
        "strategy ('routed,sources=no.toml'): cannot read no.toml: No such file or directory",
    ),
    (["--table", "-o", "-"], "--table and -o - both write to standard output"),
    (["-o", "no/out.jsonl"], "cannot write no/out.jsonl: there is no folder no"),
    (["-o", "."], "cannot write .: it is a folder; ./ is one to fill with Parquet files"),
    (["-o", "a.txt"], "cannot write a.txt: it is also an input"),
    (["-o", "./b/../a.txt"], "cannot write ./b/../a.txt: it is also an input"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_wrong_call_ends_with_2_and_one_line(arguments: list[str], message: str) -> None:
    write("a.txt")
    os.mkdir("b")
    result = cli("a.txt", *arguments)
    assert (result.status, result.out, result.err) == (2, "", f"cantle: {message}\n")
    assert Path("a.txt").read_text(encoding="utf-8") == TEXT
    assert sorted(os.listdir()) == ["a.txt", "b"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["chunk"],
        ["chunk", "a.txt", "--size", "x"],
        ["chunk", "a.txt", "--size=x"],
        ["chunk", "a.txt", "--siz", "3"],
        ["cut"],
    ],
)
def test_bad_usage_is_one_line(
    arguments: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("cantle: ")
    assert err.count("\n") == 1
    command = "cantle" if arguments[0] == "cut" else "cantle chunk"
    assert f". Try '{command} --help'." in err
    # typer's own words do not tell the value.
    assert ("'x'" in err) == any(argument.endswith("x") for argument in arguments)


def test_help_teaches_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["chunk", "--help"]) == 0
    out = capsys.readouterr().out
    assert "\n    cantle chunk 'docs/**/*.md' --strategy sentence --unit words -o chunks" in out
    assert "name[:size[:overlap[:unit]]][,key=value...]" in out
    assert "Exit status" in out
    groups = [line for line in out.splitlines() if line.endswith(":") and line[0] != " "]
    names = ["Arguments", "Cutting", "Reading", "Writing", "Checking", "Other options"]
    assert groups == [f"{name}:" for name in names]
    assert out.startswith("Usage: cantle chunk PATH... [OPTIONS]\n")
    assert run(["--help"]) == 0
    commands = capsys.readouterr().out.partition("Commands:")[2]
    assert len(commands.split("\n  ")) == 9
    assert "..." not in commands
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"cantle {cantle.__version__}\n"
    assert run([]) == 2
    assert "Usage: cantle" in capsys.readouterr().err


def test_a_target_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    # The tests may run as root, who can write anywhere; so the system's refusal is played.
    def refuse(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    write("a.txt")
    monkeypatch.setattr("cantle.target.tempfile.mkstemp", refuse)
    result = cli("a.txt", "-o", "out.jsonl")
    assert (result.status, result.err) == (2, "cantle: cannot write out.jsonl: Permission denied\n")


# What goes wrong on the way


def test_the_old_file_stays_when_writing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.txt")
    write("out.jsonl", "old")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cantle.cli.target.os.fsync", full)
    result = cli("a.txt", "-o", "out.jsonl")
    assert result.status == 1
    assert result.err == "cantle: cannot write out.jsonl: No space left on device\n"
    assert Path("out.jsonl").read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir()) == ["a.txt", "out.jsonl"]


def test_ctrl_c_ends_with_130_and_leaves_the_old_file(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.txt")
    write("out.jsonl", "old")

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cantle.cli.output.JsonLines.write", interrupt)
    result = cli("a.txt", "-o", "out.jsonl")
    assert (result.status, result.err) == (130, "cantle: interrupted\n")
    assert Path("out.jsonl").read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir()) == ["a.txt", "out.jsonl"]


def test_a_document_that_cannot_be_cut_does_not_take_the_others_along() -> None:
    lines = [{"text": "first"}, {"text": "\ud800 second"}, {"text": "third"}]
    write("a.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    result = cli("a.jsonl")
    assert result.status == 1
    assert [row["text"] for row in result.rows] == ["first", "third"]
    assert result.problems == [
        "cantle: skipped a.jsonl:2: cannot be cut (the text holds a lone surrogate at character 0: "
        "it cannot be written as UTF-8)"
    ]


def test_batches_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(7):
        write(f"d/{i}.txt", TEXT * i)
    whole = cli("d", "--size", "5")
    monkeypatch.setattr("cantle.cli.cutting._DOCUMENTS", 2)
    assert cli("d", "--size", "5").rows == whole.rows
    monkeypatch.setattr("cantle.cli.cutting._BYTES", 1)
    assert cli("d", "--size", "5", "--jobs", "3").rows == whole.rows
    assert len(whole.rows) > 20


def test_a_run_holds_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    cut = cantle.Recursive.split_all

    def count(self: Any, texts: list[str], **rest: Any) -> cantle.Chunks:
        held.append(len(texts))
        return cut(self, texts, **rest)

    monkeypatch.setattr(cantle.Recursive, "split_all", count)
    monkeypatch.setattr("cantle.cli.cutting._DOCUMENTS", 10)
    write("a.jsonl", '{"text": "a b"}\n' * 95)
    assert len(cli("a.jsonl").rows) == 95
    assert held == [10] * 9 + [5]


def test_limit_counts_documents() -> None:
    write("a.jsonl", '{"text": "a"}\n{"no": 1}\n{"text": "b"}\n{"text": "c"}\n')
    result = cli("a.jsonl", "--limit", "2")
    assert [row["text"] for row in result.rows] == ["a", "b"]
    assert cli("a.jsonl", "--limit", "1").status == 0
