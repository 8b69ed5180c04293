"""Checks of cases about work, memory, threads and processes.

Three kinds are not taken by the clock, since tests assert no times:

* `seconds`: the call is run to its end, and gives chunks or the error that the case asks for.
* `scaling`: the unit is replaced by a callable that counts alike and keeps account of its calls and
  the characters it saw; an input `factor` times as long may cost at most `max_ratio` times as much
  of either. `sentences` asks no ruler: of a text `factor` times as long it must find `factor` times
  as many, and its work is counted in the core (`cuts/sentences`, `work_is_linear`).
* `other_thread_progress`: no thread may take the lock by force, so another one advances only
  while the call has given it away; it must advance (see `processes.py`).
"""

from __future__ import annotations

import copy
import gc
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import cantle
from cases.adapter import CASES, Outcome, check, spans, strategy_of
from processes import in_fresh_process, other_thread_steps


@check
def seconds(outcome: Outcome, given: dict[str, Any]) -> None:
    """A call that fails at once is not fast: only a case that asks for an error may have one."""
    asked = any(one["check"] in ("raises", "either") for one in outcome.case["expected"])
    assert asked or not isinstance(outcome.answer, Exception), outcome.answer


class Account:
    """A callable unit that counts like `count` and keeps account of its work."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self.count, self.calls, self.characters = count, 0, 0

    def __call__(self, text: str) -> int:
        self.calls += 1
        self.characters += len(text)
        return self.count(text)


@check
def scaling(outcome: Outcome, given: dict[str, Any]) -> None:
    if outcome.call["op"] == "sentences":
        once, more = (len(cantle.sentences(outcome.input * n)) for n in (1, given["factor"]))
        # Where the text meets itself two sentences may be one.
        assert once > 1
        assert 0 <= given["factor"] * once - more < given["factor"]
        return
    measure = {"byte_level": lambda t: len(t.encode()), "words": lambda t: len(t.split())}
    measure["chars"] = len
    accounts = []
    part = outcome.input[: min(len(outcome.input) // given["factor"], 200_000)]
    for text in (part, part * given["factor"]):
        account = Account(measure[outcome.call.get("tokenizer", outcome.call["unit"])])
        strategy_of(outcome.call, account).split(text)
        accounts.append(account)
    small, large = accounts
    assert large.calls <= given["max_ratio"] * small.calls
    assert large.characters <= given["max_ratio"] * small.characters


def spans_of_case(name: str) -> list[tuple[tuple[int, int], str]]:
    chunks = Outcome(CASES[name]).chunks
    return list(zip(spans(chunks), chunks.ids, strict=True))


_PEAK = """
import sys
from cantle.bench.memory import forget_peak, peak
from cases.adapter import CASES, Outcome, strategy_of
outcome = Outcome(CASES[sys.argv[1]])
strategy = strategy_of(outcome.call)
strategy.split("The first call loads the vocabulary.")
# Making the input took more than the input: what the call takes would hide in that.
forget_peak()
before = peak()
chunks = strategy.split(outcome.input)
print((peak() - before) / len(outcome.input.encode()))
"""


@check
def peak_memory(outcome: Outcome, given: dict[str, Any]) -> None:
    ratio = float(in_fresh_process(_PEAK, outcome.case["id"]))
    assert ratio <= given["max_ratio"]


@check
def memory_stable(outcome: Outcome, given: dict[str, Any]) -> None:
    """Chunks die with their last reference: none of a run's objects is left behind."""
    _ = outcome.answer
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(5):
        outcome.run()
    gc.collect()
    assert len(gc.get_objects()) - before < 100


_SAME = """
import sys
from cases.work_checks import spans_of_case
print(spans_of_case(sys.argv[1]))
"""


@check
def same_each_run(outcome: Outcome, given: dict[str, Any]) -> None:
    there = in_fresh_process(_SAME, outcome.case["id"])
    assert there == f"{spans_of_case(outcome.case['id'])}\n"


@check
def same_in_threads(outcome: Outcome, given: dict[str, Any]) -> None:
    strategy = strategy_of(outcome.call)
    barrier = threading.Barrier(given["n"])

    def run(_: int) -> list[tuple[int, int]]:
        barrier.wait()
        return spans(strategy.split(outcome.input))

    with ThreadPoolExecutor(given["n"]) as pool:
        assert all(found == spans(outcome.chunks) for found in pool.map(run, range(given["n"])))


def split_spans(strategy: Any, text: str) -> list[tuple[int, int]]:
    return spans(strategy.split(text))


@check
def same_in_processes(outcome: Outcome, given: dict[str, Any]) -> None:
    strategy, n = strategy_of(outcome.call), given["n"]
    context = multiprocessing.get_context(given.get("start_method", "spawn"))
    with ProcessPoolExecutor(n, mp_context=context) as pool:
        found = list(pool.map(split_spans, [strategy] * n, [outcome.input] * n))
    assert found == [spans(outcome.chunks)] * n


@check
def same_after_pickle(outcome: Outcome, given: dict[str, Any]) -> None:
    again = pickle.loads(pickle.dumps(strategy_of(outcome.call)))
    assert again.split(outcome.input) == outcome.chunks


@check
def results_pickle(outcome: Outcome, given: dict[str, Any]) -> None:
    assert pickle.loads(pickle.dumps(outcome.chunks)) == outcome.chunks
    assert copy.deepcopy(outcome.chunks) == outcome.chunks


_FORK = """
import os, sys
from cases.adapter import CASES, Outcome, spans
outcome = Outcome(CASES[sys.argv[1]])
before = spans(outcome.run()[0])
child = os.fork()
if child == 0:
    os._exit(0 if spans(outcome.run()[0]) == before else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@check
def fork_child_finishes(outcome: Outcome, given: dict[str, Any]) -> None:
    done = in_fresh_process(_FORK, outcome.case["id"], timeout=given["within_s"])
    assert done == "0\n"


@check
def other_thread_progress(outcome: Outcome, given: dict[str, Any]) -> None:
    strategy = strategy_of(outcome.call)
    assert other_thread_steps(lambda: strategy.split(outcome.input), wanted=200) >= 200
