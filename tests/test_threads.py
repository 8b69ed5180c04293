"""Threads, forks, Ctrl-C and a caller's own function: what a call does to the process around it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import numpy as np
import pytest

import cantle
import samples
from cases import builders
from processes import environment, in_fresh_process, other_thread_steps

TEXT = builders.prose(300_000)
PARENTS = cantle.Recursive(50_000, unit="chars").split(TEXT)
BYTES = cantle.Tokenizer.from_object(builders.byte_level())
CL100K = cantle.Tokenizer.from_name("cl100k_base")

RELEASING = {
    "split by characters": lambda: cantle.Recursive(500, unit="chars").split(TEXT),
    "split by words": lambda: cantle.Window(100, 20, "words").split(TEXT),
    "split by sentences": lambda: cantle.Sentence(500, unit="bytes").split(TEXT),
    "split by tokens": lambda: cantle.Recursive(500).split(TEXT),
    "split by foreign tokens": lambda: cantle.Recursive(500, unit=BYTES).split(TEXT[:99_999]),
    "split_all on one thread": lambda: cantle.Window(500).split_all([TEXT], threads=1),
    "split_all on two threads": lambda: cantle.Recursive(500).split_all([TEXT] * 2, threads=2),
    "split_within": lambda: cantle.Sentence(100, unit="chars").split_within(PARENTS),
    "sentences": lambda: cantle.sentences(TEXT),
    "count": lambda: CL100K.count(TEXT),
    "encode": lambda: CL100K.encode(TEXT),
}  # fmt: skip


@pytest.mark.parametrize("call", RELEASING)
def test_the_lock_is_released(call):
    assert other_thread_steps(RELEASING[call], wanted=20) >= 20


def test_a_callable_keeps_the_lock():
    """Also what shows that the test above can fail."""
    split = cantle.Recursive(500, unit=len).split
    assert other_thread_steps(lambda: split(TEXT), wanted=1, most=3) == 0


def test_eight_threads_at_once_get_the_same_chunks():
    strategies = [
        cantle.Recursive(120, 20, "chars"),
        cantle.Recursive(40, 5),
        cantle.Sentence(60, 10, "o200k_base"),
        cantle.Window(30, 10, "words"),
        cantle.Recursive(64, unit=BYTES),
        cantle.Recursive(200, 50, samples.weighed),
    ]
    text = (samples.PROSE + "\u6f22\u5b57e\u0301 ") * 40
    alone = [strategy.split(text) for strategy in strategies]
    barrier = threading.Barrier(8)

    def run(_: int) -> list[cantle.Chunks]:
        barrier.wait()
        return [strategy.split(text) for strategy in strategies]

    with ThreadPoolExecutor(8) as pool:
        assert all(found == alone for found in pool.map(run, range(8)))


def test_a_vocabulary_is_first_read_by_eight_threads_at_once():
    """The vocabularies are read on first use: in a fresh process by all threads together."""
    code = """
import threading, cantle
barrier, counts = threading.Barrier(8), []
def run():
    barrier.wait()
    counts.append(cantle.Tokenizer.from_name("o200k_base").count("Hello there, world"))
threads = [threading.Thread(target=run) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(counts)
"""
    assert in_fresh_process(code, timeout=60) == f"{[4] * 8}\n"


def test_a_fork_after_threads_works():
    code = """
import os, cantle
texts = ["Some words. And more of them, to fill a page.\\n\\n" * 3_000] * 8
strategies = [cantle.Recursive(64), cantle.Recursive(200, unit="chars")]
before = [strategy.split_all(texts, threads=4) for strategy in strategies]
child = os.fork()
if child == 0:
    after = [strategy.split_all(texts, threads=4) for strategy in strategies]
    os._exit(0 if after == before else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert in_fresh_process(code, timeout=60) == "0\n"


# Each of these calls would take many minutes: only one that hears the signal ends in time. `inside`
# is called when the call is under way.
ENDLESS = {
    "one document": """
        unit = builders.byte_level()
        run = lambda: cantle.Window(2_000, 1_999, unit).split("ab c. " * 100_000)
    """,
    "many documents": """
        texts = ["ab c. " * 1_000_000] * 100_000
        run = lambda: cantle.Recursive(10_000, unit="chars").split_all(texts, threads=1)
    """,
    "many documents on two threads": """
        texts = ["ab c. " * 1_000_000] * 100_000
        run = lambda: cantle.Recursive(10_000, unit="chars").split_all(texts, threads=2)
    """,
    "children": """
        parents = cantle.Recursive(100_000, unit="chars").split("ab c. " * 1_000_000)
        run = lambda: cantle.Window(2_000, 1_999, builders.byte_level()).split_within(parents)
    """,
    "a callable": """
        unit = lambda text: inside() or text.count("a")
        run = lambda: cantle.Window(5_000, 4_999, unit).split("ab c. " * 10_000_000)
    """,
}

_INTERRUPTED = """
import signal, sys, threading
import cantle
from cases import builders

# A process that was started in the background may have been told to ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)

gate = threading.Lock()
gate.acquire()

def inside():
    global inside
    inside = lambda: None
    print("ready", flush=True)

def tell():
    gate.acquire()
    inside()

{setup}
sys.setswitchinterval(1_000)  # the other thread runs when this one gives the lock away: in the call
threading.Thread(target=tell, daemon=True).start()
try:
    gate.release()
    run()
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("call", ENDLESS)
def test_ctrl_c_ends_a_long_call(call):
    code = _INTERRUPTED.format(setup=dedent(ENDLESS[call]))
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60)[0] == "interrupted\n"
        assert child.returncode == 0
    finally:
        child.kill()
        child.communicate()


# ------------------------------------------------------------------ a caller's own function


@pytest.mark.parametrize(
    "error", [ValueError("mine"), KeyError(3), SystemExit(4), KeyboardInterrupt()]
)
@pytest.mark.parametrize("call", ["split", "split_all", "split_within", "stream"])
def test_an_exception_of_a_callable_comes_out_unchanged(call, error):
    calls = 0

    def unit(text: str) -> int:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise error
        return len(text)

    strategy, text = cantle.Recursive(10, 3, unit), "some words. " * 20
    parents = cantle.Whole(unit="chars").split(text)
    run = {
        "split": lambda: strategy.split(text),
        "split_all": lambda: strategy.split_all([text, text], threads=4),
        "split_within": lambda: strategy.split_within(parents),
        "stream": lambda: list(strategy.stream([text, text])),
    }[call]
    with pytest.raises(type(error)) as caught:
        run()
    assert caught.value is error
    assert calls == 5


NONSENSE = [
    (-1, cantle.SettingError, "the size that unit returned (-1) must not be negative"),
    ("x", TypeError, "the size that unit returned ('x') must be a whole number, not str"),
    (None, TypeError, "the size that unit returned (None) must be a whole number, not NoneType"),
    (1.5, TypeError, "the size that unit returned (1.5) must be a whole number, not float"),
    (True, TypeError, "the size that unit returned (True) must be a whole number, not bool"),
    (
        2**70,
        cantle.SettingError,
        f"the size that unit returned ({2**70}) must be smaller than 2**63",
    ),
]


@pytest.mark.parametrize(("answer", "kind", "message"), NONSENSE)
def test_a_callable_that_returns_nonsense(answer, kind, message):
    with pytest.raises(kind) as caught:
        cantle.Recursive(10, unit=lambda text: answer).split("some words")
    assert str(caught.value) == message


def test_a_callable_may_return_any_whole_number():
    chunks = cantle.Recursive(8, unit=lambda text: np.int32(len(text))).split("some words")
    assert chunks == cantle.Recursive(8, unit=lambda text: np.int32(len(text))).split("some words")
    assert chunks.texts == ["some", "words"]


def test_a_callable_that_takes_no_text():
    with pytest.raises(TypeError, match="takes 0 positional arguments but 1 was given"):
        cantle.Recursive(8, unit=lambda: 3).split("some words")


def test_a_callable_is_called_from_the_callers_thread_alone():
    seen = set()

    def unit(text: str) -> int:
        seen.add(threading.get_ident())
        return len(text)

    cantle.Recursive(50, unit=unit).split_all(["words and more. " * 2_000] * 8, threads=8)
    assert seen == {threading.get_ident()}


def test_a_callable_that_splits_itself():
    """The core keeps no state between calls, so a call inside a call is a call."""
    inner = cantle.Window(1, unit="chars")
    chunks = cantle.Recursive(6, unit=lambda text: len(inner.split(text))).split("abc def ghi jkl")
    assert chunks.texts == ["abc def", "ghi jkl"]
