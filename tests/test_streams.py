"""Long runs: flat memory, back-pressure, other processes, an event loop beside."""

from __future__ import annotations

import multiprocessing
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cantle
from processes import in_fresh_process

EXAMPLES = Path(__file__).parents[1] / "examples"

# Documents are made as they are asked for: 300 MB of text in all.
FLAT = """
import resource, sys
import cantle

def documents(count):
    for number in range(count):
        yield f"{number} words that nobody has seen before, and a line of them. " * 500 + "\\n\\n"

def peak():
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "linux" else most // 1024

splitter = cantle.Recursive(500, 50, sys.argv[1])
run = lambda count: sum(len(c) for c in splitter.stream(documents(count), batch=50, threads=2))
run(200)
before = peak()
chunks = run(int(sys.argv[2]))
print(chunks, peak() - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no resource module")
@pytest.mark.parametrize(("unit", "documents"), [("chars", 10_000), ("cl100k_base", 3_000)])
def test_memory_does_not_grow_with_a_stream(unit, documents):
    chunks, grown = map(int, in_fresh_process(FLAT, unit, str(documents)).split())
    assert chunks > documents * 10
    assert grown < 20_000  # KiB; the texts are 300 MB and 90 MB


def test_no_text_is_taken_before_its_batch_is_asked_for():
    taken: list[str] = []

    def source(kind: str) -> Iterator[str]:
        for number in range(100):
            taken.append(f"{kind}{number}")
            yield f"{kind} {number}"

    ids = (text for text in source("id"))
    parts = cantle.Whole(unit="chars").stream(source("text"), batch=7, ids=ids)
    assert taken == []
    for number, part in enumerate(parts, 1):
        assert len(part) == min(7, 100 - 7 * (number - 1))
        assert len(taken) == 2 * min(7 * number, 100)
        if number == 3:
            break
    assert len(taken) == 2 * 21


def cut(job: tuple[cantle.Recursive, list[str]]) -> cantle.Chunks:
    splitter, texts = job
    return splitter.split_all(texts, threads=2)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_that_are_started_in_every_way(method):
    """Strategies go there and chunks come back, after this process had threads at work."""
    texts = ["Some words. And more of them, to fill a page.\n\n" * 2_000] * 6
    splitters = [
        cantle.Recursive(64, 8),
        cantle.Recursive(
            200, unit="chars", separators=["\n\n", cantle.Separator("[.] ", regex=True)]
        ),
    ]
    here = [cut((splitter, texts)) for splitter in splitters]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(cut, [(splitter, texts) for splitter in splitters]) == here


def test_the_example_overlaps():
    # No thread is made to give the lock up: only a call that gives it away lets the loop go on.
    run = """
import runpy, sys
sys.setswitchinterval(1_000)
runpy.run_path(sys.argv.pop(), run_name="__main__")
"""
    printed = in_fresh_process(run, str(EXAMPLES / "while_serving.py"))
    chunks, *rounds = map(int, re.findall(r"\d+", printed))
    assert chunks > 1_000
    assert min(rounds) > 0
