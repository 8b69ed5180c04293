"""A stream of documents larger than the memory it goes through.

    python benches/bench_stream.py [--gb 2] [--batch 200]     # a table: MB/s and peak memory
    pytest benches/bench_stream.py                            # the answers checked, a small stream

Documents of 40 kB are made as they are asked for, from real text that begins elsewhere each time,
so neither the source nor the result is ever held whole. Memory is that of the whole process at its
highest, the interpreter and the corpus included; before, that of the process with both read.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

import cantle
import corpora
from cantle.bench import memory

LENGTH = 40_000
MIB = 1 << 20


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--gb", type=float, default=2.0, help="how much text goes through")
    parser.add_argument("--batch", type=int, default=200, help="documents held at a time")
    given = parser.parse_args()
    print("| corpus | strategy | GB in | chunks out | MB/s | MiB before | MiB at most |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for corpus in ("prose", "multilingual"):
        for splitter in (cantle.Recursive(1_000, unit="chars"), cantle.Recursive(512)):
            sample = next(documents(corpus, 1))
            count = int(given.gb * 1e9 / len(sample.encode()))
            memory.forget_peak()
            before = memory.held() / MIB
            start = time.perf_counter()
            size, chunks = run(splitter, corpus, count, given.batch)
            seconds = time.perf_counter() - start
            unit = cantle.units.describe(splitter.unit)
            print(
                f"| {corpus} | recursive {splitter.size} {unit} | {size / 1e9:.2f} | {chunks:,} "
                f"| {size / 1e6 / seconds:.0f} | {before:.0f} | {memory.peak() / MIB:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
