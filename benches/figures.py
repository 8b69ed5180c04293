"""The form in which a benchmark leaves its figures: JSON that says of what and on what they are.

Machine here is the processor and its cores: two machines that share these compare, and no figure
tells where it was taken.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import corpora
from cantle.bench.machine import machine
from cantle.cli.settings import versions

SCHEMA = 1
"""The number of the JSON's form: another one where a key changes its meaning or goes."""
ROOT = Path(__file__).parents[1]
_SOURCES = ("rust", "python", "Cargo.toml", "Cargo.lock")


class Unreadable(ValueError):
    """A file is not what a benchmark wrote; the message says why."""


def figures(kind: str, texts: Iterable[dict[str, Any]], **found: Any) -> dict[str, Any]:
    """Return figures with all that they depend on.

    Args:
        kind: What was measured: `peers`, `scale` ...
        texts: The corpora, as `described` gives them.
        found: The figures, and what else belongs to this kind.
    """
    told = machine()
    return {
        "schema": SCHEMA,
        "kind": kind,
        "command": command(sys.argv),
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": {key: told[key] for key in ("cpu", "architecture", "cores")},
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "versions": versions(),
        "texts": list(texts),
        **found,
    }


def command(arguments: Sequence[str]) -> str:
    """Return what is typed to measure again: the options that were given, but where to write."""
    program, *options = arguments
    kept = [
        option
        for before, option in zip(["", *options], options, strict=False)
        if "--json" not in (before, option.partition("=")[0])
    ]
    return shlex.join(["python", f"benches/{Path(program).name}", *kept])


def described(kind: str, texts: Sequence[str], origin: str | None = None) -> dict[str, Any]:
    """Return what tells a corpus from another: where it is from, how large it is, and a hash."""
    digest, size = hashlib.blake2b(digest_size=8), 0
    for text in texts:
        data = text.encode()
        size += len(data)
        digest.update(len(data).to_bytes(8, "little") + data)
    return {
        "text": kind,
        "origin": origin or corpora.origin(kind),
        "documents": len(texts),
        "bytes": size,
        "hash": digest.hexdigest(),
    }


def commit() -> str:
    """Return the commit that was measured, with `+` where its sources were changed since."""
    head = _git("rev-parse", "--short=10", "HEAD")
    if head is None:
        return "unknown"
    return head + ("+" if _git("status", "--porcelain", "-uno", "--", *_SOURCES) else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def write(path: Path, told: dict[str, Any]) -> None:
    """Write figures; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read(path: Path) -> dict[str, Any]:
    """Return the figures in a file.

    Raises:
        Unreadable: The file cannot be read, holds no figures, or is of another schema.
    """
    try:
        told = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"cannot read {path.name}: {error}") from None
    if not isinstance(told, dict) or "schema" not in told:
        raise Unreadable(f"{path.name} holds no figures")
    if told["schema"] != SCHEMA:
        raise Unreadable(f"{path.name} is of schema {told['schema']}, not {SCHEMA}")
    return told
