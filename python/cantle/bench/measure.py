"""One measurement, in a process of its own.

A process makes its strings, warms up on texts that are not in the corpus, notes its memory, and
calls once: what Python keeps with a string, what a memo holds and what an allocator keeps is not
there yet. The process is a new interpreter, `python -c`, which gets the request on its standard
input and answers on its standard output; nothing is inherited but the module path.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from cantle import Chunks, Tokenizer, units
from cantle.bench import memory
from cantle.bench.corpus import Corpus
from cantle.bench.faults import faults, faults_of_ours
from cantle.bench.peers import Library
from cantle.strategies import Splitting

Kind = Literal["all", "each", "count", "peer"]
Answer = dict[str, Any]
T = TypeVar("T")

_WARM = [
    "A splitter keeps whole ideas together. It's 1,024 tokens, or fewer: don't cut here!\n\n" * 40,
    "Der Fluß führt Größeres mit sich. Съешь ещё этих мягких булок. 日本語の文章です。🎉\n\n" * 20,
]


@dataclass(frozen=True)
class Request:
    """What is measured."""

    kind: Kind
    """`all`: all documents in one call. `each`: one after the other on one thread. `count`: their
    tokens. `peer`: one after the other, by a library."""
    corpus: Corpus
    question: Splitting
    threads: int = 1
    check: bool = False
    """Whether the answer is looked at for faults: once is enough."""
    library: Library | None = None


class Failed(Exception):
    """A measurement that did not end well; says why."""


def measure(request: Request) -> Answer:
    """Return the figures of one measurement, taken in this process."""
    texts = request.corpus.texts()
    return _KINDS[request.kind](request, texts)


def _all(request: Request, texts: list[str]) -> Answer:
    split, threads = request.question.split_all, request.threads
    split(_WARM, threads=threads)
    chunks, found = _timed(lambda: split(texts, threads=threads))
    if request.check:
        found["faults"] = faults_of_ours(texts, chunks, request.question)
    return found | {"chunks": len(chunks), "hash": _hash(chunks)}


def _each(request: Request, texts: list[str]) -> Answer:
    split = request.question.split
    for text in _WARM:
        split(text, threads=1)
    (chunks, seconds), found = _timed(
        lambda: _one_by_one(texts, lambda text: len(split(text, threads=1)))
    )
    return found | {"chunks": sum(chunks)} | _percentiles(seconds)


def _count(request: Request, texts: list[str]) -> Answer:
    tokenizer, threads = units.resolve(request.question.unit), request.threads
    assert isinstance(tokenizer, Tokenizer)
    tokenizer.count_all(_WARM, threads=threads)
    counts, found = _timed(lambda: tokenizer.count_all(texts, threads=threads))
    return found | {"tokens": int(counts.sum())}


def _peer(request: Request, texts: list[str]) -> Answer:
    assert request.library is not None
    peer = request.library.adapt(request.question)
    assert peer is not None
    for text in _WARM:
        peer.cut(text)
    (raw, seconds), found = _timed(lambda: _one_by_one(texts, peer.cut))
    answers = [peer.read(answer) for answer in raw]
    if request.check:
        total: Counter[str] = Counter()
        for text, answer in zip(texts, answers, strict=True):
            total += faults(text, answer, request.question)
        found["faults"] = total
    return found | {"chunks": sum(map(len, answers))} | _percentiles(seconds)


_KINDS = {"all": _all, "each": _each, "count": _count, "peer": _peer}


def _timed(call: Callable[[], T]) -> tuple[T, Answer]:
    """Return what a call gives, with its seconds and the bytes it held at most.

    CPU time is that of all threads.
    """
    gc.collect()
    memory.forget_peak()
    before = memory.held()
    start, cpu = time.perf_counter(), time.process_time()
    result = call()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = memory.peak()
    held = max(peak - before, 0) if peak else None
    return result, {"seconds": seconds, "cpu_seconds": cpu, "peak_bytes": held}


def _one_by_one(texts: list[str], cut: Callable[[str], T]) -> tuple[list[T], list[float]]:
    clock = time.perf_counter
    results, seconds = [], []
    for text in texts:
        start = clock()
        result = cut(text)
        seconds.append(clock() - start)
        results.append(result)
    return results, seconds


def _percentiles(seconds: list[float]) -> Answer:
    p50, p99 = np.percentile(seconds, (50, 99)).tolist()
    return {"p50_seconds": p50, "p99_seconds": p99}


def _hash(chunks: Chunks) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for column in (chunks.doc, chunks.byte_start, chunks.byte_end, chunks.char_end, chunks.size):
        digest.update(np.ascontiguousarray(column, np.int64).tobytes())
    return digest.hexdigest()


def in_a_process(request: Request, timeout: float | None = None) -> Answer:
    """Return the figures of one measurement, taken in a new process.

    Raises:
        Failed: It raised, died, or took more than `timeout` seconds.
    """
    # No folder of the caller's comes before the packages.
    path = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from cantle.bench.measure import main; main()"],
            input=pickle.dumps(request),
            capture_output=True,
            env=environment,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"it took more than {timeout:g} s") from None
    if done.returncode == 0:
        answer: Answer = json.loads(done.stdout)
        return answer
    if done.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    if done.returncode < 0 or not said:
        raise Failed(f"its process ended with status {done.returncode}")
    raise Failed(said[-1])


def main() -> None:
    """Answer the request on standard input; the end of a process of `in_a_process`."""
    # A library may print; the answer stands alone on what was standard output.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        json.dump(measure(pickle.load(sys.stdin.buffer)), out)
