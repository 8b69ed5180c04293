"""One run of a command, for the tests of the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from cantle.cli.app import app

TEXT = "One two three. Four five six.\n\nSeven eight nine. Ten.\n"


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def problems(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("cantle: ")]


def cli(*arguments: str | Path, stdin: str | bytes | None = None, command: str = "chunk") -> Result:
    """Run `cantle chunk`, or another command, through typer's runner."""
    result = CliRunner().invoke(app, [command, *map(str, arguments)], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Result(result.exit_code, result.stdout, result.stderr)


def write(path: str, content: str | bytes = TEXT) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def ids(result: Result) -> list[str]:
    return list(dict.fromkeys(row["source"] for row in result.rows))
