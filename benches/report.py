"""The page of figures, written from what the benchmarks left.

    python benches/report.py                     # fills the pages of docs and the README
    python benches/report.py FIGURES.json ...    # prints the parts of these files

`make figures` measures everything anew into `record/figures/`, but for quality, which needs texts
with questions (`bench_quality.py`), and then fills the pages. A part of a page stands between
`<!-- NAME -->` and `<!-- end of NAME -->`; what is outside is written by hand. The pictures go to
`docs/benchmarks/`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bench_batch
import bench_peers
import bench_quality
import bench_scale
import bench_search
import bench_store
import bench_stream
import bench_tokens
import curves
import figures
import quality_peers
import quality_scores
import quality_store as quality_store_recipes
from cantle.bench.plot import svg
from cantle.bench.table import figure, markdown, told
from questions import NAMES

FIGURES = Path(__file__).with_name("record") / "figures"
PAGES = (
    "docs/benchmarks.md",
    "docs/quality.md",
    "docs/search.md",
    "docs/store.md",
    "README.md",
)
RECURSIVE = ("cantle recursive", *quality_peers.RECURSIVE)
"""The rows that stand beside a store's."""
NOT_YET = "Not measured yet.\n"
PICTURES = "benchmarks"
"""The folder of the pictures, beside the page."""

Told = dict[str, Any]


def provenance(found: Told) -> str:
    """Return the line that says where and of what figures are."""
    machine = found["machine"]
    texts = "; ".join(
        f"{text['text']} {text['bytes'] / 1e6:,.1f} MB in {text['documents']:,} "
        f"document{'' if text['documents'] == 1 else 's'}, {text['origin']} ({text['hash'][:8]})"
        for text in found["texts"]
    )
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    rounds = f", {found['rounds']} rounds" if "rounds" in found else ""
    if (load := found.get("load")) and load > machine["cores"]:
        rounds += f", while other work kept the machine busy (load {load:g})"
    return (
        f"`{found['command']}`: {machine['cpu']}, {machine['cores']} cores, "
        f"{found['time'][:10]}, commit {found['commit']}{rounds}; {versions}."
        f"{f' Texts: {texts}.' if texts else ''}\n"
    )


def peers(found: Told) -> str:
    """Return the tables of the workloads, and where another library is faster."""
    parts = [provenance(found)]
    for text in _texts(found):
        parts.append(f"![MB/s on {text}]({PICTURES}/peers-{_file(text)}.svg)\n")
    for question in _asked(found):
        parts.append(f"### {question}: {NAMES[question]}\n")
        parts.append(bench_peers.table(found["results"], question))
    return "\n".join([*parts, "### Where another library is as fast or faster\n", faster(found)])


def faster(found: Told) -> str:
    """Return a list of what took less CPU time than cantle in a round or more, and its faults."""
    lines = []
    for result in found["results"]:
        times = result["times_cantle"]
        if times is None or times[1] >= 1:
            continue
        wrong = told(result) or "nothing is wrong with its answers"
        lines.append(
            f"* {result['question']}, {result['text']}: {result['library']} {result['version']} "
            f"takes {figure(times[0])} times the CPU time of cantle ({figure(times[1])} to "
            f"{figure(times[2])}); {wrong}\n"
        )
    return (
        "".join(lines)
        or "None of the libraries here took less CPU time than cantle in any round.\n"
    )


def pictures_of_peers(found: Told) -> Iterator[tuple[str, str]]:
    """Yield a picture for every text."""
    machine = found["machine"]
    footer = f"{machine['cpu']}, {machine['cores']} cores; {found['time'][:10]}"
    for text in _texts(found):
        results = [
            result
            | {
                "strategy": f"{result['question']}: {NAMES[result['question']]}",
                "mb_per_second": _rate(result),
                "cantle_is_faster_by": result["times_cantle"] and result["times_cantle"][0],
            }
            for question in _asked(found)
            for result in sorted(found["results"], key=lambda r: r["cpu_seconds"] or float("inf"))
            if (result["question"], result["text"]) == (question, text)
        ]
        yield f"peers-{_file(text)}.svg", svg(results, f"Per second of CPU time: {text}", footer)


def summary(found: Told) -> str:
    """Return the table of the README: for each workload the nearest library that is right."""
    texts = _texts(found)
    rows = []
    for question in _asked(found):
        cells = [NAMES[question]]
        for text in texts:
            results = [
                r for r in found["results"] if (r["question"], r["text"]) == (question, text)
            ]
            right = [result for result in results if result["times_cantle"] and not told(result)]
            nearest = min(right, key=lambda r: float(r["times_cantle"][0]), default=None)
            cells.append("none" if nearest is None else _named(nearest))
        rows.append(cells)
    others = [result for result in found["results"] if result["times_cantle"]]
    faster = sum(result["times_cantle"][1] < 1 for result in others)
    said = (
        f"Of {len(others)} answers of other libraries, faults or not, {faster} took less CPU time "
        "than that of cantle in a round or more.\n"
    )
    return f"{markdown(['task', *texts], rows)}\n{said}\n{provenance(found)}"


def _named(result: Told) -> str:
    return f"{result['library']} {figure(result['times_cantle'][0])}"


def _rate(result: Told) -> float | None:
    seconds = result["cpu_seconds"]
    return result["bytes"] / 1e6 / seconds if seconds else None


def _texts(found: Told) -> list[str]:
    return list(dict.fromkeys(result["text"] for result in found["results"]))


def _asked(found: Told) -> list[str]:
    return list(dict.fromkeys(result["question"] for result in found["results"]))


def _file(words: str) -> str:
    return re.sub(r"\W+", "-", words)


def scale(found: Told) -> str:
    """Return the table and the picture of every axis."""
    parts = [provenance(found)]
    for axis in bench_scale.AXES:
        parts.append(f"### {axis.name.capitalize()}: {axis.counts}\n")
        parts.append(f"![CPU time by {axis.name}]({PICTURES}/scale-{_file(axis.name)}.svg)\n")
        parts.append(bench_scale.table(found["results"], axis))
    return "\n".join(parts)


def pictures_of_scale(found: Told) -> Iterator[tuple[str, str]]:
    """Yield a picture for every axis, of the first text."""
    text = _texts(found)[0]
    for axis in bench_scale.AXES:
        results = [r for r in found["results"] if (r["axis"], r["text"]) == (axis.name, text)]
        yield f"scale-{_file(axis.name)}.svg", curves.svg(results, f"{axis.counts}: {text}")


def tokens(found: Told) -> str:
    """Return the table of counting, and where another library is faster."""
    lines = [
        f"* {result['tokenizer']}, {result['text']}: {result['library']} takes "
        f"{figure(result['times_cantle']['fresh'])} times the CPU time of cantle, "
        f"{figure(result['times_cantle']['warm'])} times on a text that it has seen"
        f"{'; its count is wrong' if result['off_by'] else ''}\n"
        for result in found["results"]
        if min(result["times_cantle"].values()) < 1
    ]
    said = "".join(lines) or "None of the libraries here took less CPU time than cantle.\n"
    heading = "### Where another library counts faster\n"
    return "\n".join([provenance(found), bench_tokens.table(found["results"]), heading, said])


def quality(found: Told) -> str:
    """Return the table of what recipes are worth that rank chunks by cosine."""
    versions = ", ".join(f"{name} {version}" for name, version in found["peers"].items())
    questions = sum(text["questions"] for text in found["texts"])
    said = f"Embedder: {found['embedder']}. Questions: {questions}. Libraries: {versions}.\n"
    rows = [row for row in found["results"] if not _is_stored(row)]
    return "\n".join([provenance(found), said, quality_scores.table(rows)])


def quality_differences(found: Told) -> str:
    """Return the differences to a recipe of the same size."""
    rows = [row for row in found["results"] if not _is_stored(row)]
    return quality_scores.table_of_differences(rows)


def quality_equal(found: Told) -> str:
    """Return the differences to the recursive recipe of the same mean size."""
    return quality_scores.table_of_differences(found["equal"])


def quality_store(found: Told) -> str:
    """Return the table of recipes over a store, below the libraries' recursive rows."""
    beside = [
        row for row in found["results"] if row["name"] in RECURSIVE and row["size"] in (100, 200)
    ]
    stored = [row for row in found["results"] if _is_stored(row)]
    return quality_scores.table([*beside, *stored]) if stored else NOT_YET


def quality_store_differences(found: Told) -> str:
    """Return what each part of a store's search adds to the recipe without it."""
    stored = [row for row in found["results"] if _is_stored(row)]
    return quality_scores.table_of_differences(stored) if stored else NOT_YET


def quality_store_peers(found: Told) -> str:
    """Return the differences of recipes over a store to the best library's row."""
    best = found.get("best")
    return quality_scores.table_of_differences(best) if best else NOT_YET


def _is_stored(row: Told) -> bool:
    return str(row["name"]).startswith(quality_store_recipes.PREFIX)


def _plain(table: Callable[[Any], str]) -> Callable[[Told], str]:
    return lambda found: f"{provenance(found)}\n{table(found['results'])}"


# What the figures of each kind become: parts of pages by their names, and pictures.
PARTS: dict[str, dict[str, Callable[[Told], str]]] = {
    "peers": {"peers": peers, "summary": summary},
    "scale": {"scale": scale},
    "tokens": {"tokens": tokens},
    **{
        kind: {
            kind: quality,
            f"{kind}_differences": quality_differences,
            f"{kind}_equal": quality_equal,
            f"{kind}_store": quality_store,
            f"{kind}_store_differences": quality_store_differences,
            f"{kind}_store_peers": quality_store_peers,
        }
        for kind in bench_quality.KINDS.values()
    },
    "batch": {"batch": _plain(bench_batch.table)},
    "stream": {"stream": _plain(bench_stream.table)},
    "search": {"search": _plain(bench_search.tables)},
    "store": {"store": _plain(bench_store.tables)},
}
DRAWN: dict[str, Callable[[Told], Iterator[tuple[str, str]]]] = {
    "peers": pictures_of_peers,
    "scale": pictures_of_scale,
}


def parts(found: Told) -> dict[str, str]:
    """Return the parts of pages that figures become.

    Raises:
        figures.Unreadable: They are of a kind that has no page.
    """
    if found["kind"] not in PARTS:
        raise figures.Unreadable(f"figures of {found['kind']!r} have no page")
    return {name: make(found) for name, make in PARTS[found["kind"]].items()}


def filled(page: str, named: dict[str, str]) -> str:
    """Return a page with its parts in place; a part that is not named stays."""

    def part(match: re.Match[str]) -> str:
        text = named.get(match[1])
        return (
            match[0]
            if text is None
            else f"<!-- {match[1]} -->\n\n{text}\n<!-- end of {match[1]} -->"
        )

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end of \1 -->", part, page, flags=re.DOTALL)


def written(folder: Path = FIGURES, root: Path = figures.ROOT) -> dict[Path, str]:
    """Return every file that the figures of a folder make, with what it should hold."""
    named: dict[str, str] = {}
    found: dict[Path, str] = {}
    for path in sorted(folder.glob("*.json")):
        kind = figures.read(path)
        named |= parts(kind)
        for name, picture in DRAWN.get(kind["kind"], lambda _: iter(()))(kind):
            found[root / "docs" / PICTURES / name] = picture
    for page in PAGES:
        found[root / page] = filled((root / page).read_text("utf-8"), named)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Fill the pages with figures.")
    parser.add_argument("figures", nargs="*", type=Path, help="print the parts of these instead")
    given = parser.parse_args(arguments)
    try:
        if given.figures:
            for path in given.figures:
                for name, text in parts(figures.read(path)).items():
                    print(f"<!-- {name} -->\n\n{text}\n<!-- end of {name} -->")
            return 0
        for path, text in written().items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
            print(path.relative_to(figures.ROOT))
    except figures.Unreadable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
