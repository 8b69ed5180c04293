"""Which files the paths of a command name, and the id that each file's document gets.

Nothing is read here; see `reading.py`.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from cantle.cli.formats import KNOWN, kind

STDIN = "-"
_UNREADABLE = "cannot be read"


@dataclass(frozen=True)
class Problem:
    """Something that was skipped, and why."""

    file: str
    reason: str
    """The kind of problem; the same words for all of a kind."""
    detail: str = ""
    line: int | None = None
    last: bool = False
    """Whether nothing that follows in the file is read."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.reason}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class Source:
    """A file to read, or standard input."""

    path: str
    id: str
    place: str
    """What messages call it."""
    format: str
    """A key of `formats.ENDINGS`."""
    compression: str = ""
    table: bool = False
    """Whether the file, of CSV or TSV, is one document: the table itself."""


@dataclass
class Found:
    """What the paths of a command name."""

    sources: list[Source] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: int = 0
    """Files in folders that are of other kinds."""


@dataclass(frozen=True)
class _File:
    path: str
    ids: tuple[str, ...]
    """Ids it may take, the shortest first; the last is its alone."""


def find(
    paths: Sequence[str], *, format: str = "text", stdin: str = "text", target: str | None = None
) -> Found:
    """Return the files that `paths` name: files, folders, globs and `-`.

    A file is taken whatever its name is, and so is what a glob matches. In a folder, and in the
    folders below it, files are taken by the endings in `formats.ENDINGS`; names that begin with a
    dot are left out, and so is `target`. A file that is named twice counts once. `format` is that
    of files whose names tell none, `stdin` that of standard input.

    An id is the path below the folder, or the glob's fixed part, that was given; for a file its
    name. Where two files would share one, both take the path as it was given.
    """
    found = Found()
    files: dict[str, _File] = {}
    for path in paths:
        for file in _named(path, found, target):
            files.setdefault(_key(file.path), file)
    for file, name in zip(files.values(), _ids(list(files.values())), strict=True):
        if file.path == STDIN:
            found.sources.append(Source(STDIN, name, "standard input", stdin))
            continue
        told, compression = kind(file.path)
        place = readable(file.path)
        found.sources.append(Source(file.path, name, place, told or format, compression))
    return found


def as_written(source: Source) -> Source:
    """Return a file that is read as the text it is, also where that is HTML."""
    return replace(source, format="text") if source.format == "html" else source


def as_table(source: Source) -> Source:
    """Return a file of CSV or TSV as one document; its rows are then what is cut."""
    return replace(source, table=True) if source.format in ("csv", "tsv") else source


def same_file(one: str, other: str) -> bool:
    """Return whether two paths lead to one file."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return _key(one) == _key(other)


def readable(path: str) -> str:
    """Return a path as text, also one whose bytes are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _key(path: str) -> str:
    return path if path == STDIN else os.path.normcase(os.path.abspath(path))


def _named(path: str, found: Found, target: str | None) -> Iterator[_File]:
    if path == STDIN:
        yield _File(STDIN, ("stdin", "-"))
    elif os.path.isdir(path):
        yield from _folder(path, path, found, target)
    elif os.path.lexists(path):
        yield _file(path, os.path.dirname(path))
    elif glob.has_magic(path):
        yield from _matches(path, found, target)
    else:
        found.problems.append(Problem(readable(path), "no such file or folder"))


def _matches(pattern: str, found: Found, target: str | None) -> Iterator[_File]:
    base = pattern
    while glob.has_magic(base):
        base = os.path.dirname(base)
    matches = sorted(glob.iglob(pattern, recursive=True), key=_order)
    if not matches:
        found.problems.append(Problem(readable(pattern), "nothing matches"))
    for match in matches:
        if not os.path.isdir(match):
            yield _file(match, base)
        elif "**" not in pattern:
            yield from _folder(match, base, found, target)
        else:  # What is in the folder may be matched as well, and is counted there.
            below = Found()
            yield from _folder(match, base, below, target)
            known = [p for p in below.problems if p.reason == _UNREADABLE]
            found.problems += [p for p in known if p not in found.problems]


def _folder(folder: str, base: str, found: Found, target: str | None) -> Iterator[_File]:
    problems: list[Problem] = []

    def unreadable(error: OSError) -> None:
        name = readable(str(error.filename))
        problems.append(Problem(name, _UNREADABLE, error.strerror or str(error)))

    paths: list[str] = []
    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and (target is None or not same_file(os.path.join(parent, name), target))
        ]
        for name in names:
            path = os.path.join(parent, name)
            if name.startswith(".") or (target is not None and same_file(path, target)):
                continue
            if kind(name)[0] is not None and os.path.isfile(path):
                paths.append(path)
            else:
                found.others += 1
    if not paths and not problems:
        kinds = " ".join(KNOWN)
        problems.append(Problem(readable(folder), "no documents", f"none of {kinds} in it"))
    found.problems += problems
    for path in sorted(paths, key=_order):
        yield _file(path, base)


def _order(path: str) -> tuple[str, ...]:
    return PurePath(path).parts


def _file(path: str, base: str) -> _File:
    ids = (os.path.relpath(path, base or "."), path, os.path.abspath(path))
    return _File(path, tuple(readable(PurePath(name).as_posix()) for name in ids))


def _ids(files: list[_File]) -> list[str]:
    """Return an id for each file, no two equal."""
    level = [0] * len(files)
    while True:
        ids = [file.ids[at] for file, at in zip(files, level, strict=True)]
        count = Counter(ids)
        shared = [
            i
            for i, (name, file) in enumerate(zip(ids, files, strict=True))
            if count[name] > 1 and level[i] + 1 < len(file.ids)
        ]
        if not shared:
            return ids
        for i in shared:
            level[i] += 1
