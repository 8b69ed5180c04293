"""What a run tells on standard error: problems as they come, a bar, a summary at the end."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from cantle.bench.table import figure
from cantle.cli.inputs import Problem
from cantle.cli.table import printable

_NAMED = 10
"""Problems of one file that are named; the rest is counted."""
_NO_TEXT = "no column 'text'"
"""The reason of a table that has no text where it is looked for unless an option says where."""


class Stopped(Exception):
    """The first problem of a strict run."""


class Report:
    """Counts what a run does."""

    def __init__(self, *, quiet: bool, strict: bool) -> None:
        """Start the clock."""
        self.documents = self.chunks = self.over = self.bytes = self.others = 0
        self.warned = 0
        """Chunks that were kept with a warning."""
        self.unfit_chunks: Counter[str] = Counter()
        """Chunks that a check left out, by the rule."""
        self.failed = 0
        """Those of them that a model would have cut."""
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

    def unfit(self, chunk: str, rule: str, words: str, failed: bool) -> None:
        """Name a chunk that is left out.

        Raises:
            Stopped: The run is strict, and the chunk is one that a model would cut.
        """
        if failed and self._strict:
            raise Stopped(f"{chunk}: {words}")
        self.unfit_chunks[rule] += 1
        self.failed += failed
        named = sum(self.unfit_chunks.values())
        if named <= _NAMED:
            self.say(f"cantle: left out {chunk}: {words}")
        elif named == _NAMED + 1:
            self.say("cantle: more chunks are left out; from here on only counted")

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
            f"{unit}), {_count(self.bytes, 'byte')} in {seconds:.2f} s, {figure(rate)} MB/s"
        )
        if self.over:
            self.say(f"{_count(self.over, 'chunk')} over the limit: one indivisible unit is larger")
        if self.unfit_chunks:
            rules = ", ".join(f"{n} {rule}" for rule, n in self.unfit_chunks.most_common())
            self.say(f"{_count(sum(self.unfit_chunks.values()), 'chunk')} left out: {rules}")
        if self.warned:
            self.say(f"{_count(self.warned, 'chunk')} kept with a warning")
        self.left_out()

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines, unless the run is quiet."""
        if not self._quiet:
            for line in lines:
                self.say(line)

    def left_out(self) -> None:
        """Print what was left out or skipped, and why."""
        if self._quiet:
            return
        if self.others:
            other = f"{_count(self.others, 'file')} of other kinds left out of folders"
            self.say(f"{other}; what a path or a glob names is read as text")
        if _NO_TEXT in self.skipped:
            self.say(
                "--column names the column that holds the text of tables; the strategies rows and "
                "routed take CSV and TSV files whole"
            )
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
            "mb_per_second": round(rate, 3),
            "chunks_left_out": dict(self.unfit_chunks.most_common()),
            "chunks_warned": self.warned,
            "skipped": dict(self.skipped.most_common()),
            "left_out": self.others,
        }

    def _speed(self) -> tuple[float, float]:
        seconds = time.perf_counter() - self._start
        return seconds, self.bytes / 1e6 / max(seconds, 1e-9)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
