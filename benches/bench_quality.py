"""What chunks are worth for retrieval, beside those of other libraries.

    python benches/bench_quality.py FOLDER [--texts a,b] [--sizes 100,200,400]
        [--strategies "cantle recursive",chonkie] [--embedder minilm] [--against NAME[ SIZE]]
        [--equal] [--cache FILE] [--json FILE]
    pytest tests/test_quality.py            # small, with values that were worked out by hand

FOLDER holds texts and questions (see `quality_ground`). Every recipe cuts all texts; its chunks go
into one index, so that a question about one text meets the chunks of all. Chunks are ranked by the
exact cosine of their vectors with the question's; the same model embeds for every row. Vectors are
kept in the cache, so that a second run costs little; `--cache none` embeds anew, and is what
seconds of cutting are measured with.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import figures
import quality_peers
from quality_ground import QUESTIONS, Ground, Unreadable, embedder, read, told
from quality_recipes import Cut, matched, ours
from quality_scores import COLUMNS, UNRANKED, Row, figures_of, row, table, table_of_differences

SIZES = (100, 200, 400)
REFERENCE = "cantle recursive"
KINDS = {"minilm": "quality", "static": "quality_static"}
"""What figures are called by their embedder: each has a place of its own on the page."""
CACHE = Path(tempfile.gettempdir()) / "cantle-quality.sqlite"


def recipes(size: int, model: Any, name: str, lost: Callable[[str], None]) -> list[Cut]:
    """Return every recipe at a size."""
    return [*ours(size, model, name), *quality_peers.peers(size, model, lost)]


def chosen(found: Sequence[Cut], names: Sequence[str]) -> list[Cut]:
    """Return the recipes of these names; all of those that begin so, where none is called so."""
    known = {cut.name for cut in found}
    begins = tuple(name for name in names if name not in known)
    return [
        cut
        for cut in found
        if not names or cut.name in names or (begins and cut.name.startswith(begins))
    ]


def measured(
    ground: Ground, found: Sequence[Cut], columns: Iterable[str], tell: Callable[[str], None]
) -> tuple[list[Row], list[tuple[Row, Row]]]:
    """Return a row for each recipe; and for those that embed, beside the recursive one like it.

    That one has the size at which its chunks are as large on average as the other's: smaller chunks
    have a higher omega and IoU whatever cuts them.

    Args:
        ground: What is measured on.
        found: The recipes.
        columns: What is told of the recursive rows like others.
        tell: Told of progress.
    """
    rows, pairs, like = [], [], {}
    for i, recipe in enumerate(found, 1):
        tell(f"{i}/{len(found)} {recipe.name} {recipe.size}")
        rows.append(row(recipe, ground))
        if recipe.embeds is None:
            continue
        equal = matched(ground, rows[-1].tokens)
        if equal.size not in like:
            like[equal.size] = row(equal, ground, columns)
        pairs.append((rows[-1], like[equal.size]))
    return rows, pairs


def compared(rows: Sequence[Row], against: str) -> list[dict[str, Any]]:
    """Return the figures of rows, each with its differences to a row that is named.

    Args:
        rows: The rows.
        against: A recipe's name, of which the row of the same size is taken; or name and size.
    """
    titles = {row.title: row for row in rows}
    by_size = {row.size: row for row in rows if row.name == against}
    return figures_of([(row, titles.get(against) or by_size.get(row.size)) for row in rows])


def printed(results: Sequence[dict[str, Any]], equal: Sequence[dict[str, Any]]) -> str:
    """Return the tables."""
    parts = ["Percent of the questions' mean; tokens and sizes of cl100k_base.\n", table(results)]
    if any("differences" in result for result in results):
        parts += ["Less a row of the same size:\n", table_of_differences(results)]
    if equal:
        parts += ["Less the recursive row of the same mean size:\n", table_of_differences(equal)]
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
    every = [cut for size in sizes for cut in recipes(size, model, given.embedder, tell)]
    found = chosen(every, _listed(given.strategies))
    asked = [cut for cut in every if given.against in (cut.name, f"{cut.name} {cut.size}")]
    if not asked or not found:
        names = ", ".join(dict.fromkeys(cut.name for cut in every))
        sys.exit(f"--against and --strategies take names of recipes: {names}")
    found += [cut for cut in asked if cut not in found]
    columns = COLUMNS if given.equal else UNRANKED
    rows, pairs = measured(ground, found, columns, tell)
    results = compared(rows, given.against)
    equal = figures_of(pairs)
    print(printed(results, equal))
    if given.json:
        texts = [
            figures.described(name, [text], "the evaluation's folder")
            | {"questions": sum(places[0].document == name for places in ground.references)}
            for name, text in zip(ground.ids, ground.texts, strict=True)
        ]
        more = {"embedder": given.embedder, "peers": quality_peers.versions()}
        kind = KINDS.get(given.embedder, "quality")
        told_of = figures.figures(kind, texts, results=results, equal=equal, **more)
        figures.write(given.json, told_of | {"command": command(given)})


def _listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


if __name__ == "__main__":
    main()
