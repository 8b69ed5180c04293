"""Many short documents in one call: `str` in, Arrow in, and chunks out as Arrow.

    python benches/bench_batch.py [--json FILE]   # rows/s and peak memory, fresh processes
    pytest benches/bench_batch.py                 # the answers checked: every road gives the same

The best of some rounds counts, in turns: other work on the machine only makes slower. Every figure
is taken in a process of its own that makes the input, notes its memory, and calls once: what Python
keeps with a string, and what an allocator keeps, is not there yet. Peers cut a tenth of the rows;
CPU time, memory and chunks are told for as many rows as the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cantle
import figures
import peers
from cantle.bench import memory
from cantle.bench.table import figure, markdown

MIB = 1 << 20
ROWS = 1_000_000
LENGTH = 200
ROUNDS = 5
TEXTS = ("prose", "multilingual")
SIZE = 100
SPLITTER = cantle.Recursive(SIZE, 0, "chars")
PEER_ROWS = 100_000
"""Peers make an object or more a chunk: they get a tenth of the rows, in one round."""


def documents(corpus: str, rows: int, length: int = LENGTH) -> list[str]:
    """Return texts of `length` bytes of UTF-8: each begins elsewhere in real text."""
    import corpora

    data = "".join(corpora.documents(corpus)).encode()
    starts = np.random.default_rng(5).integers(0, len(data) - length, rows)
    return [data[at : at + length].decode(errors="ignore") for at in starts.tolist()]


def columns(source: Any) -> cantle.Chunks:
    return SPLITTER.split_all(source)


def table(texts: Any) -> Callable[[Any], Any]:
    def run(source: Any) -> cantle.Chunks:
        import pyarrow as pa

        chunks = SPLITTER.split_all(source)
        assert pa.table(chunks.to_arrow(texts)).num_rows == len(chunks)
        return chunks

    return run


def objects(source: list[str]) -> cantle.Chunks:
    chunks = SPLITTER.split_all(source)
    assert len(chunks.texts) == len(chunks)
    return chunks


CALLS: dict[str, tuple[str, Callable[[Any], cantle.Chunks]]] = {
    "str in, columns out": ("str", columns),
    "Arrow in, columns out": ("arrow", columns),
    "str in, list of str out": ("str", objects),
    "str in, Arrow large strings out": ("str", table("large")),
    "Arrow in, Arrow large strings out": ("arrow", table("large")),
    "Arrow in, Arrow views out": ("arrow", table("view")),
}


def once(call: str, corpus: str, rows: int) -> dict[str, Any]:
    """Make the input and call once."""
    kind, run = CALLS[call]
    source: Any = documents(corpus, rows)
    if kind == "arrow":
        import pyarrow as pa

        source = pa.array(source)
    import pyarrow  # noqa: F401

    run(source[:10])
    memory.forget_peak()
    before = memory.held()
    start, cpu = time.perf_counter(), time.process_time()
    chunks = run(source)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    digest = hashlib.blake2b(digest_size=8)
    for column in (chunks.doc, chunks.byte_start, chunks.byte_end, chunks.char_end, chunks.size):
        digest.update(np.ascontiguousarray(column, np.int64).tobytes())
    return {
        "seconds": seconds,
        "cpu": cpu,
        "mib": (memory.peak() - before) / MIB,
        "chunks": len(chunks),
        "hash": digest.hexdigest(),
    }


def peer(name: str, corpus: str, rows: int) -> dict[str, Any]:
    """Make the input and let a peer cut it, once; its chunks keep the limit, or this fails."""
    run = peers.rows_by_characters(SIZE)[name]
    source = documents(corpus, rows)
    run(source[:10])
    memory.forget_peak()
    before = memory.held()
    start, cpu = time.perf_counter(), time.process_time()
    found = run(source)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    mib = (memory.peak() - before) / MIB
    assert len(found) == rows
    assert all(len(text) <= SIZE for texts in found for text in texts)
    return {"seconds": seconds, "cpu": cpu, "mib": mib, "chunks": sum(map(len, found))}


def fresh(call: str, corpus: str, rows: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", call, corpus, str(rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_answers_do_not_depend_on_the_road() -> None:
    for corpus in ("prose", "multilingual"):
        answers = [once(call, corpus, 5_000) for call in CALLS]
        assert len({(answer["chunks"], answer["hash"]) for answer in answers}) == 1
        assert answers[0]["chunks"] > 5_000


def test_a_fresh_process_answers() -> None:
    assert fresh("Arrow in, columns out", "prose", 100)["chunks"] > 100
    for name in peers.rows_by_characters(SIZE):
        assert fresh(name, "prose", 100)["chunks"] > 100


def taken(corpus: str, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield what every road and every peer gives for a corpus, peers reckoned for all rows."""
    found: dict[str, list[dict[str, Any]]] = {call: [] for call in CALLS}
    for _ in range(rounds):
        for call, answers in found.items():
            answers.append(fresh(call, corpus, ROWS))
    assert len({a["hash"] for answers in found.values() for a in answers}) == 1
    first = 0.0
    for call, answers in found.items():
        cpu = min(answer["cpu"] for answer in answers)
        first = first or cpu
        yield {
            "text": corpus,
            "call": call,
            "rows_per_second": ROWS / min(answer["seconds"] for answer in answers),
            "cpu_seconds": cpu,
            "times_first": cpu / first,
            "mib": statistics.median(answer["mib"] for answer in answers),
            "chunks": answers[0]["chunks"],
        }
    for name in peers.rows_by_characters(SIZE):
        answer = fresh(name, corpus, PEER_ROWS)
        cpu = answer["cpu"] * ROWS / PEER_ROWS
        yield {
            "text": corpus,
            "call": f"{name}, list of str out",
            "rows_per_second": PEER_ROWS / answer["seconds"],
            "cpu_seconds": cpu,
            "times_first": cpu / first,
            "mib": answer["mib"] * ROWS / PEER_ROWS,
            "chunks": answer["chunks"] * ROWS // PEER_ROWS,
        }


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown table of all roads."""
    heads = ["text", "call", "rows/s", "CPU s", "times `str` in, columns out", "MiB", "chunks"]
    rows = [
        [
            result["text"],
            result["call"],
            figure(result["rows_per_second"]),
            figure(result["cpu_seconds"]),
            figure(result["times_first"]),
            figure(result["mib"]),
            f"{result['chunks']:,}",
        ]
        for result in results
    ]
    return markdown(heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Many short documents in one call.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    results: list[dict[str, Any]] = []
    for corpus in TEXTS:
        found = list(taken(corpus, given.rounds))
        print(table(found), flush=True)
        results += found
    if given.json:
        described = [figures.described(text, documents(text, ROWS)) for text in TEXTS]
        told = figures.figures("batch", described, rounds=given.rounds, results=results)
        figures.write(given.json, told)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        call, corpus, rows = sys.argv[2:]
        print(json.dumps((once if call in CALLS else peer)(call, corpus, int(rows))))
    else:
        main()
