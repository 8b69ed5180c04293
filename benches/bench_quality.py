"""What chunks are worth for retrieval, beside those of other libraries.

    python benches/bench_quality.py FOLDER [--texts a,b] [--sizes 100,200,400]
        [--strategies "cantle recursive",chonkie] [--embedder minilm] [--against NAME[ SIZE]]
        [--equal] [--cache FILE] [--json FILE]
    pytest tests/test_quality.py tests/test_quality_store.py   # small, with values made by hand

FOLDER holds texts and questions (see `quality_ground`). Every recipe cuts all texts; its chunks go
into one index, so that a question about one text meets the chunks of all. Chunks are ranked by the
exact cosine of their vectors with the question's; the same model embeds for every row. Vectors are
kept in the cache, so that a second run costs little; `--cache none` embeds anew, and is what
seconds of cutting are measured with. Recipes over a store (`quality_store`) have sizes of their
own. What is measured is written while it goes on, so a run that is stopped loses the row that it
was at.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import figures
import quality_peers
from quality_ground import QUESTIONS, Ground, Unreadable, embedder, read, told
from quality_levels import levels, modelled
from quality_recipes import Recipe, matched, ours
from quality_scores import COLUMNS, UNRANKED, Row, figures_of, row, table, table_of_differences
from quality_store import PREFIX, stored

SIZES = (100, 200, 400)
RANKED_BY = "R@1000t"
"""The column whose highest figure makes a library's row the best."""
REFERENCE = "cantle recursive"
KINDS = {"minilm": "quality", "static": "quality_static"}
"""What figures are called by their embedder: each has a place of its own on the page."""
CACHE = Path(tempfile.gettempdir()) / "cantle-quality.sqlite"


WRITTEN_EACH = 20.0
"""Seconds between two writings of what is measured so far."""


def recipes(
    sizes: Sequence[int], model: Any, name: str, lost: Callable[[str], None]
) -> list[Recipe]:
    """Return every recipe: those of the sizes, then those over a store."""
    of_sizes = [
        recipe
        for size in sizes
        for recipe in (
            *ours(size, model, name),
            *modelled(size, model),
            *quality_peers.peers(size, model, lost),
        )
    ]
    return [*of_sizes, *stored(), *levels()]


def chosen(found: Sequence[Recipe], names: Sequence[str]) -> list[Recipe]:
    """Return the recipes of these names; all of those that begin so, where none is called so."""
    known = {cut.name for cut in found}
    begins = tuple(name for name in names if name not in known)
    return [
        cut
        for cut in found
        if not names or cut.name in names or (begins and cut.name.startswith(begins))
    ]


def measured(
    ground: Ground, found: Sequence[Recipe], columns: Iterable[str], tell: Callable[[str], None]
) -> Iterator[tuple[list[Row], list[tuple[Row, Row]]]]:
    """Yield, after each recipe, the rows so far; those that embed beside the recursive one like it.

    That one has the size at which its chunks are as large on average as the other's: smaller chunks
    have a higher omega and IoU whatever cuts them.

    Args:
        ground: What is measured on.
        found: The recipes.
        columns: What is told of the recursive rows like others.
        tell: Told of progress.
    """
    rows: list[Row] = []
    pairs: list[tuple[Row, Row]] = []
    like: dict[int, Row] = {}
    for i, recipe in enumerate(found, 1):
        tell(f"{i}/{len(found)} {recipe.name} {recipe.size}")
        rows.append(row(recipe, ground))
        if getattr(recipe, "embeds", None) is not None:
            equal = matched(ground, rows[-1].tokens)
            if equal.size not in like:
                like[equal.size] = row(equal, ground, columns)
            pairs.append((rows[-1], like[equal.size]))
        yield rows, pairs


def compared(rows: Sequence[Row], against: str) -> list[dict[str, Any]]:
    """Return the figures of rows, each with its differences to a row that is named.

    Args:
        rows: The rows.
        against: A recipe's name, of which the row of the same size is taken; or name and size. Some
            recipes name another one themselves.
    """
    titles = {row.title: row for row in rows}
    by_size = {row.size: row for row in rows if row.name == against}
    return figures_of(
        [
            (row, titles.get(row.against))
            if row.against
            else (row, titles.get(against) or by_size.get(row.size))
            for row in rows
        ]
    )


def beside_peers(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows over a store, each less the best of other libraries' rows.

    That is the one with the highest recall within 1,000 tokens.
    """
    peers = [row for row in rows if row.name in quality_peers.PLAIN]
    best = max(peers, key=lambda row: float(row.scores[RANKED_BY].mean()), default=None)
    return figures_of([(row, best) for row in rows if row.name.startswith(PREFIX)]) if best else []


def printed(told: Mapping[str, Sequence[dict[str, Any]]]) -> str:
    """Return the tables of results."""
    results, equal, best = told["results"], told["equal"], told["best"]
    parts = ["Percent of the questions' mean; tokens and sizes of cl100k_base.\n", table(results)]
    if any("differences" in result for result in results):
        parts += ["Less another row:\n", table_of_differences(results)]
    if equal:
        parts += ["Less the recursive row of the same mean size:\n", table_of_differences(equal)]
    if best:
        parts += ["Less the best row of another library:\n", table_of_differences(best)]
    return "\n".join(parts)


def command(arguments: argparse.Namespace) -> str:
    """Return what is typed to measure again, without paths of this machine."""
    words = ["python", "benches/bench_quality.py", "FOLDER", "--embedder", arguments.embedder]
    for name in ("texts", "sizes", "strategies", "against"):
        value = getattr(arguments, name)
        if value != parser().get_default(name):
            words += [f"--{name}", value]
    words += ["--equal"] if arguments.equal else []
    return shlex.join([*words, *(["--cache", "none"] if arguments.cache == "none" else [])])


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="What chunks are worth for retrieval.")
    made.add_argument("folder", type=Path, help=f"texts and {QUESTIONS}")
    made.add_argument("--texts", default="", help="documents of the folder; all")
    made.add_argument("--sizes", default=",".join(map(str, SIZES)), help="limits in tokens")
    made.add_argument("--strategies", default="", help="recipes, or how they begin")
    made.add_argument("--embedder", default="minilm", help="a name of cantle.embed")
    made.add_argument("--against", default=REFERENCE, help="a recipe, or recipe and size")
    made.add_argument("--cache", default=str(CACHE), help="a file of vectors, or none")
    made.add_argument(
        "--equal",
        action="store_true",
        help="tell every column of the recursive rows of equal mean size, not omega alone",
    )
    made.add_argument("--json", type=Path, metavar="FILE")
    return made


def main() -> None:
    given = parser().parse_args()
    model = embedder(given.embedder, None if given.cache == "none" else Path(given.cache))
    tell = told()
    try:
        ground = read(given.folder, model, _listed(given.texts))
        sizes = [int(size) for size in _listed(given.sizes)]
    except (Unreadable, ValueError) as error:
        sys.exit(str(error))
    every = recipes(sizes, model, given.embedder, tell)
    found = chosen(every, _listed(given.strategies))
    asked = [one for one in every if given.against in (one.name, f"{one.name} {one.size}")]
    if not asked or not found:
        names = ", ".join(dict.fromkeys(one.name for one in every))
        sys.exit(f"--against and --strategies take names of recipes: {names}")
    found += [one for one in asked if one not in found]
    try:
        print(printed(run(given, ground, found, tell)))
    except KeyboardInterrupt:
        tell(f"interrupted; {given.json or 'nothing'} holds what is measured")
        sys.exit(130)


def run(
    given: argparse.Namespace,
    ground: Ground,
    found: Sequence[Recipe],
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Return the figures of recipes; they are written while they are made, and at the end."""
    told: dict[str, Any] = {}
    written = time.monotonic()
    columns = COLUMNS if given.equal else UNRANKED
    rows: list[Row] = []
    pairs: list[tuple[Row, Row]] = []
    try:
        for rows, pairs in measured(ground, found, columns, tell):
            if given.json and time.monotonic() - written > WRITTEN_EACH:
                figures.write(given.json, figures_so_far(given, ground, rows, pairs))
                written = time.monotonic()
    finally:
        # Also of a run that is interrupted.
        told = figures_so_far(given, ground, rows, pairs)
        if given.json and rows:
            figures.write(given.json, told)
    return told


def figures_so_far(
    given: argparse.Namespace,
    ground: Ground,
    rows: Sequence[Row],
    pairs: Sequence[tuple[Row, Row]],
) -> dict[str, Any]:
    """Return what is measured, in the form of all figures."""
    texts = [
        figures.described(name, [text], "the evaluation's folder")
        | {"questions": sum(places[0].document == name for places in ground.references)}
        for name, text in zip(ground.ids, ground.texts, strict=True)
    ]
    told = figures.figures(
        KINDS.get(given.embedder, "quality"),
        texts,
        results=compared(rows, given.against),
        equal=figures_of(pairs),
        best=beside_peers(rows),
        embedder=given.embedder,
        peers=quality_peers.versions(),
    )
    return told | {"command": command(given)}


def _listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


if __name__ == "__main__":
    main()
