"""Fetches packages from Debian and PyPI into a folder, by the registries' own clients.

Nothing is installed and no rights are needed: apt keeps its lists in the cache beside the packages,
so that they are as fresh as the packages asked for. Of PyPI only wheels for every platform are
taken: a source package would run its author's code to be downloaded, and differ by platform.

A package is what its registry serves now. Where the registry cannot be reached, what was fetched
before serves.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

SECONDS = 1800
"""A download that takes longer has hung."""


class Unreachable(RuntimeError):
    """A package could not be fetched; the message says why and what helps."""


@dataclass(frozen=True)
class Package:
    """A file that a registry served."""

    registry: str
    name: str
    version: str
    file: Path
    sha256: str

    @property
    def key(self) -> str:
        return f"{self.registry}:{self.name}"


def digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def fetch(key: str, cache: Path, say: Callable[[str], None]) -> Package:
    """Return the package `key`, such as `debian:git-doc`, as a file under `cache`.

    `debian:linux-doc>` means the package that `linux-doc`, an empty one, depends on: its name holds
    the version of the release.
    """
    registry, _, name = key.partition(":")
    folder = cache / "packages" / registry
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return _FETCH[registry](name, folder, say)
    except Unreachable as error:
        older = _older(registry, name, folder)
        if not older:
            raise Unreachable(
                f"{error}. Is there a network, and is {name} in this release?"
            ) from None
        say(f"{error}\n  {older[-1].name} was fetched before and serves")
        return _package(registry, older[-1])


def _older(registry: str, name: str, folder: Path) -> list[Path]:
    """Return what was fetched before of a package, the newest last."""
    if name.endswith(">"):
        known = _behind(folder, name)
        if not known.exists():
            return []
        name = known.read_text("utf-8")
    pattern = f"{name}_*.deb" if registry == "debian" else f"{name.replace('-', '_')}-*.whl"
    return sorted(folder.glob(pattern), key=lambda file: file.stat().st_mtime)


def _behind(folder: Path, name: str) -> Path:
    """Where the name of the package behind an empty one is kept, for when apt cannot be asked."""
    return folder / f"{name.removesuffix('>')}.behind"


def _package(registry: str, file: Path) -> Package:
    stem = file.name.removesuffix(".deb").removesuffix(".whl")
    name, version = unquote(stem).split("_" if registry == "debian" else "-")[:2]
    return Package(registry, name, version, file, digest(file))


def _run(command: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError:
        raise Unreachable(
            f"there is no {command[0]} here: Debian's packages need a Debian or Ubuntu machine"
        ) from None
    except subprocess.TimeoutExpired:
        raise Unreachable(f"{command[0]} gave no answer in {SECONDS} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Unreachable("; ".join(line.strip() for line in said[-2:]) or f"{command[0]} failed")
    return done.stdout


# Debian

_updated: set[Path] = set()


def _apt(program: str, state: Path, *arguments: str) -> list[str]:
    options = {
        "Dir::State": state,
        "Dir::State::lists": state / "lists",
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": state,
        "Acquire::Retries": 2,
        "Acquire::http::Timeout": 30,
        "APT::Sandbox::User": "",
    }
    given = [word for option in options.items() for word in ("-o", "=".join(map(str, option)))]
    return [program, *given, *arguments]


def _debian(name: str, folder: Path, say: Callable[[str], None]) -> Package:
    state = folder.parent.parent / "apt"
    if state not in _updated:
        for part in ("lists", "archives"):
            (state / part / "partial").mkdir(parents=True, exist_ok=True)
        say("asking apt for its lists")
        _run(_apt("apt-get", state, "-qq", "update"), folder)
        _updated.add(state)
    if name.endswith(">"):
        empty = name.removesuffix(">")
        lines = _run(_apt("apt-cache", state, "depends", "-i", empty), folder).splitlines()
        behind = [line.split(":")[1].strip() for line in lines if "Depends:" in line]
        if not behind:
            raise Unreachable(f"apt knows no package behind {empty}")
        _behind(folder, name).write_text(behind[0], "utf-8")
        name = behind[0]
    with _aside(folder) as aside:
        uris = _run(_apt("apt-get", state, "download", "--print-uris", name), aside)
        # 'http://.../git-doc_2.39.5_all.deb' git-doc_1%3a2.39.5_all.deb 2153500 SHA256:...
        words = uris.split()
        if len(words) < 4:
            raise Unreachable(f"apt gives no address for {name}")
        kept = folder / words[1]
        if not kept.exists() or f"SHA256:{digest(kept)}" != words[3]:
            say(f"fetching {name} ({int(words[2]) / 1e6:.1f} MB)")
            _run(_apt("apt-get", state, "-qq", "download", name), aside)
            os.replace(aside / words[1], kept)
    return _package("debian", kept)


# PyPI


def _pypi(name: str, folder: Path, say: Callable[[str], None]) -> Package:
    with _aside(folder) as aside:
        say(f"asking PyPI for {name}")
        any_platform = "--platform any --implementation py --abi none --python-version 3.12"
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        command += ["--quiet", "--no-deps", "--only-binary=:all:", *any_platform.split(), name]
        _run([*command, "--dest", str(aside)], aside)
        found = next(aside.glob("*.whl"))
        kept = folder / found.name
        os.replace(found, kept)
    return _package("pypi", kept)


@contextmanager
def _aside(folder: Path) -> Iterator[Path]:
    """A folder beside the packages, so that a finished file is renamed into place."""
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as name:
        yield Path(name)


_FETCH = {"debian": _debian, "pypi": _pypi}
