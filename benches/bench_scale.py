"""Time and memory as the documents become more or longer, or the chunks larger.

    python benches/bench_scale.py [--texts prose,...] [--units chars,...] [--json FILE]
    pytest benches/bench_scale.py                # the answers checked at small sizes, untimed

Every point is measured in a process of its own, in rounds that take turns: the CPU time of the best
round, and the median of what a call held at its highest beyond the texts. The slope is that of a
straight line through the points, both axes logarithmic: 1 is linear, 2 quadratic, 0 no growth; the
last step is the slope between the two largest points, where what each call costs anyhow counts
least. Slopes are told, not judged: that work is linear is proven by counting in `test_linear.py`.
Every answer is checked for the limit, for order and for lost text.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import corpora
import figures
from cantle.bench.corpus import Corpus
from cantle.bench.faults import in_words
from cantle.bench.measure import Answer, Request, in_a_process, measure
from cantle.bench.table import figure, markdown
from cantle.strategies import Splitting
from cantle.strategies.pieces import ByPieces
from cantle.strategies.text import REGISTRY

UNITS = ("bytes", "chars", "words", "cl100k_base")
TEXTS = ("prose", "multilingual", "hostile-no-blanks")
SIZE = 512
"""Units in a chunk, where the chunk does not grow."""
OVERLAP = 8
"""A chunk repeats this part of its size."""
ROUNDS = 3
MIB = 1 << 20


@dataclass(frozen=True)
class Axis:
    """What grows."""

    name: str
    counts: str
    """What the numbers below count."""
    steps: tuple[int, ...]
    texts: Callable[[str, int], list[str]]
    """Returns the documents at a step."""
    size: Callable[[int], int]
    """Returns the chunk size at a step."""
    characters: Callable[[int], int]
    """Returns the characters of all documents at a step."""


def joined(text: str, length: int) -> str:
    """Return the first characters of a kind of text, as one document."""
    return "".join(corpora.documents(text, size=4 * length + 1_000_000))[:length]


def short(text: str, count: int, length: int = 2_000) -> list[str]:
    whole = joined(text, count * length)
    return [whole[at : at + length] for at in range(0, len(whole), length)]


AXES = (
    Axis(
        "documents",
        "documents of 2,000 characters",
        (250, 500, 1_000, 2_000),
        short,
        lambda _: SIZE,
        lambda step: 2_000 * step,
    ),
    Axis(
        "document length",
        "characters in one document",
        (500_000, 1_000_000, 2_000_000, 4_000_000),
        lambda text, step: [joined(text, step)],
        lambda _: SIZE,
        lambda step: step,
    ),
    Axis(
        "chunk size",
        "units in a chunk, of a document of a million characters",
        (64, 256, 1_024, 4_096),
        lambda text, _: [joined(text, 1_000_000)],
        lambda step: step,
        lambda _: 1_000_000,
    ),
)


STRATEGIES = tuple(name for name, one in REGISTRY.items() if not issubclass(one, ByPieces))
"""Those whose time is their own, and no model's."""


def question(strategy: str, unit: str, size: int) -> Splitting:
    return REGISTRY[strategy](size=size, overlap=size // OVERLAP, unit=unit)  # type: ignore[call-arg]


def slope(points: list[tuple[float, float]]) -> float | None:
    """Return the slope of the line through points, both axes logarithmic; None where a value is 0.

    >>> slope([(1.0, 3.0), (2.0, 12.0), (4.0, 48.0)])
    2.0
    """
    if len(points) < 2 or any(value <= 0 for point in points for value in point):
        return None
    x, y = zip(*((math.log(a), math.log(b)) for a, b in points), strict=True)
    return round(statistics.linear_regression(x, y).slope, 3)


def taken(
    axis: Axis, text: str, strategies: list[str], units: list[str], rounds: int, folder: Path
) -> Iterator[dict[str, Any]]:
    """Yield the points and slopes of every strategy and unit along an axis."""
    written: dict[int, Corpus] = {}
    for step in axis.steps:
        place = folder / f"{axis.name}-{step}"
        place.mkdir()
        written[step] = Corpus.write(str(place), texts := axis.texts(text, step))
        if sum(map(len, texts)) < axis.characters(step):
            sys.exit(
                f"there is less than {axis.characters(step):,} characters of {text}: make corpora"
            )
    for strategy in strategies:
        for unit in units:
            found: dict[int, list[Answer]] = {step: [] for step in axis.steps}
            for number in range(rounds):
                for step, answers in found.items():
                    asked = question(strategy, unit, axis.size(step))
                    request = Request("all", written[step], asked, check=number == 0)
                    answers.append(in_a_process(request))
            yield curve(axis, text, strategy, unit, written, found)


def curve(
    axis: Axis,
    text: str,
    strategy: str,
    unit: str,
    written: dict[int, Corpus],
    found: dict[int, list[Answer]],
) -> dict[str, Any]:
    """Return points and slopes; an answer that is wrong or differs between rounds ends it."""
    points = []
    for step, answers in found.items():
        told = f"{strategy}, {unit}, {text}, {step} {axis.counts}"
        if wrong := answers[0]["faults"]:
            sys.exit(f"{told}: {'; '.join(in_words(wrong))}")
        if len({answer["hash"] for answer in answers}) > 1:
            sys.exit(f"{told}: rounds give different chunks")
        held = [answer["peak_bytes"] for answer in answers if answer["peak_bytes"] is not None]
        points.append(
            {
                "step": step,
                "bytes": written[step].bytes,
                "chunks": answers[0]["chunks"],
                "cpu_seconds": min(answer["cpu_seconds"] for answer in answers),
                "peak_bytes": int(statistics.median(held)) if held else None,
            }
        )
    seconds = [(p["step"], p["cpu_seconds"]) for p in points]
    memory = [(p["step"], p["peak_bytes"] or 0) for p in points]
    return {
        "axis": axis.name,
        "text": text,
        "strategy": strategy,
        "unit": unit,
        "points": points,
        "slope": slope(seconds),
        "last_step": slope(seconds[-2:]),
        "memory_slope": slope(memory),
    }


def table(results: list[dict[str, Any]], axis: Axis) -> str:
    """Return the Markdown table of an axis."""
    rows = []
    for result in (result for result in results if result["axis"] == axis.name):
        first, last = result["points"][0], result["points"][-1]
        peak = last["peak_bytes"]
        rows.append(
            [
                result["strategy"],
                result["unit"],
                result["text"],
                figure(first["cpu_seconds"] * 1e3),
                figure(last["cpu_seconds"] * 1e3),
                _signed(result["slope"]),
                _signed(result["last_step"]),
                "-" if peak is None else figure(peak / MIB),
                _signed(result["memory_slope"]),
            ]
        )
    low, high = axis.steps[0], axis.steps[-1]
    heads = ["strategy", "unit", "text", f"ms at {low:,}", f"ms at {high:,}", "slope", "last step"]
    return markdown([*heads, f"MiB at {high:,}", "slope of memory"], rows)


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


# Tests


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.name)
def test_answers(axis: Axis, strategy: str, unit: str, tmp_path: Path) -> None:
    small = {"documents": (2, 4), "document length": (3_000, 6_000), "chunk size": (64, 128)}
    found: dict[int, list[Answer]] = {}
    written = {}
    for step in small[axis.name]:
        texts = [text[:6_000] for text in axis.texts("multilingual", step)]
        place = tmp_path / f"{step}"
        place.mkdir()
        written[step] = Corpus.write(str(place), texts)
        asked = question(strategy, unit, axis.size(step))
        found[step] = [measure(Request("all", written[step], asked, check=True))]
        assert found[step][0]["chunks"] == len(asked.split_all(texts))
    told = curve(axis, "multilingual", strategy, unit, written, found)
    assert [point["step"] for point in told["points"]] == list(small[axis.name])
    assert strategy in table([told], axis)


def test_a_wrong_answer_ends_it(tmp_path: Path) -> None:
    corpus = Corpus.write(str(tmp_path), ["abc"])
    answer = {"faults": {"characters_lost": 2}, "hash": "a"}
    with pytest.raises(SystemExit, match="2 visible characters lost"):
        curve(AXES[0], "prose", "window", "chars", {1: corpus}, {1: [answer]})
    answers = [{"faults": {}, "hash": name} for name in "ab"]
    with pytest.raises(SystemExit, match="rounds give different chunks"):
        curve(AXES[0], "prose", "window", "chars", {1: corpus}, {1: answers})


@pytest.mark.parametrize("power", [0, 1, 2])
def test_slope_is_the_power(power: int) -> None:
    assert slope([(n, 3.0 * n**power) for n in (10, 20, 40, 80)]) == pytest.approx(power)
    assert slope([(1, 0.0), (2, 1.0)]) is None


# The command


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory as documents and chunks grow.")
    parser.add_argument("--texts", default=",".join(TEXTS), help="kinds of corpora.py, or paths")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("--units", default=",".join(UNITS))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    strategies, units = given.strategies.split(","), given.units.split(",")
    if unknown := set(strategies) - set(STRATEGIES):
        parser.error(
            f"--strategies: {', '.join(sorted(unknown))} is none of {', '.join(STRATEGIES)}"
        )
    results: list[dict[str, Any]] = []
    texts = given.texts.split(",")
    for axis in AXES:
        for text in texts:
            with tempfile.TemporaryDirectory(prefix="cantle-") as folder:
                for result in taken(axis, text, strategies, units, given.rounds, Path(folder)):
                    results.append(result)
                    print(".", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        print(f"{axis.name}: {axis.counts}\n\n{table(results, axis)}", flush=True)
    if given.json:
        whole = [figures.described(text, [joined(text, 4_000_000)]) for text in texts]
        told = figures.figures("scale", whole, rounds=given.rounds, results=results)
        figures.write(given.json, told)


if __name__ == "__main__":
    main()
