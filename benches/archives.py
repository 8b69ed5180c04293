"""Reads the files of a package, a folder or a file, without unpacking anything to disk."""

from __future__ import annotations

import gzip
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

HEADER = 60
"""Bytes of a member's header in an `ar` archive, which a .deb is."""


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every file, in an order that the content of `path` fixes.

    `.gz` members, as Debian keeps its documents, come opened and without the suffix.
    """
    if path.is_dir():
        found = _folder(path)
    elif path.name.endswith(".deb"):
        found = _deb(path)
    elif path.name.endswith((".whl", ".zip")):
        found = _zip(path)
    elif path.name.endswith((".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2")):
        with path.open("rb") as file:
            yield from _opened(_tar(file))
        return
    else:
        found = iter([(path.name, path.read_bytes())])
    yield from _opened(found)


def _opened(found: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for name, data in found:
        if name.endswith(".gz"):
            yield name.removesuffix(".gz"), gzip.decompress(data)
        else:
            yield name, data


def _folder(path: Path) -> Iterator[tuple[str, bytes]]:
    hidden = (p for p in sorted(path.rglob("*")) if p.is_file())
    for file in hidden:
        name = file.relative_to(path).as_posix()
        if not any(part.startswith(".") for part in name.split("/")):
            yield name, file.read_bytes()


def _zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                yield entry.filename, archive.read(entry)


def _tar(file: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for entry in archive:
            content = archive.extractfile(entry) if entry.isreg() else None
            if content is not None:
                yield entry.name.removeprefix("./"), content.read()


def _deb(path: Path) -> Iterator[tuple[str, bytes]]:
    with _data_of_deb(path) as file:
        yield from _tar(file)


@contextmanager
def _data_of_deb(path: Path) -> Iterator[IO[bytes]]:
    """Open the tar archive inside a .deb, which holds the files that would be installed."""
    with path.open("rb") as file:
        if file.read(8) != b"!<arch>\n":
            raise ValueError(f"{path} is not a Debian package")
        while len(header := file.read(HEADER)) == HEADER:
            name, size = header[:16].decode().rstrip(" /"), int(header[48:58])
            if name in ("data.tar", "data.tar.xz", "data.tar.gz", "data.tar.bz2"):
                yield file
                return
            if name.startswith("data.tar"):
                break
            file.seek(size + size % 2, 1)
        else:
            raise ValueError(f"{path} is a Debian package without files, or a damaged one")
    # Some distributions compress by zstd, which Python reads only from 3.14 on.
    command = ["dpkg-deb", "--fsys-tarfile", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield process.stdout
