"""What a run tells on standard error: problems as they come, a bar, a summary at the end."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from cantle.cli.inputs import Problem
from cantle.cli.table import printable

_NAMED = 10
"""Problems of one file that are named; the rest is counted."""


class Stopped(Exception):
    """The first problem of a strict run."""


class Report:
    """Counts what a run does."""

    def __init__(self, *, quiet: bool, strict: bool) -> None:
        """Start the clock."""
        self.documents = self.chunks = self.over = self.bytes = self.others = 0
        self.limited = False
        """Whether there may be more documents than `--limit` let in."""
        self.broken: set[str] = set()
        """Files that were not read to their end."""
        self.skipped: Counter[str] = Counter()
        self._named: Counter[str] = Counter()
        self._quiet = quiet
        self._strict = strict
        self._start = time.perf_counter()
        self._console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None

    def say(self, line: str) -> None:
        """Print one line."""
        text = Text(printable(" ".join(line.split())))
        self._console.print(text, soft_wrap=True)

    def problem(self, problem: Problem) -> None:
        """Name something that is skipped.

        Raises:
            Stopped: The run is strict.
        """
        if self._strict:
            raise Stopped(str(problem))
        self.skipped[problem.reason] += 1
        if problem.last:
            self.broken.add(problem.file)
        self._named[problem.file] += 1
        if self._named[problem.file] <= _NAMED:
            self.say(f"cantle: skipped {problem}")
        elif self._named[problem.file] == _NAMED + 1:
            self.say(f"cantle: more of {problem.file} is skipped; from here on only counted")

    def show_bar(self, total: int | None) -> None:
        """Show a bar, where standard error is a terminal and the run is not quiet.

        Args:
            total: What is to come, if known; of documents, their bytes.
        """
        if self._quiet or not sys.stderr.isatty():
            return
        columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self._console, transient=True)
        self._bar.add_task("", total=total)
        self._bar.start()

    def advance(self) -> None:
        """Move the bar to where the counts are."""
        counts = f"{_count(self.documents, 'document')}, {_count(self.chunks, 'chunk')}"
        self.move_bar(self.bytes, counts)

    def move_bar(self, completed: int, words: str) -> None:
        """Move the bar, and say beside it what goes on."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=completed, description=words)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def summary(self, unit: str) -> None:
        """Print what was done, how fast, and what was skipped and why."""
        if self._quiet:
            return
        seconds, rate = self._speed()
        self.say(
            f"{_count(self.documents, 'document')}, {_count(self.chunks, 'chunk')} (sizes in "
            f"{unit}), {_count(self.bytes, 'byte')} in {seconds:.2f} s, {rate:.1f} MB/s"
        )
        if self.over:
            self.say(f"{_count(self.over, 'chunk')} over the limit: one indivisible unit is larger")
        self.left_out()

    def left_out(self) -> None:
        """Print what was left out or skipped, and why."""
        if self._quiet:
            return
        if self.others:
            self.say(f"{_count(self.others, 'file')} of other kinds left out of folders")
        if self.skipped:
            kinds = ", ".join(f"{n} {reason}" for reason, n in self.skipped.most_common())
            self.say(f"{sum(self.skipped.values()):,} skipped: {kinds}")

    def as_dict(self) -> dict[str, Any]:
        """Return the summary for a program."""
        seconds, rate = self._speed()
        return {
            "documents": self.documents,
            "chunks": self.chunks,
            "over_limit": self.over,
            "bytes": self.bytes,
            "seconds": round(seconds, 3),
            "mb_per_second": round(rate, 1),
            "skipped": dict(self.skipped.most_common()),
            "left_out": self.others,
        }

    def _speed(self) -> tuple[float, float]:
        seconds = time.perf_counter() - self._start
        return seconds, self.bytes / 1e6 / max(seconds, 1e-9)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
