"""What is measured, in which turns, and what comes of it.

A round takes every measurement once, each in a process of its own; then comes the next round. So
what else the machine does falls on all alike. The best round counts: other work only makes slower.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

import cantle
from cantle import Tokenizer, units
from cantle.bench.corpus import Corpus
from cantle.bench.measure import Answer, Failed, Request, in_a_process
from cantle.bench.peers import Library
from cantle.strategies import Splitting

_LONG = 20.0
"""Seconds; a peer that takes more gets one round."""


@dataclass
class Measurement:
    """One configuration, and what its rounds gave."""

    request: Request
    answers: list[Answer] = field(default_factory=list)
    failed: str | None = None

    def __str__(self) -> str:
        """Say what it is, for who waits."""
        request = self.request
        question = described(request.question)
        if request.kind == "count":
            unit = units.describe(units.resolve(request.question.unit))
            return f"tokens of {unit}, {_threads(request.threads)}"
        if request.library is not None:
            return f"{question}, {request.library.name}"
        if request.kind == "each":
            return f"{question}, one by one"
        return f"{question}, {_threads(request.threads)}"

    def best(self, key: str = "seconds") -> float | None:
        """Return the smallest figure of all rounds."""
        return min((answer[key] for answer in self.answers), default=None)


@dataclass
class Plan:
    """All measurements of a run."""

    corpus: Corpus
    ours: list[Measurement] = field(default_factory=list)
    each: dict[str, Measurement] = field(default_factory=dict)
    """By the strategy's fingerprint."""
    counts: dict[tuple[str, int], Measurement] = field(default_factory=dict)
    """By unit and threads."""
    peers: list[Measurement] = field(default_factory=list)
    unanswered: list[tuple[Splitting, Library]] = field(default_factory=list)
    """Questions that a library does not answer."""

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        questions: Sequence[Splitting],
        threads: Sequence[int],
        libraries: Sequence[Library],
    ) -> Plan:
        """Return the plan: every strategy with every number of threads, then its peers."""
        plan = cls(corpus)
        for question in questions:
            unit = units.resolve(question.unit)
            plan.each[question.fingerprint] = Measurement(Request("each", corpus, question))
            for number in threads:
                plan.ours.append(Measurement(Request("all", corpus, question, number, check=True)))
                key = units.describe(unit), number
                if isinstance(unit, Tokenizer) and key not in plan.counts:
                    plan.counts[key] = Measurement(Request("count", corpus, question, number))
            for library in libraries:
                request = Request("peer", corpus, question, check=True, library=library)
                measurement = Measurement(request)
                try:
                    if library.adapt(question) is None:
                        plan.unanswered.append((question, library))
                        continue
                except ModuleNotFoundError as error:
                    measurement.failed = f"it needs more: pip install {error.name}"
                except Exception as error:
                    measurement.failed = f"{type(error).__name__}: {error}"
                plan.peers.append(measurement)
        return plan

    def all(self) -> list[Measurement]:
        """Return every measurement."""
        return [*self.ours, *self.each.values(), *self.counts.values(), *self.peers]


def run(
    measurements: Sequence[Measurement],
    rounds: int,
    peer_timeout: float,
    on_step: Callable[[str], None],
) -> None:
    """Take the measurements; one that fails is not taken again.

    Args:
        measurements: They keep what they give.
        rounds: How often each is taken.
        peer_timeout: Seconds after which a peer's process is ended.
        on_step: Hears before each what is measured.
    """
    for number in range(rounds):
        for measurement in measurements:
            on_step(f"round {number + 1} of {rounds}: {measurement}")
            peer = measurement.request.library is not None
            best = measurement.best()
            if measurement.failed or (peer and best is not None and best > _LONG):
                continue
            request = measurement.request
            if number:
                request = Request(**(vars(request) | {"check": False}))
            try:
                answer = in_a_process(request, peer_timeout if peer else None)
            except Failed as failed:
                measurement.failed = str(failed)
            else:
                measurement.answers.append(answer)


def results(plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield a result for every configuration: ours in their order, each strategy's peers behind.

    The figures of the peers are those of one thread, and so is what they are compared with.
    """
    for question in dict.fromkeys(measurement.request.question for measurement in plan.ours):
        ours = [m for m in plan.ours if m.request.question == question]
        for measurement in ours:
            yield _ours(plan, measurement, ours[0])
        alone = next((m.best() for m in ours if m.request.threads == 1), None)
        for measurement in plan.peers:
            if measurement.request.question == question:
                yield _peers(plan, measurement, alone)


def _ours(plan: Plan, measurement: Measurement, first: Measurement) -> dict[str, Any]:
    question, threads = measurement.request.question, measurement.request.threads
    each = plan.each[question.fingerprint]
    counted = plan.counts.get((units.describe(units.resolve(question.unit)), threads))
    # By CPU time: of two calls that are measured apart, other work slows one more than the other.
    cpu, counting = measurement.best("cpu_seconds"), counted and counted.best("cpu_seconds")
    hashes = {answer["hash"] for m in (measurement, first) for answer in m.answers}
    chunks = {answer["chunks"] for m in (measurement, each) for answer in m.answers}
    differ = len(hashes) > 1 or len(chunks) > 1
    result = _result(plan, measurement, each, Counter(answers_differ=int(differ)))
    result["tokens"] = counted.answers[0]["tokens"] if counted and counted.answers else None
    result["tokenizer_share"] = counting / cpu if counting and cpu else None
    return result | {"cantle_is_faster_by": None}


def _peers(plan: Plan, measurement: Measurement, ours: float | None) -> dict[str, Any]:
    seconds = measurement.best()
    ratio = seconds / ours if seconds and ours else None
    result = _result(plan, measurement, measurement, Counter())
    return result | {"tokens": None, "tokenizer_share": None, "cantle_is_faster_by": ratio}


def _result(
    plan: Plan, measurement: Measurement, each: Measurement, more: Counter[str]
) -> dict[str, Any]:
    request, answers = measurement.request, measurement.answers
    corpus, library, best = plan.corpus, request.library, measurement.best()
    chunks = answers[0]["chunks"] if answers else None
    held = [a["peak_bytes"] for a in answers if a["peak_bytes"] is not None]
    found = answers[0].get("faults", {}) if answers else {}

    def rate(number: float | None) -> float | None:
        return number / best if best and number is not None else None

    return {
        "library": "cantle" if library is None else library.name,
        "version": cantle.__version__ if library is None else library.version,
        "strategy": described(request.question),
        "fingerprint": request.question.fingerprint,
        "unit": units.describe(units.resolve(request.question.unit)),
        "threads": request.threads,
        "documents": corpus.documents,
        "bytes": corpus.bytes,
        "chunks": chunks,
        "seconds": best,
        "seconds_of_rounds": [answer["seconds"] for answer in answers],
        "cpu_seconds": measurement.best("cpu_seconds"),
        "cpu_seconds_of_rounds": [answer["cpu_seconds"] for answer in answers],
        "spread": max(a["seconds"] for a in answers) / best - 1 if best else None,
        "mb_per_second": rate(corpus.bytes / 1e6),
        "documents_per_second": rate(corpus.documents),
        "chunks_per_second": rate(chunks),
        "p50_seconds": each.best("p50_seconds"),
        "p99_seconds": each.best("p99_seconds"),
        "peak_bytes": int(np.median(held)) if held else None,
        "faults": dict(+(more + Counter(found))),
        "failed": measurement.failed or each.failed,
    }


def described(question: Splitting) -> str:
    """Return a strategy as it is written in text, without its unit."""
    told = f"{question.strategy}:{question.size}"
    if question.overlap:
        told += f":{question.overlap}"
    for setting in fields(question):  # type: ignore[arg-type]
        value = getattr(question, setting.name)
        if setting.name not in ("size", "overlap", "unit") and value != setting.default:
            told += f",{setting.name}={value}"
    return told


def _threads(number: int) -> str:
    return f"{number} thread{'' if number == 1 else 's'}"
