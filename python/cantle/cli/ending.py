"""How a command ends before its time: a message on standard error, and an exit status."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn

import typer

from cantle.cli.report import Report


def end(report: Report, status: int, message: str) -> NoReturn:
    """End a run that has begun."""
    report.close()
    report.say(f"cantle: {message}")
    raise typer.Exit(status) from None


def wrong(message: str, status: int = 2) -> NoReturn:
    """End a call that cannot begin."""
    print(f"cantle: {' '.join(message.split())}", file=sys.stderr)
    raise typer.Exit(status)


def forget_stdout() -> None:
    """Send what is still buffered nowhere, so that the interpreter ends in silence."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
