"""What `cantle chunk` says of damaged inputs and failing outputs, and that it leaves no pieces."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cantle.cli import formats, rows
from cli_runs import TEXT, cli, ids, write
from test_cli_process import ENVIRONMENT, unix

pytestmark = pytest.mark.usefixtures("in_own_folder")


def parquet(**columns: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def arrow(**columns: object) -> bytes:
    stream = io.BytesIO()
    table = pa.table(columns)
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def noise(lines: int) -> bytes:
    """Return JSON Lines that no packer makes small."""
    source = random.Random(1)
    return b"".join(b'{"text": "%d %x"}\n' % (i, source.getrandbits(400)) for i in range(lines))


# Columns

NUMBERS = {"n": [1, 2], "body": ["a", "b"], "t": pa.array(["x", "y"]).dictionary_encode()}
TYPES = "'n' (int64), 'body' (string), 't' (dictionary<values=string, indices=int32, ordered=0>)"
COLUMNS = [
    ("a.parquet", parquet(**NUMBERS), [], f"no column 'text' (its columns: {TYPES})"),
    (
        "a.arrow",
        arrow(**NUMBERS),
        ["--column", "n"],
        "column 'n' is not text (it is int64; its columns of text: 'body', 't')",
    ),
    (
        "a.parquet",
        parquet(text=[b"x"]),
        [],
        "column 'text' is not text (it is binary; its columns of text: none)",
    ),
    (
        "a.parquet",
        parquet(text=["x"], id=[0.5]),
        ["--id-column", "id"],
        "column 'id' is neither text nor a number (it is double)",
    ),
    (
        "a.parquet",
        parquet(text=["x"]),
        ["--carry", "text,url"],
        "no column 'url' (its columns: 'text' (string))",
    ),
    ("a.csv", b"title,body\na,b\n", [], "no column 'text' (its columns: 'title', 'body')"),
    ("a.csv", b"title;text\na;b\n", [], "no column 'text' (its columns: 'title;text')"),
    ("a.tsv", b"title,text\n", [], "no column 'text' (its columns: 'title,text')"),
    (
        "a.csv",
        b"text,n,n\na,1,2\n",
        [],
        "column 'n' is there twice (its columns: 'text', 'n', 'n')",
    ),
    ("a.csv", b"\xfftext\na\n", [], "not UTF-8 (the byte 0xff is out of place)"),
    ("a.csv", "text\na\n".encode("utf-16"), [], "not UTF-8 (it is UTF-16)"),
]


@pytest.mark.parametrize(
    ("name", "data", "options", "message"), COLUMNS, ids=[message for *_, message in COLUMNS]
)
def test_a_table_without_the_columns_is_named_once(
    name: str, data: bytes, options: list[str], message: str
) -> None:
    write(name, data)
    write("good.txt")
    for output in ("out.jsonl", "out.parquet"):
        result = cli(name, "good.txt", *options, "-o", output)
        assert (result.status, result.problems) == (1, [f"cantle: skipped {name}: {message}"])
    assert [row["source"] for row in pq.read_table("out.parquet").to_pylist()] == ["good.txt"]
    assert sorted(os.listdir()) == sorted([name, "good.txt", "out.jsonl", "out.parquet"])


def test_twice_named_columns_that_are_not_asked_for_do_no_harm() -> None:
    write("a.csv", "text,n,n,m\na,1,2,3\n")
    assert cli("a.csv", "--carry", "m").rows[0]["metadata"] == {"m": "3"}


def test_rows_without_a_text_or_an_id_of_their_own_are_named() -> None:
    write("a.parquet", parquet(text=["a", None, "c", "d"], id=["k", "l", "k", None]))
    result = cli("a.parquet", "--id-column", "id")
    assert (result.status, ids(result)) == (1, ["k"])
    assert result.problems == [
        "cantle: skipped a.parquet:2: column 'text' is not text (it is null)",
        "cantle: skipped a.parquet:3: the id is taken ('k' is that of a.parquet:1)",
        "cantle: skipped a.parquet:4: column 'id' is neither text nor a number (it is null)",
    ]


# CSV

REST = "the rest of the file is not read"
RECORDS = [
    (b'one,1\n"two,2\nthree,3\n', ["one"], f"4: invalid CSV (a quote is not closed; {REST})"),
    (b'one,1\n"two"x,2\nthree,3\n', ["one"], f"3: invalid CSV (',' expected after '\"'; {REST})"),
    (b"one,1\nt\0wo,2\nthree,3\n", ["one"], f"3: invalid CSV (a NUL byte; {REST})"),
    (
        b"one,1\n" + b"x" * 300 + b",2\nthree,3\n",
        ["one"],
        f"3: invalid CSV (a line of more than 100 bytes; {REST})",
    ),
    (
        b'one,1\n"' + (b"x" * 60 + b"\n") * 3 + b'",2\nthree,3\n',
        ["one"],
        f"4: invalid CSV (field larger than field limit (100); {REST})",
    ),
    (b"one,1\ntwo\nthree,3\n", ["one", "three"], "3: invalid CSV (1 field, the header has 2)"),
    (b"one,1\nt,w,o\nthree,3\n", ["one", "three"], "3: invalid CSV (3 fields, the header has 2)"),
    (
        b"one,1\ntw\xf6,2\nthree,3\n",
        ["one", "three"],
        "3: not UTF-8 (the byte 0xf6 is out of place)",
    ),
]


@pytest.mark.parametrize(
    ("records", "texts", "message"), RECORDS, ids=[message for *_, message in RECORDS]
)
def test_damage_in_csv_is_named_with_its_line(
    records: bytes, texts: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "LONGEST", 100)
    write("a.csv", b"text,n\n" + records)
    write("good.txt", "good")
    result = cli("a.csv", "good.txt")
    assert result.status == 1
    assert [row["text"] for row in result.rows] == [*texts, "good"]
    assert result.problems == [f"cantle: skipped a.csv:{message}"]


# Long lines, long texts


def test_a_line_that_is_too_long_is_named_and_the_next_ones_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "LONGEST", 100)
    long = json.dumps({"text": "x" * 3_000_000})
    write("a.jsonl", '{"text": "one"}\n' + long + '\n{"text": "three"}\n' + long)
    result = cli("a.jsonl")
    assert (result.status, ids(result)) == (1, ["a.jsonl:1", "a.jsonl:3"])
    assert result.problems == [
        f"cantle: skipped a.jsonl:{line}: the line is too long (more than 100 bytes)"
        for line in (2, 4)
    ]


def test_a_text_that_memory_does_not_hold_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*arguments: object) -> None:
        raise MemoryError

    write("a.txt")
    write("b.jsonl", '{"text": "good"}')
    monkeypatch.setattr("cantle.cli.reading._text", none_left)
    result = cli("a.txt", "b.jsonl")
    assert (result.status, ids(result)) == (1, ["b.jsonl:1"])
    assert result.problems == [
        "cantle: skipped a.txt: cannot be read (there is not enough memory for it)"
    ]


# Damaged files

LINES = noise(2_000)
PARQUET = parquet(text=[TEXT] * 1_000)
ARROW = arrow(text=[TEXT] * 1_000)
DAMAGED: list[tuple[str, bytes, str]] = [
    ("a.txt.gz", gzip.compress(LINES)[:-20], "the compressed data ends early"),
    ("a.txt.gz", b"", "the compressed data ends early"),
    ("a.txt.gz", b"plain text", "it is not gzip"),
    (
        "a.txt.gz",
        gzip.compress(LINES)[:1_000] + b"\xff" * 100 + gzip.compress(LINES)[1_100:],
        "the gzip data is damaged",
    ),
    ("a.txt.zst", formats.zstd().compress(LINES)[:-20], "the compressed data ends early"),
    ("a.txt.zst", b"", "the compressed data ends early"),
    ("a.txt.zst", b"plain text that is long enough", "it is not Zstandard"),
    ("a.parquet", b"", "Parquet file size is 0 bytes"),
    ("a.parquet", PARQUET[:-30], "Parquet magic bytes not found in footer"),
    ("a.parquet", b"PAR1" + b"x" * 50, "Parquet magic bytes not found in footer"),
    ("a.arrow", ARROW[:-30], "Not an Arrow file"),
    ("a.arrow", b"", "it is empty"),
    (
        "a.feather",
        b"FEA1" + b"\0" * 50,
        "it is Feather of the first version; write it anew as Arrow",
    ),
]


@pytest.mark.parametrize(
    ("name", "data", "message"), DAMAGED, ids=[f"{n}-{message}" for n, _, message in DAMAGED]
)
def test_a_damaged_file_is_named(name: str, data: bytes, message: str) -> None:
    write(f"d/{name}", data)
    write("d/good.txt")
    for output in ("out.jsonl", "out.parquet"):
        result = cli("d", "-o", output)
        assert result.status == 1
        assert result.problems == [f"cantle: skipped d/{name}: cannot be read ({message})"]
    assert sorted(os.listdir()) == ["d", "out.jsonl", "out.parquet"]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.jsonl.gz", "a.csv.zst"])
def test_bytes_that_flip_or_lack_never_pass_in_silence(name: str) -> None:
    """Wherever a file is cut off, what is missing is told."""
    texts = [f"text {i} {os.fsencode(str(hash(i)))!r}" for i in range(200)]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
    whole = {
        "a.parquet": parquet(text=texts),
        "a.arrow": arrow(text=texts),
        "a.jsonl.gz": gzip.compress(lines),
        "a.csv.zst": formats.zstd().compress(("text\n" + "\n".join(texts)).encode()),
    }[name]
    for end in range(0, len(whole) - 1, max(1, len(whole) // 25)):
        write(name, whole[:end])
        result = cli(name)
        assert result.status == 1, end
        assert len(result.problems) >= 1


def test_what_was_read_before_the_damage_is_kept_and_strict_keeps_nothing() -> None:
    write("a.jsonl.gz", gzip.compress(LINES)[:-1_000])
    result = cli("a.jsonl.gz", "-o", "out.jsonl")
    assert result.status == 1
    assert 0 < Path("out.jsonl").read_bytes().count(b"\n") < 2_000
    result = cli("a.jsonl.gz", "-o", "out.csv", "--strict")
    assert result.err == (
        "cantle: a.jsonl.gz: cannot be read (the compressed data ends early); stopped (--strict)\n"
    )
    assert sorted(os.listdir()) == ["a.jsonl.gz", "out.jsonl"]


def test_standard_input_that_is_no_table() -> None:
    result = cli("-", "--format", "parquet", stdin=b"text,n\n1,2\n")
    assert (result.status, result.problems) == (
        1,
        [
            "cantle: skipped standard input: cannot be read (Parquet magic bytes not found in "
            "footer)"
        ],
    )


# Outputs

OUTPUTS = ["out.jsonl", "out.csv", "out.parquet", "out.arrow", "out.jsonl.gz", "out.csv.zst"]


@unix
@pytest.mark.parametrize("old", [False, True])
def test_a_full_disk_leaves_nothing_half_written(old: bool) -> None:
    write("a.jsonl", noise(5_000))
    for output in OUTPUTS if old else []:
        write(output, "old")
    code = f"""
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        from cantle.cli.app import run
        print([run(["chunk", "a.jsonl", "-o", output]) for output in {OUTPUTS}])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"{[1] * len(OUTPUTS)}\n"
    assert done.stderr.splitlines() == [
        f"cantle: cannot write {output}: File too large" for output in OUTPUTS
    ]
    assert sorted(os.listdir()) == sorted(["a.jsonl", *OUTPUTS] if old else ["a.jsonl"])
    for output in OUTPUTS if old else []:
        assert Path(output).read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is full")
def test_a_device_that_is_full() -> None:
    write("a.jsonl", noise(5_000))
    result = cli("a.jsonl", "-o", "/dev/full")
    message = "cantle: cannot write /dev/full: No space left on device\n"
    assert (result.status, result.err) == (1, message)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (OSError(30, "Read-only file system"), "Read-only file system"),
    ],
)
def test_a_target_that_cannot_be_written(
    output: str, error: OSError, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The tests may run as root, who can write anywhere; so the system's refusal is played.
    def refuse(*arguments: object) -> None:
        raise error

    write("a.txt")
    monkeypatch.setattr("cantle.target.tempfile.mkstemp", refuse)
    result = cli("a.txt", "-o", output)
    assert (result.status, result.err) == (2, f"cantle: cannot write {output}: {message}\n")
    assert os.listdir() == ["a.txt"]


@pytest.mark.parametrize("output", OUTPUTS)
def test_ctrl_c_leaves_the_old_file(output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import cantle

    cut: Callable[..., cantle.Chunks] = cantle.Recursive.split_all
    calls = []

    def interrupt(*arguments: object, **rest: object) -> cantle.Chunks:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return cut(*arguments, **rest)

    monkeypatch.setattr(cantle.Recursive, "split_all", interrupt)
    write("a.jsonl", noise(5_000))
    write(output, "old")
    result = cli("a.jsonl", "-o", output)
    assert (result.status, result.err) == (130, "cantle: interrupted\n")
    assert Path(output).read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir()) == sorted(["a.jsonl", output])
