"""The tracked figures: a short set, compared with the last record of the same machine.

    python benches/track.py                 # tell what moved; fails where it is slower beyond noise
    python benches/track.py --record        # measure and write a record

Every figure is the CPU time of one call in a process of its own, and rounds go in turns. It is
divided by each reference of the same round (`references.py`), which gives a range of ratios: the
noise, as this run and the record's run measured it. A figure *moved* when its range and that of the
record lie apart by every reference, the least of these changes being what is told. What is slower
so is measured in a second set of rounds, and fails if that says the same and the change is over
3 %, which another layout of the same code may come to.

A record is the JSON of one run, in `record/MACHINE/DATE-COMMIT.json`. Only the same processor with
as many cores, the same text and the same version of a reference are compared; what is not is said.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import cantle
import corpora
import figures
from cantle.bench.corpus import Corpus
from cantle.bench.faults import in_words
from cantle.bench.measure import Kind, Request
from cantle.bench.rounds import Measurement, run
from cantle.bench.table import figure, markdown
from cantle.strategies import Splitting
from questions import QUESTIONS
from references import REFERENCES

RECORDS = Path(__file__).with_name("record")
ROUNDS = 7
LEAST = 0.03
TEXTS = ("prose", "multilingual")
LENGTH = 2_000_000
"""Characters of a document; a short one has a thousand."""


@dataclass(frozen=True)
class Text:
    """A corpus that figures are taken on."""

    kind: str
    size: int
    length: int

    @property
    def name(self) -> str:
        return f"{self.kind}, {self.size:,} bytes by {self.length:,}"

    def documents(self) -> tuple[str, ...]:
        """Return the documents; the whole as one, where it is shorter than a document."""
        found = corpora.documents(self.kind, length=self.length, size=self.size)
        return found or ("".join(corpora.documents(self.kind, length=1_000, size=self.size)),)


@dataclass(frozen=True)
class Item:
    """A tracked figure."""

    kind: Kind
    question: Splitting
    text: Text


def _items() -> dict[str, Item]:
    found: dict[str, Item] = {}
    for kind in TEXTS:
        # By characters 16 MB take a few milliseconds; by tokens 4 MB take more.
        large, small = Text(kind, 16_000_000, LENGTH), Text(kind, 4_000_000, LENGTH)
        short = Text(kind, 2_000_000, 1_000)
        for name in ("W1", "W2"):
            found[f"{name}, {kind}"] = Item("all", QUESTIONS[name], large)
        for name in ("W4", "W5"):
            found[f"{name}, {kind}"] = Item("all", QUESTIONS[name], small)
        found[f"tokens counted, {kind}"] = Item("count", QUESTIONS["W4"], small)
        found[f"W2 of short texts, {kind}"] = Item("each", QUESTIONS["W2"], short)
    return found


ITEMS = _items()
REFERENCE_TEXTS = {
    "memcpy": Text("prose", 8_000, 1_000),
    "tiktoken": Text("prose", 2_000_000, LENGTH // 2),
    "tokenizers": Text("prose", 500_000, LENGTH // 8),
}
"""The number of documents is that of copies; little of what is slow."""


def taken(items: Mapping[str, Item], rounds: int) -> dict[str, Any]:
    """Measure; return the texts, and the seconds of every round of references and items.

    Raises:
        SystemExit: A measurement failed, or an answer of ours is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="cantle-") as folder:
        corpus: dict[Text, Corpus] = {}
        told: dict[Text, dict[str, Any]] = {}
        for text in {*REFERENCE_TEXTS.values(), *(item.text for item in items.values())}:
            place = Path(folder) / f"{len(corpus)}"
            place.mkdir()
            documents = text.documents()
            corpus[text] = Corpus.write(str(place), documents)
            told[text] = figures.described(text.kind, documents) | {"text": text.name}
        measured: dict[str, Measurement] = {}
        for name, library in REFERENCES.items():
            request = Request(
                "peer", corpus[REFERENCE_TEXTS[name]], cantle.Whole(), library=library
            )
            measured[name] = Measurement(request)
        for name, item in items.items():
            check = item.kind == "all"
            request = Request(item.kind, corpus[item.text], item.question, check=check)
            measured[name] = Measurement(request)
        run(list(measured.values()), rounds, 120, _step)
    print(file=sys.stderr)
    for name, measurement in measured.items():
        if measurement.failed:
            sys.exit(f"{name}: {measurement.failed}")
        if faults := measurement.answers[0].get("faults"):
            sys.exit(f"{name}: {'; '.join(in_words(faults))}")
    seconds = {
        name: [answer["cpu_seconds"] for answer in measurement.answers]
        for name, measurement in measured.items()
    }
    return {
        "texts": sorted(told.values(), key=lambda text: text["text"]),
        "references": {
            name: {
                "version": metadata.version(library.package),
                "text": REFERENCE_TEXTS[name].name,
                "cpu_seconds": seconds[name],
            }
            for name, library in REFERENCES.items()
        },
        "items": {
            name: {
                "text": item.text.name,
                "bytes": corpus[item.text].bytes,
                "answer": _answer(measured[name]),
                "cpu_seconds": seconds[name],
            }
            for name, item in items.items()
        },
    }


def _step(words: str) -> None:
    print(".", end="", file=sys.stderr, flush=True)


def _answer(measurement: Measurement) -> str:
    """Return what tells one answer from another, the same in every round."""
    found = {
        str(answer.get("hash") or answer.get("tokens") or answer["chunks"])
        for answer in measurement.answers
    }
    if len(found) > 1:
        sys.exit(f"{measurement}: rounds give different answers")
    return found.pop()


# Comparing


@dataclass(frozen=True)
class Change:
    """How an item stands against the record."""

    part: float
    """0.1: a tenth slower, by the reference that says least."""
    apart: bool
    """Whether the ranges lie apart by every reference, in one direction."""

    @property
    def slower(self) -> bool:
        """Whether it is slower beyond the noise."""
        return self.apart and self.part > LEAST


def ratios(told: dict[str, Any], item: str, reference: str) -> list[float]:
    """Return the ratio of every round."""
    ours = told["items"][item]["cpu_seconds"]
    theirs = told["references"][reference]["cpu_seconds"]
    return [a / b for a, b in zip(ours, theirs, strict=True)]


def change(old: dict[str, Any], new: dict[str, Any], item: str) -> Change | None:
    """Return how an item changed; None where nothing can be compared."""
    if item not in old["items"] or not _same_text(old, new, item):
        return None
    changes = []
    for reference in comparable(old, new):
        before, now = ratios(old, item, reference), ratios(new, item, reference)
        part = statistics.median(now) / statistics.median(before) - 1
        changes.append((part, min(now) > max(before), max(now) < min(before)))
    if not changes:
        return None
    slower, faster = all(c[1] for c in changes), all(c[2] for c in changes)
    return Change(min((c[0] for c in changes), key=abs), slower or faster)


def comparable(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the references that did the same work in both runs."""
    return [
        name
        for name, told in new["references"].items()
        if name in old["references"]
        and old["references"][name]["version"] == told["version"]
        and _hash(old, old["references"][name]["text"]) == _hash(new, told["text"])
    ]


def _same_text(old: dict[str, Any], new: dict[str, Any], item: str) -> bool:
    before, now = (told["items"][item]["text"] for told in (old, new))
    return _hash(old, before) == _hash(new, now)


def _hash(told: dict[str, Any], text: str) -> str | None:
    return next((found["hash"] for found in told["texts"] if found["text"] == text), None)


def last_record(folder: Path, machine: dict[str, Any]) -> dict[str, Any] | None:
    """Return the latest record of a machine; one that cannot be read is named and left out."""
    found = []
    for path in sorted(folder.glob("*/*.json")):
        try:
            told = figures.read(path)
        except figures.Unreadable as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        if told["kind"] == "tracked" and told["machine"] == machine:
            found.append(told)
    return max(found, key=lambda told: str(told["time"]), default=None)


def place(folder: Path, told: dict[str, Any]) -> Path:
    """Return the file of a record."""
    machine = told["machine"]
    words = f"{machine['cpu']} {machine['cores']} cores {machine['architecture']}"
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return folder / name / f"{told['time'][:10]}-{told['commit'].replace('+', '-changed')}.json"


def table(new: dict[str, Any], old: dict[str, Any] | None) -> str:
    """Return the Markdown table of a run, with its changes since the record."""
    rows = []
    for name, item in new["items"].items():
        found = change(old, new, name) if old else None
        seconds = statistics.median(item["cpu_seconds"])
        of_tiktoken = ratios(new, name, "tiktoken")
        middle = statistics.median(of_tiktoken)
        noise = max(max(of_tiktoken) / middle - 1, 1 - min(of_tiktoken) / middle)
        rows.append(
            [
                name,
                figure(item["bytes"] / 1e6 / seconds),
                *(figure(statistics.median(ratios(new, name, r))) for r in REFERENCES),
                f"{noise:.0%}",
                "not compared" if found is None else _in_words(found),
            ]
        )
    heads = ["figure", "MB/s", *(f"in {name}" for name in REFERENCES), "noise", "since the record"]
    return markdown(heads, rows)


def _in_words(found: Change) -> str:
    if not found.apart:
        return "within noise"
    return f"{abs(found.part):.1%} {'slower' if found.part > 0 else 'faster'}"


def differences(old: dict[str, Any], new: dict[str, Any]) -> Iterable[str]:
    """Yield what else is not as it was."""
    for name, version in new["versions"].items():
        before = old["versions"].get(name)
        if before not in (None, version):
            yield f"{name} is {version}, and was {before}"
    for name in new["references"]:
        if name not in comparable(old, new):
            yield f"{name} is another version or read another text: it is not compared with"
    for name, item in new["items"].items():
        if name not in old["items"]:
            yield f"{name} is not in the record"
        elif not _same_text(old, new, name):
            yield f"{name}: the text is another (corpora.py list tells which): not compared"
        elif old["items"][name]["answer"] != item["answer"]:
            yield f"{name}: the answer is another than it was"


# The command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Tracked figures, beside the last record.")
    parser.add_argument("--record", action="store_true", help="write a record")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--records", type=Path, default=RECORDS, help="the folder of the records")
    parser.add_argument("--only", default="", help="figures whose name holds this")
    given = parser.parse_args(arguments)
    if given.rounds < 2:
        parser.error(f"--rounds ({given.rounds}) must be 2 or more: one round has no noise")
    items = {name: item for name, item in ITEMS.items() if given.only in name}
    if not items:
        parser.error(f"--only ({given.only!r}) is in none of {', '.join(ITEMS)}")
    found = taken(items, given.rounds)
    new = figures.figures("tracked", found.pop("texts"), rounds=given.rounds, **found)
    machine = new["machine"]
    old = last_record(given.records, machine)
    here = f"{machine['cpu']}, {machine['cores']} cores"
    if old is None:
        print(
            f"there is no record of {here} yet: nothing is compared; make bench-record writes one"
        )
    else:
        print(f"{here}: {new['commit']} beside {old['commit']} of {old['time'][:10]}")
        for words in differences(old, new):
            print(f"  {words}")
    print(f"\n{table(new, old)}")
    if given.record:
        path = place(given.records, new)
        figures.write(path, new)
        print(f"recorded in {path.parent.name}/{path.name}")
        return 0
    if old is None:
        return 0
    changes = {name: found for name in items if (found := change(old, new, name))}
    if not changes:
        print("nothing could be compared")
        return 0
    slower = [name for name, found in changes.items() if found.slower]
    if not slower:
        print("nothing is slower beyond the noise")
        return 0
    print(f"slower, so measured again: {'; '.join(slower)}")
    again = taken({name: items[name] for name in slower}, given.rounds)
    still = [name for name in slower if (c := change(old, again, name)) and c.slower]
    for name in slower:
        second = change(old, again, name)
        print(f"  {name}: {_in_words(second) if second else 'not compared'} in the second set")
    return 1 if still else 0


if __name__ == "__main__":
    sys.exit(main())
