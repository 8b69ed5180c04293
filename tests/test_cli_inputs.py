"""What `cantle chunk` reads: files, folders, globs, standard input, JSON Lines; and their ids."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli_runs import TEXT, cli, ids, write

pytestmark = pytest.mark.usefixtures("in_own_folder")


def test_a_folder_is_read_in_order_with_ids_below_it() -> None:
    for name in ("b.txt", "a/z.md", "a/b/c.rst", "a.markdown", "c.TEXT", "d.jsonl", ".hidden/x.md"):
        write(f"docs/{name}", '{"text": "x"}' if name.endswith("jsonl") else TEXT)
    for name in ("image.png", "script.py", ".secret.txt"):
        write(f"docs/{name}", b"\xff")
    result = cli("docs")
    assert result.status == 0
    assert ids(result) == ["a/b/c.rst", "a/z.md", "a.markdown", "b.txt", "c.TEXT", "d.jsonl:1"]
    assert "2 files of other kinds left out of folders" in result.err


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("docs/*.md", ["a.md", "b.md"]),
        ("docs/**/*.md", ["a.md", "b.md", "sub/c.md"]),
        ("docs/**", ["a.md", "b.md", "sub/c.md", "sub/d.log"]),
        ("docs/s*", ["sub/c.md"]),
        ("docs/[b].md", ["b.md"]),
        ("docs/*/*.log", ["sub/d.log"]),
        ("*/a.md", ["docs/a.md"]),
    ],
)
def test_globs(pattern: str, expected: list[str]) -> None:
    for name in ("a.md", "b.md", "sub/c.md", "sub/d.log"):
        write(f"docs/{name}")
    result = cli(pattern)
    assert (result.status, ids(result)) == (0, expected)


def test_a_file_whose_name_looks_like_a_glob_is_a_file() -> None:
    write("a[1].txt")
    write("a1.txt")
    assert ids(cli("a[1].txt")) == ["a[1].txt"]


def test_a_named_file_is_read_whatever_its_ending() -> None:
    write("LICENCE")
    write("x/notes.org")
    assert ids(cli("LICENCE", "x/notes.org")) == ["LICENCE", "notes.org"]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["a", "b"], ["a/x.md", "b/x.md"]),
        (["a", "b/x.md"], ["a/x.md", "b/x.md"]),
        (["a", "a/x.md", "./a/../a/x.md"], ["x.md"]),
        (["a", "c"], ["a/x.md", "c/a/x.md"]),
        (["a", "b", "c"], ["a/x.md", "b/x.md", "c/a/x.md"]),
    ],
)
def test_ids_are_unique(paths: list[str], expected: list[str]) -> None:
    for name in ("a/x.md", "b/x.md", "c/a/x.md"):
        write(name, name)
    result = cli(*paths)
    got = ids(result)
    assert result.status == 0
    assert len(got) == len(expected)
    assert [row["text"] for row in result.rows] == [
        path if path.count("/") else "a/x.md" for path in expected
    ]


def test_two_files_that_would_share_an_id_take_their_paths() -> None:
    write("a/x.md")
    write("b/x.md")
    write("b/y.md")
    assert ids(cli("a", "b")) == ["a/x.md", "b/x.md", "y.md"]


def test_unicode_file_names() -> None:
    names = ["Grüße.md", "日本語/文書.txt", "🎉 two words.rst", "e\u0301.txt"]
    for name in names:
        write(f"docs/{name}")
    result = cli("docs")
    assert sorted(ids(result)) == sorted(names)


@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"bell\x07\x1b[2J.txt"])
def test_file_names_that_no_terminal_should_see(name: bytes) -> None:
    path = os.path.join(os.fsencode(os.getcwd()), b"docs")
    os.mkdir(path)
    try:
        with open(os.path.join(path, name), "wb") as file:
            file.write(TEXT.encode())
        with open(os.path.join(path, name + b".md"), "wb") as file:
            file.write(b"\xff")
    except OSError:  # macOS keeps no name that is not UTF-8.
        return
    result = cli("docs")
    assert ids(result) == [name.decode("utf-8", "backslashreplace")]
    assert "\x1b" not in result.err
    assert "not UTF-8 (the byte 0xff at position 0 is out of place)" in result.err
    assert "\x1b" not in cli("docs", "--table").out


def test_standard_input() -> None:
    result = cli("-", stdin="Grüße aus\r\nBerlin".encode())
    assert [row["text"] for row in result.rows] == ["Grüße aus\r\nBerlin"]
    assert result.rows[0]["id"] == "stdin_recursive_0"
    assert cli("-", stdin=b"a\xffb").problems == [
        "cantle: skipped standard input: not UTF-8 (the byte 0xff at position 1 is out of place)"
    ]


def test_standard_input_as_json_lines() -> None:
    lines = b'{"body": "x", "key": 7}\n\n{"body": "y", "key": "k"}\n'
    assert ids(cli("-", "--column", "body", stdin=lines)) == ["stdin:1", "stdin:3"]
    assert ids(cli("-", "--column", "body", "--id-column", "key", stdin=lines)) == ["7", "k"]


def test_json_lines_keep_their_other_columns_as_metadata() -> None:
    row = {"id": "k", "body": "Some text.", "page": 3, "tags": ["a"], "more": {"x": None}}
    write("a.ndjson", b"\xef\xbb\xbf" + json.dumps(row).encode() + b"\r\n")
    (chunk,) = cli("a.ndjson", "--column", "body", "--id-column", "id").rows
    assert chunk["id"] == "k_recursive_0"
    assert chunk["text"] == "Some text."
    assert chunk["metadata"] == {"page": 3, "tags": ["a"], "more": {"x": None}}


LINES = [
    (b'{"text": 1', "invalid JSON (Expecting ',' delimiter, column 11)"),
    (b'{"text": "a", "n": NaN}', "invalid JSON (NaN is no JSON)"),
    (b"[" * 100_000, "invalid JSON"),
    (b'{"text": "a\xff"}', "not UTF-8 (the byte 0xff at position 11 is out of place)"),
    (b'"text"', "not a JSON object (it is text)"),
    (b"{}", "no column 'text' (its columns: none)"),
    (b'{"body": "a", "n": 1}', "no column 'text' (its columns: 'body', 'n')"),
    (b'{"text": null}', "column 'text' is not text (it is null)"),
    (b'{"text": ["a"]}', "column 'text' is not text (it is a list)"),
    (b'{"text": 3.5}', "column 'text' is not text (it is a number)"),
]


@pytest.mark.parametrize(("line", "message"), LINES, ids=[message for _, message in LINES])
def test_a_bad_line_is_named_and_the_others_are_cut(line: bytes, message: str) -> None:
    write("d/a.jsonl", b'{"text": "one"}\n' + line + b'\n{"text": "three"}')
    result = cli("d/a.jsonl")
    assert result.status == 1
    assert [row["source"] for row in result.rows] == ["a.jsonl:1", "a.jsonl:3"]
    (problem,) = result.problems
    assert problem.startswith(f"cantle: skipped d/a.jsonl:2: {message}")


IDS = [
    ('{"text": "b"}', "no column 'id' (its columns: 'text')"),
    ('{"text": "b", "id": "k"}', "the id is taken ('k' is that of a.jsonl:1)"),
    ('{"text": "b", "id": ""}', "column 'id' is neither text nor a number (it is empty)"),
    ('{"text": "b", "id": true}', "column 'id' is neither text nor a number (it is true)"),
    ('{"text": "b", "id": "b.txt"}', "the id is taken ('b.txt' is that of b.txt)"),
]


@pytest.mark.parametrize(("line", "message"), IDS, ids=[message for _, message in IDS])
def test_a_line_without_an_id_of_its_own(line: str, message: str) -> None:
    write("a.jsonl", '{"text": "a", "id": "k"}\n' + line + "\n")
    write("b.txt")
    result = cli("a.jsonl", "b.txt", "--id-column", "id")
    assert (result.status, ids(result)) == (1, ["k", "b.txt"])
    assert result.problems == [f"cantle: skipped a.jsonl:2: {message}"]


def test_many_bad_lines_are_named_in_part_and_counted_in_full() -> None:
    write("a.jsonl", "{}\n" * 500)
    result = cli("a.jsonl")
    assert len(result.problems) == 11
    assert result.problems[-1] == "cantle: more of a.jsonl is skipped; from here on only counted"
    assert result.err.splitlines()[-2:] == [
        "--column names the column that holds the text of tables; the strategies rows and routed "
        "take CSV and TSV files whole",
        "500 skipped: 500 no column 'text'",
    ]


FILES = [
    ("nofile.txt", "nofile.txt: no such file or folder"),
    ("no*.txt", "no*.txt: nothing matches"),
    (
        "empty",
        "empty: no documents (none of .md .markdown .rst .text .txt .html .htm .xhtml .jsonl "
        ".ndjson .csv .tsv .parquet .arrow .feather .ipc .pdf .docx .pptx .xlsx in it)",
    ),
    ("latin.txt", "latin.txt: not UTF-8 (the byte 0xfc at position 2 is out of place)"),
    ("utf16.txt", "utf16.txt: not UTF-8 (it is UTF-16)"),
    ("cut.txt", "cut.txt: not UTF-8 (the byte 0xc3 at position 1 is out of place)"),
    ("broken", "broken: cannot be read (No such file or directory)"),
]


@pytest.mark.parametrize(("path", "message"), FILES, ids=[path for path, _ in FILES])
def test_what_cannot_be_read_is_named_and_the_others_are_cut(path: str, message: str) -> None:
    os.mkdir("empty")
    write("latin.txt", "Grüße".encode("latin-1"))
    write("utf16.txt", "Grüße".encode("utf-16"))
    write("cut.txt", b"a\xc3")
    os.symlink("nowhere", "broken")
    write("good.md")
    result = cli(path, "good.md", "-o", "out.jsonl")
    assert result.status == 1
    assert result.problems == [f"cantle: skipped {message}"]
    assert result.err.splitlines()[-1].startswith("1 skipped: 1 ")
    assert Path("out.jsonl").read_text(encoding="utf-8").count('"source": "good.md"') == 1

    os.rename("out.jsonl", "old.jsonl")
    strict = cli(path, "good.md", "-o", "out.jsonl", "--strict")
    assert (strict.status, strict.out) == (1, "")
    assert strict.err == f"cantle: {message}; stopped (--strict)\n"
    assert not Path("out.jsonl").exists()


def test_a_folder_that_cannot_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    write("docs/a.md")
    write("docs/locked/b.md")
    scan = os.scandir

    def guarded(path: str) -> object:
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", guarded)
    result = cli("docs")
    assert (result.status, ids(result)) == (1, ["a.md"])
    assert result.problems == [
        "cantle: skipped docs/locked: cannot be read (Permission denied)",
    ]


def test_an_old_file_stays_when_nothing_could_be_read() -> None:
    write("out.jsonl", "old")
    assert cli("nofile.txt", "-o", "out.jsonl").status == 1
    assert Path("out.jsonl").read_text(encoding="utf-8") == "old"


def test_an_empty_file_is_a_document_without_chunks() -> None:
    write("empty.txt", "")
    write("blank.txt", " \n\t\n")
    result = cli("empty.txt", "blank.txt")
    assert (result.status, result.out) == (0, "")
    assert result.err.startswith("2 documents, 0 chunks ")


def test_the_target_in_a_folder_is_no_input() -> None:
    write("docs/a.md")
    first = cli("docs", "-o", "docs/chunks.jsonl")
    content = Path("docs/chunks.jsonl").read_bytes()
    second = cli("docs", "-o", "docs/chunks.jsonl")
    assert (first.status, second.status) == (0, 0)
    assert Path("docs/chunks.jsonl").read_bytes() == content
