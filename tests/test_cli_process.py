"""`python -m cantle` as a process: what only a real one shows."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import cantle

PACKAGE = str(Path(cantle.__file__).parents[1])
ENVIRONMENT = os.environ | {"PYTHONPATH": PACKAGE, "PYTHONWARNINGS": "error"}
unix = pytest.mark.skipif(os.name != "posix", reason="needs signals, pipes or terminals of Unix")


def start(*arguments: str, cwd: Path, **rest: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cantle", *arguments],
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **rest,  # type: ignore[call-overload]
    )


def run(*arguments: str, cwd: Path, stdin: bytes = b"") -> tuple[int, str, str]:
    with start(*arguments, cwd=cwd) as process:
        out, err = process.communicate(stdin, timeout=60)
    return process.returncode, out.decode(), err.decode()


def test_a_file_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "ä.md").write_bytes("Grüße.\r\n\r\nEnde 🎉".encode())
    status, out, err = run("chunk", "ä.md", "-", "--size", "4", cwd=tmp_path, stdin=b"from a pipe")
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [row["source"] for row in rows] == ["ä.md"] * (len(rows) - 1) + ["stdin"]
    assert err.startswith("2 documents, ")
    assert "\x1b" not in err


def test_lines_end_the_same_everywhere(tmp_path: Path) -> None:
    with start("chunk", "-", cwd=tmp_path) as process:
        out, _ = process.communicate(b"a\r\nb", timeout=60)
    assert out.endswith(b'"text": "a\\r\\nb"}\n')
    assert b"\r" not in out


@pytest.mark.parametrize("arguments", [["chunk"], ["chunk", "-", "--size", "0"], ["nothing"]])
def test_a_wrong_call_ends_with_2_and_no_traceback(arguments: list[str], tmp_path: Path) -> None:
    status, out, err = run(*arguments, cwd=tmp_path)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1


def test_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path) == (0, f"cantle {cantle.__version__}\n", "")


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    for name in ("typer", "rich"):
        code = f"""
            import sys
            sys.modules["{name}"] = None
            sys.modules["{name}.console"] = None
            import cantle.cli
            cantle.cli.main()
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert 'pip install "cantle[cli]"' in done.stderr


@unix
def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "some words here"}\n' * 50_000, encoding="utf-8")
    for arguments in (["-o", "-"], ["--table"]):
        with start("chunk", "a.jsonl", *arguments, cwd=tmp_path) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141


@unix
@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGINT, 130, "cantle: interrupted\n"), (signal.SIGTERM, 143, "")],
)
def test_a_signal_leaves_nothing_half_written(
    number: signal.Signals, status: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "out.jsonl").write_text("old", encoding="utf-8")
    with start("chunk", "-", "--column", "text", "-o", "out.jsonl", cwd=tmp_path) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b'{"text": "some words here"}\n' * 2_500)
        process.stdin.flush()
        until = time.monotonic() + 30
        while len(os.listdir(tmp_path)) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        assert len(os.listdir(tmp_path)) == 2, "the file beside the target is not there"
        time.sleep(0.2)
        process.send_signal(number)
        process.wait(timeout=30)
        assert process.stderr.read().decode() == said
    assert process.returncode == status
    assert os.listdir(tmp_path) == ["out.jsonl"]
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == "old"


@unix
def test_a_terminal_gets_a_table_and_a_bar(tmp_path: Path) -> None:
    import pty

    (tmp_path / "a.txt").write_text("Some words.", encoding="utf-8")
    for arguments, seen in (([], "first words"), (["-o", "out.jsonl"], "━")):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-m", "cantle", "chunk", "a.txt", *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT | {"TERM": "xterm", "COLUMNS": "90"},
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        data = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:  # Linux ends a terminal with an error.
                break
            if not piece:
                break
            data += piece
        os.close(leader)
        assert process.wait(timeout=30) == 0
        assert seen in data.decode()
        assert "1 document, 1 chunk" in data.decode()


CLOSED = [
    ("a.txt >&-", 1, "cantle: cannot write standard output: it is closed\n"),
    ("a.txt -q -o b.jsonl >&-", 0, ""),
    ("- -q <&-", 1, "cantle: skipped standard input: cannot be read (it is closed)\n"),
    ("a.txt -q -o - 2>&-", 0, ""),
    ("a.txt --jobs 99999999999999999999", 2, None),
    ("e.jsonl -q -o -", 1, None),
]


@pytest.mark.parametrize(("call", "status", "err"), CLOSED, ids=[call for call, *_ in CLOSED])
def test_closed_streams_and_numbers_out_of_range(
    call: str, status: int, err: str | None, tmp_path: Path
) -> None:
    """Each of these once ended in a traceback, or wrote what is no JSON."""
    (tmp_path / "a.txt").write_text("a b c")
    (tmp_path / "e.jsonl").write_text('{"text": "hi", "m": 1e999}\n')
    command = f"{shlex.quote(sys.executable)} -m cantle chunk {call}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Infinity" not in done.stdout
    assert done.returncode == status
    assert err is None or done.stderr == err
