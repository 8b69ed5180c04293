"""A stream of documents larger than the memory it goes through.

    python benches/bench_stream.py [--gb 2] [--batch 200] [--json FILE]   # MB/s and peak memory
    pytest benches/bench_stream.py                  # the answers checked, a small stream

Documents of 40 kB are made as they are asked for, from real text that begins elsewhere each time,
so neither the source nor the result is ever held whole. Memory is that of the whole process at its
highest, the interpreter and the corpus included; before, that of the process with both read.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cantle
import corpora
import figures
from cantle.bench import memory
from cantle.bench.table import figure, markdown

LENGTH = 40_000
MIB = 1 << 20
TEXTS = ("prose", "multilingual")


def documents(corpus: str, count: int) -> Iterator[str]:
    """Yield `count` documents of about `LENGTH` characters."""
    data = "".join(corpora.documents(corpus))
    starts = np.random.default_rng(3).integers(0, len(data) - LENGTH, count)
    return (data[at : at + LENGTH] for at in starts.tolist())


def run(splitter: cantle.Recursive, corpus: str, count: int, batch: int) -> tuple[int, int]:
    """Return the bytes that went in and the chunks that came out."""
    size = chunks = 0

    def counted() -> Iterator[str]:
        nonlocal size
        for text in documents(corpus, count):
            size += len(text.encode())
            yield text

    for part in splitter.stream(counted(), batch=batch):
        chunks += len(part)
    return size, chunks


def test_a_stream_gives_what_one_call_gives() -> None:
    splitter = cantle.Recursive(1_000, unit="chars")
    size, chunks = run(splitter, "prose", 20, 7)
    whole = splitter.split_all(list(documents("prose", 20)))
    assert (size, chunks) == (sum(len(t.encode()) for t in documents("prose", 20)), len(whole))


def taken(corpus: str, splitter: cantle.Recursive, gb: float, batch: int) -> dict[str, Any]:
    """Return the figures of one stream."""
    sample = next(documents(corpus, 1))
    count = int(gb * 1e9 / len(sample.encode()))
    memory.forget_peak()
    before = memory.held()
    start, cpu = time.perf_counter(), time.process_time()
    size, chunks = run(splitter, corpus, count, batch)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {
        "text": corpus,
        "strategy": f"recursive {splitter.size} {cantle.units.describe(splitter.unit)}",
        "bytes": size,
        "chunks": chunks,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "bytes_before": before,
        "bytes_at_most": memory.peak(),
    }


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown table of all streams."""
    heads = ["text", "strategy", "GB in", "chunks out", "MB/s", "MB/s of CPU time"]
    rows = [
        [
            result["text"],
            result["strategy"],
            f"{result['bytes'] / 1e9:.2f}",
            f"{result['chunks']:,}",
            figure(result["bytes"] / 1e6 / result["seconds"]),
            figure(result["bytes"] / 1e6 / result["cpu_seconds"]),
            figure(result["bytes_before"] / MIB),
            figure(result["bytes_at_most"] / MIB),
        ]
        for result in results
    ]
    return markdown([*heads, "MiB before", "MiB at most"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--gb", type=float, default=2.0, help="how much text goes through")
    parser.add_argument("--batch", type=int, default=200, help="documents held at a time")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    results = []
    for corpus in TEXTS:
        for splitter in (cantle.Recursive(1_000, unit="chars"), cantle.Recursive(512)):
            results.append(taken(corpus, splitter, given.gb, given.batch))
            print(table(results[-1:]), flush=True)
    if given.json:
        described = [figures.described(text, corpora.documents(text)) for text in TEXTS]
        figures.write(given.json, figures.figures("stream", described, results=results))


if __name__ == "__main__":
    main()
