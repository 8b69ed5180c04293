"""The application: its commands, its version, and how errors of usage are told."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import cantle
from cantle.cli.bench import bench
from cantle.cli.chunk import chunk
from cantle.cli.compare import compare
from cantle.cli.grouped import Grouped
from cantle.cli.index import index
from cantle.cli.info import info
from cantle.cli.inspect import inspect
from cantle.cli.search import search
from cantle.cli.sync import sync

app = typer.Typer(
    rich_markup_mode=None,  # Brackets in the help are brackets.
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("chunk", cls=Grouped, short_help="Cut documents into chunks.")(chunk)
app.command(
    "inspect", cls=Grouped, short_help="Say what documents hold, and which strategy suits each."
)(inspect)
app.command(
    "compare", cls=Grouped, short_help="Compare what strategies make of the same documents."
)(compare)
app.command("index", cls=Grouped, short_help="Cut documents into a store and embed them.")(index)
app.command("search", cls=Grouped, short_help="Find what answers a question in a store.")(search)
app.command("sync", cls=Grouped, short_help="Bring a store to the state of its documents.")(sync)
app.command("info", cls=Grouped, short_help="Say what a store holds, and check it.")(info)
app.command("bench", cls=Grouped, short_help="Measure speed and memory on your own documents.")(
    bench
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"cantle {cantle.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Cut documents into chunks that are exact slices of their source.

    \b
      cantle inspect docs                                  what is in them, and what suits it
      cantle chunk docs --strategy routed -o chunks.jsonl  cut each by what suits it
      cantle compare docs                                  what each strategy would store
      cantle index docs -o kb.cantle                       cut, embedded and kept in one file
      cantle search kb.cantle "who pays?"                  what answers that
      cantle bench docs                                    how fast that is

    `cantle chunk --help` shows what a command takes, with examples.
    """


def run(arguments: Sequence[str]) -> int:
    """Return the exit status of one call: 0 done, 1 in part or not, 2 wrong call, 130 Ctrl-C."""
    # A caller may close a stream; Python then has none, and what goes there goes nowhere.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, open(nowhere, "w", closefd=False))  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = app(list(arguments), prog_name="cantle", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141
    except Exception as error:
        # typer brings its own click or takes the installed one: known by what it can do.
        tell = getattr(error, "format_message", None)
        if tell is None:
            raise
        message = str(tell())
        if message.startswith("Usage:"):
            print(message, file=sys.stderr)
        else:
            # The error knows the command it is about.
            command = getattr(getattr(error, "ctx", None), "command_path", "cantle")
            said = " ".join(message.split()).rstrip(".") + _value(error, message, arguments)
            print(f"cantle: {said}. Try '{command} --help'.", file=sys.stderr)
        return int(getattr(error, "exit_code", 2))
    return status if isinstance(status, int) else 0


def _value(error: Exception, message: str, arguments: Sequence[str]) -> str:
    """Return the value that an option was given, where the message leaves it out."""
    if "nvalid value" not in message:
        return ""
    for option in getattr(getattr(error, "param", None), "opts", ()):
        for argument, following in zip(arguments, [*arguments[1:], ""], strict=True):
            name, equals, value = argument.partition("=")
            if name == option:
                given = value if equals else following
                return "" if repr(given) in message else f" (it is {given!r})"
    return ""
