"""What commands do alike that look at documents and write none: read them, tell what was found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import typer

from cantle.cli.cutting import NotEmbedded, batches
from cantle.cli.ending import end, forget_stdout
from cantle.cli.formats import Unreadable
from cantle.cli.inputs import STDIN, as_table
from cantle.cli.options import check_target, found_inputs
from cantle.cli.reading import read
from cantle.cli.report import Report
from cantle.cli.rows import Batch, Columns
from cantle.cli.settings import versions
from cantle.cli.spool import spooled
from cantle.cli.target import write_text
from cantle.endpoint import EndpointError


class Survey:
    """One run over documents, whose end is a few tables, or JSON."""

    def __init__(
        self,
        paths: list[str],
        column: str | None,
        id_column: str | None,
        format: str | None,
        limit: int | None,
        target: str | None,
        *,
        quiet: bool,
    ) -> None:
        """Find the inputs, and end a call that cannot begin.

        Args:
            paths: As they were given.
            column: The column of tables that holds the text. Without it and `id_column` a table
                in CSV or TSV is one document.
            id_column: The column of tables that holds the id.
            format: What standard input is, and files whose names do not tell.
            limit: Most documents.
            target: Where JSON goes; `-` is standard output; None: nowhere.
            quiet: Show no bar and no summary.
        """
        self._paths = paths
        self._found = found_inputs(paths, format, lines=not (column is id_column is None))
        if column is id_column is None:
            self._found.sources = [as_table(source) for source in self._found.sources]
        if target is not None and target != STDIN:
            check_target(target, self._found)
        self._columns = Columns("text" if column is None else column, id_column, ())
        self._limit = limit
        self._target = target
        self._report = Report(quiet=quiet, strict=False)
        self._report.others = self._found.others

    def read(self, take: Callable[[Batch, Report], None]) -> None:
        """Hand on the documents, so many at a time; what cannot be read is named."""
        report = self._report
        try:
            with ExitStack() as stack:
                stack.callback(report.close)
                for problem in self._found.problems:
                    report.problem(problem)
                opened = spooled(self._found.sources, stack, tables=False)
                report.show_bar(None)
                for batch in batches(read(opened, self._columns), self._limit, report):
                    take(batch, report)
        except Unreadable as error:
            end(report, 1, f"cannot read standard input: {error}")
        except (NotEmbedded, EndpointError) as error:
            end(report, 1, str(error))
        except KeyboardInterrupt:
            end(report, 130, "interrupted")

    def tell(self, told: dict[str, Any], show: Callable[[dict[str, Any]], None]) -> None:
        """Print what was found, in tables or as JSON, and end the run with its status."""
        report = self._report
        told = told | {"paths": self._paths, "versions": versions()}
        told["skipped"] = dict(report.skipped.most_common())
        text = json.dumps(told, indent=2)
        try:
            if self._target == STDIN:
                print(text)
            else:
                show(told)
            sys.stdout.flush()
        except BrokenPipeError:
            forget_stdout()
            raise typer.Exit(141) from None
        except OSError as error:
            forget_stdout()
            end(report, 1, f"cannot write standard output: {error.strerror or error}")
        if self._target is not None and self._target != STDIN:
            write_text(self._target, text + "\n")
        report.left_out()
        raise typer.Exit(1 if report.skipped else 0)
