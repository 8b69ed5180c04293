"""One run of `cantle chunk`, its options checked: inputs are opened, cut, and written."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import typer

from cantle.cli.carried import Carried, carried, own_columns
from cantle.cli.checking import Checking
from cantle.cli.cutting import NotEmbedded, cut
from cantle.cli.ending import end, forget_stdout, wrong
from cantle.cli.formats import TYPED, Missing, Unreadable
from cantle.cli.inputs import Found, Source
from cantle.cli.output import JsonLines, Sink
from cantle.cli.parts import NotOurs, Parts
from cantle.cli.reading import read
from cantle.cli.report import Report, Stopped
from cantle.cli.rows import Columns
from cantle.cli.settings import settings_of
from cantle.cli.spool import spooled
from cantle.cli.table import Table
from cantle.cli.target import is_folder
from cantle.cli.writing import File
from cantle.endpoint import EndpointError
from cantle.strategies import Splitting


@dataclass
class Job:
    """What is to be done."""

    splitter: Splitting
    found: Found
    columns: Columns
    report: Report
    file: str | None
    """Where chunks are written; None: standard output."""
    format: str | None
    """What is written there."""
    table: bool
    """Whether a table is printed."""
    threads: int
    limit: int | None
    """The most documents that are read."""
    checking: Checking | None = None
    """What chunks have to keep; None: nothing."""

    @property
    def settings(self) -> dict[str, Any]:
        """The strategy's settings and the check's, for a program to read."""
        settings = settings_of(self.splitter)
        if self.checking is not None:
            settings["check"] = self.checking.as_dict()
        return settings

    @property
    def _own(self) -> tuple[str, ...]:
        return own_columns(self.splitter, self.found.sources)

    def run(self) -> None:
        """Do it; a run that cannot go on ends the process with a message and a status."""
        self.report.others = self.found.others
        with ExitStack() as stack:
            stack.callback(self.report.close)
            try:
                self._cut(stack)
            except Stopped as stopped:
                end(self.report, 1, f"{stopped}; stopped (--strict)")
            except NotEmbedded as error:
                end(self.report, 1, str(error))
            except BrokenPipeError:
                forget_stdout()
                raise typer.Exit(141) from None
            except OSError as error:
                place = "standard output" if self.file is None else self.file
                end(self.report, 1, f"cannot write {place}: {error.strerror or error}")
            except EndpointError as error:
                end(self.report, 1, str(error))
            except Unreadable as error:
                end(self.report, 1, f"cannot read standard input: {error}")
            except MemoryError:
                end(self.report, 1, "there is not enough memory")
            except KeyboardInterrupt:
                parts = self.file is not None and is_folder(self.file)
                more = f"; the same call goes on from the parts in {self.file}" if parts else ""
                end(self.report, 130, f"interrupted{more}")

    def _cut(self, stack: ExitStack) -> None:
        tables = self.format not in (None, "jsonl")
        sources = spooled(self.found.sources, stack, tables=tables)
        target = self._target(sources, tables)
        sinks: list[Sink] = [Table(self._own)] if self.table else []
        if target is not None:
            stack.callback(target.discard)
            sinks.append(target)
        elif not self.table:
            sinks.append(JsonLines(sys.stdout.buffer, self._own))
        for problem in self.found.problems:
            self.report.problem(problem)
        if not (self.table and sys.stdout.isatty()):
            self.report.show_bar(_total(self.found))
        if isinstance(target, Parts):
            documents = target.rest(read(target.left(), self.columns))
        else:
            documents = read(sources, self.columns)
        cuts = cut(
            self.splitter,
            documents,
            self.report,
            threads=self.threads,
            limit=self.limit,
            checking=self.checking,
        )
        for chunks, batch in cuts:
            for sink in sinks:
                sink.write(chunks, batch)
        for sink in sinks:
            sink.close()
        sys.stdout.flush()
        if target is not None and (self.report.documents or not self.report.skipped):
            target.commit()

    def _target(self, sources: list[Source], tables: bool) -> File | Parts | None:
        own = self._own
        follow = carried(sources, self.columns, own) if tables else Carried(own)
        if self.format not in TYPED:
            follow.types = dict.fromkeys(follow.types)
        file = self.file
        if file is None:
            return None
        try:
            if is_folder(file):
                return Parts(file, follow, sources, self.columns, self.settings, self.report)
            return File(file, follow, self.settings)
        except OSError as error:
            wrong(f"cannot write {file}: {error.strerror or error}")
        except (Missing, NotOurs) as error:
            wrong(f"cannot write {file}: {error}")


def _total(found: Found) -> int | None:
    """Return how many bytes are to be read, if that is known: not what unpacking makes of them."""
    total = 0
    for source in found.sources:
        packed = source.compression or source.format in TYPED
        if packed or not os.path.isfile(source.path):
            return None
        with suppress(OSError):
            total += os.path.getsize(source.path)
    return total
