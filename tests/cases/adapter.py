"""From a case's `call` to the library, and one function per check.

A case runs when the library offers its operation, strategy and parameters; `why_pending` says what
is missing. Three kinds of check are not taken by the clock, since tests assert no times:

* `seconds`: the call is run to its end, and gives chunks or the error that the case asks for.
* `scaling`: the unit is replaced by a callable that counts alike and keeps account of its calls and
  the characters it saw; an input `factor` times as long may cost at most `max_ratio` times as much
  of either. `sentences` asks no ruler: of a text `factor` times as long it must find `factor` times
  as many, and its work is counted in the core (`cuts/sentences`, `work_is_linear`).
* `other_thread_progress`: no thread may take the lock by force, so another one advances only
  while the call has given it away; it must advance (see `processes.py`).
"""

from __future__ import annotations

import ast
import copy
import gc
import json
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import cantle
import oracle
import samples
from cantle.strategies.text import REGISTRY
from cases import builders
from processes import in_fresh_process, other_thread_steps

HERE = Path(__file__).parent
CASES = {case["id"]: case for case in json.loads((HERE / "public.json").read_text("utf-8"))}
OPS = {
    *("chunk", "chunk_batch", "all_strategies", "documents", "documents_batch", "repeat"),
    *("sentences", "count_tokens", "parent_child", "bad_args", "ok_args"),
}
PARAMETERS = {
    *("op", "strategy", "size", "overlap", "unit", "tokenizer", "count_special", "separators"),
    *("is_regex", "keep_separator", "min_size", "trim", "metadata", "id", "calls", "times"),
    *("parent_size", "child_size", "prefix", "table_header", "pages", "embedder", "buffer"),
    *("min_sentences", "distance_threshold", "percentile", "threshold"),
}


def why_pending(case: dict[str, Any]) -> str | None:
    """Return what the library lacks for a case, or None when it can run."""
    call = case["call"]
    if call["op"] not in OPS:
        return f"no operation {call['op']!r}"
    if call.get("strategy", "recursive") not in REGISTRY:
        return f"no strategy {call['strategy']!r}"
    lacking = sorted(set(call) - PARAMETERS)
    return f"no parameter {lacking[0]!r}" if lacking else None


# ------------------------------------------------------------------------------- settings


def unit_of(call: dict[str, Any], key: str = "unit") -> Any:
    name = call.get("tokenizer")
    if call.get(key) == "tokens" or (key not in call and "tokenizer" in call):
        if name not in builders.TOKENIZERS:
            return name
        tokenizer = builders.TOKENIZERS[name]()
        if call.get("count_special"):
            return cantle.Tokenizer.from_object(tokenizer, count_special=True)
        return tokenizer
    return call.get(key, "cl100k_base")


def strategy_of(call: dict[str, Any], unit: Any = None) -> Any:
    settings: dict[str, Any] = {"unit": unit_of(call) if unit is None else unit}
    settings |= {k: call[k] for k in ("size", "overlap", "trim", "min_size") if k in call}
    if "separators" in call:
        given = call["separators"]
        regex, side = call.get("is_regex", False), call.get("keep_separator")
        if (regex or side) and isinstance(given, list):
            given = [cantle.Separator(s, regex=regex, side=side) if s else s for s in given]
        settings["separators"] = given
    name = call.get("strategy", "recursive")
    if name == "structural":
        settings["depth"] = "all"
    if "prefix" in call:
        # A strategy without paths refuses it: no case may pass because it was not asked for.
        settings["prefix"] = {"heading_path": "path"}[call["prefix"]]
    if name in ("semantic", "optimal", "documentbased"):
        settings["embedder"] = builders.EMBEDDERS[call.get("embedder", "hashed")]
        settings |= {k: call[k] for k in ("buffer", "percentile", "min_sentences") if k in call}
        settings |= {"distance": call["distance_threshold"]} if "distance_threshold" in call else {}
        settings |= {"automatic": True} if call.get("threshold") == "auto" else {}
    if name not in REGISTRY:
        return cantle.strategy_from_text(name, **settings)
    return REGISTRY[name](**settings)


def count(text: str, unit: str, tokenizer: str | None = None, special: bool = False) -> int:
    if unit != "tokens":
        return oracle.size(text, unit)
    plain = {"words_trunc16": "words", "words_pad32": "words"}
    return samples.foreign_count(plain.get(tokenizer, tokenizer), text, special)


# -------------------------------------------------------------------------------- running


@dataclass
class Outcome:
    """What a case's call came to, made when a check asks."""

    case: dict[str, Any]
    call: dict[str, Any] = field(init=False)
    input: Any = field(init=False)

    def __post_init__(self) -> None:
        self.call = self.case["call"]
        self.input = builders.make_input(self.case["input"])

    @cached_property
    def answer(self) -> Any:
        """Every `Chunks` that the call gives, or the exception."""
        try:
            return self.run()
        except Exception as error:
            return error

    def run(self) -> list[cantle.Chunks]:
        call, op = self.call, self.call["op"]
        if op == "sentences":
            return [cantle.sentences(self.input)]
        if op == "all_strategies":
            return [
                strategy_of(call | {"strategy": name}).split(self.input)
                for name in sorted(REGISTRY)
            ]
        strategy = strategy_of(call)
        if op == "repeat":
            return [strategy.split(self.input) for _ in range(call["times"])]
        if op in ("chunk_batch", "documents_batch"):
            metadata = call.get("metadata")
            return [
                strategy.split_all(
                    self.input, metadata=None if metadata is None else [metadata] * len(self.input)
                )
            ]
        return [strategy.split(self.input, id=call.get("id"), metadata=call.get("metadata"))]

    @property
    def all(self) -> list[cantle.Chunks]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    @property
    def chunks(self) -> cantle.Chunks:
        (chunks,) = self.all
        return chunks

    @cached_property
    def parents(self) -> cantle.Chunks:
        call = self.call
        return cantle.Recursive(call["parent_size"], unit=call["unit"]).split(self.input)

    @cached_property
    def children(self) -> cantle.Chunks:
        call = self.call
        strategy = cantle.Recursive(call["child_size"], call["overlap"], call["unit"])
        return strategy.split_within(self.parents)

    def each(self) -> list[tuple[str, list[tuple[int, int]], cantle.Chunks]]:
        """Return text, character spans and chunks of each document of each result."""
        results = [self.children] if self.call["op"] == "parent_child" else self.all
        return [
            (text, spans(chunks[chunks.doc == i]), chunks[chunks.doc == i])
            for chunks in results
            for i, text in enumerate(chunks.documents.texts)
        ]


def spans(chunks: cantle.Chunks) -> list[tuple[int, int]]:
    return list(zip(chunks.char_start.tolist(), chunks.char_end.tolist(), strict=True))


Check = Callable[[Outcome, dict[str, Any]], None]
CHECKS: dict[str, Check] = {}


def check(run: Check) -> Check:
    CHECKS[run.__name__] = run
    return run


# ---------------------------------------------------------------------- checks on chunks


@check
def basics(outcome: Outcome, given: dict[str, Any]) -> None:
    for law in (slices, ordered, cover, no_blank):
        law(outcome, given)


@check
def slices(outcome: Outcome, given: dict[str, Any]) -> None:
    for text, _, chunks in outcome.each():
        data = text.encode()
        for c in chunks:
            assert c.text == text[c.char_start : c.char_end]
            assert c.text == data[c.byte_start : c.byte_end].decode()


@check
def ordered(outcome: Outcome, given: dict[str, Any]) -> None:
    for text, found, _ in outcome.each():
        assert all(0 <= a < b <= len(text) for a, b in found)
        assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))


@check
def cover(outcome: Outcome, given: dict[str, Any]) -> None:
    for text, found, _ in outcome.each():
        reached = 0
        for a, b in [*found, (len(text), len(text))]:
            assert oracle.is_blank(text[reached:a])
            reached = max(reached, b)


@check
def no_blank(outcome: Outcome, given: dict[str, Any]) -> None:
    for _, _, chunks in outcome.each():
        assert not [text for text in chunks.texts if oracle.is_blank(text)]


@check
def tiles(outcome: Outcome, given: dict[str, Any]) -> None:
    cover(outcome, given)
    for text, found, chunks in outcome.each():
        assert all(a[1] <= b[0] for a, b in pairwise(found))
        if not outcome.call.get("trim", True):
            assert "".join(chunks.texts) == text


@check
def max_size(outcome: Outcome, given: dict[str, Any]) -> None:
    tokenizer = given.get("counted_with", outcome.call.get("tokenizer"))
    for text, found, chunks in outcome.each():
        for (a, b), part in zip(found, chunks.texts, strict=True):
            if (
                count(part, given["unit"], tokenizer, given.get("with_special", False))
                > given["limit"]
            ):
                assert given.get("unless") == "single grapheme"
                assert len(oracle.clusters(text, a, b)) == 1


@check
def spans_(outcome: Outcome, given: dict[str, Any]) -> None:
    assert spans(outcome.chunks) == [tuple(span) for span in given["spans"]]


CHECKS["spans"] = CHECKS.pop("spans_")


@check
def texts(outcome: Outcome, given: dict[str, Any]) -> None:
    assert outcome.chunks.texts == given["texts"]


@check
def texts_stripped(outcome: Outcome, given: dict[str, Any]) -> None:
    assert [text.strip() for text in outcome.chunks.texts] == given["texts"]


@check
def chunk_count(outcome: Outcome, given: dict[str, Any]) -> None:
    for chunks in outcome.all:
        assert given["min"] <= len(chunks) <= given["max"]


@check
def min_sentences(outcome: Outcome, given: dict[str, Any]) -> None:
    for chunks in outcome.all:
        assert all(len(cantle.sentences(text)) >= given["n"] for text in chunks.texts[:-1])


@check
def together(outcome: Outcome, given: dict[str, Any]) -> None:
    for wanted in given["texts"]:
        assert any(wanted in text for text in outcome.chunks.texts), wanted


@check
def not_together(outcome: Outcome, given: dict[str, Any]) -> None:
    assert not [t for t in outcome.chunks.texts if given["a"] in t and given["b"] in t]


@check
def boundary_not_in(outcome: Outcome, given: dict[str, Any]) -> None:
    what = given["what"]
    for text, found, _ in outcome.each():
        whole = set(oracle.borders(text))
        for at in {at for span in found for at in span} - {0, len(text)}:
            before, after = text[at - 1], text[at]
            if what == "grapheme":
                assert at in whole
            elif what == "crlf":
                assert (before, after) != ("\r", "\n")
            elif what == "word":
                assert oracle.is_blank(before) or oracle.is_blank(after)
            elif what == "line":
                assert before in oracle.BREAKS or after in oracle.BREAKS
            elif what == "table_row":
                row = text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)]
                assert "|" not in row or before in oracle.BREAKS or after in oracle.BREAKS
            else:
                raise NotImplementedError(what)


@check
def never_contains(outcome: Outcome, given: dict[str, Any]) -> None:
    assert not [t for t in outcome.chunks.texts if any(mark in t for mark in given["texts"])]


@check
def never_ends_with(outcome: Outcome, given: dict[str, Any]) -> None:
    for text in outcome.chunks.texts:
        for mark in given["marks"]:
            ending = text if oracle.is_blank(mark[-1:]) else text.strip()
            assert not ending.endswith(mark)


@check
def ends_with_any(outcome: Outcome, given: dict[str, Any]) -> None:
    assert all(text.strip().endswith(tuple(given["marks"])) for text in outcome.chunks.texts)


@check
def no_chunk_equals(outcome: Outcome, given: dict[str, Any]) -> None:
    assert not {text.strip() for text in outcome.chunks.texts} & set(given["texts"])


def shared(outcome: Outcome, unit: str) -> list[int]:
    """Return how much each chunk repeats from the one before."""
    return [
        count(text[b[0] : a[1]], unit, outcome.call.get("tokenizer"))
        for text, found, _ in outcome.each()
        for a, b in pairwise(found)
    ]


@check
def overlap_at_most(outcome: Outcome, given: dict[str, Any]) -> None:
    repeated = shared(outcome, given["unit"])
    assert all(given.get("at_least", 0) <= n <= given["n"] for n in repeated)


@check
def overlap_exact(outcome: Outcome, given: dict[str, Any]) -> None:
    assert set(shared(outcome, given["unit"])) == {given["n"]}


@check
def fill(outcome: Outcome, given: dict[str, Any]) -> None:
    assert all(outcome.chunks.size[:-1] >= given["min_share"] * outcome.call["size"])


@check
def last_end_is_length(outcome: Outcome, given: dict[str, Any]) -> None:
    last = outcome.chunks[-1]
    assert (last.char_end, last.byte_end) == (len(outcome.input), len(outcome.input.encode()))


@check
def batch_lengths(outcome: Outcome, given: dict[str, Any]) -> None:
    docs = outcome.chunks.doc.tolist()
    assert [docs.count(i) for i in range(len(outcome.input))] == given["lengths"]


@check
def batch_equals_single(outcome: Outcome, given: dict[str, Any]) -> None:
    strategy = strategy_of(outcome.call)
    for i, text in enumerate(outcome.input):
        assert spans(outcome.chunks[outcome.chunks.doc == i]) == spans(strategy.split(text))


@check
def text_once(outcome: Outcome, given: dict[str, Any]) -> None:
    assert sum(text.count(given["text"]) for text in outcome.chunks.texts) == 1


# ---------------------------------------------------------- checks on sentences and tokens


@check
def sentences(outcome: Outcome, given: dict[str, Any]) -> None:
    assert [text.strip() for text in outcome.chunks.texts] == given["sentences"]


@check
def sentence_count(outcome: Outcome, given: dict[str, Any]) -> None:
    assert len(outcome.chunks) == given["n"]


@check
def sentence_count_between(outcome: Outcome, given: dict[str, Any]) -> None:
    assert given["min"] <= len(outcome.chunks) <= given["max"]


@check
def sentences_tile(outcome: Outcome, given: dict[str, Any]) -> None:
    slices(outcome, given)
    tiles(outcome, given)


@check
def token_count(outcome: Outcome, given: dict[str, Any]) -> None:
    tokenizer = builders.TOKENIZERS[outcome.call["tokenizer"]]()
    ours = cantle.Tokenizer.from_object(tokenizer)
    assert ours.count(outcome.input) == given["n"]
    assert len(ours.encode(outcome.input).ids) == given["n"]


@check
def tokenizer_unchanged(outcome: Outcome, given: dict[str, Any]) -> None:
    tokenizer = builders.TOKENIZERS[outcome.call["tokenizer"]]()
    before = tokenizer.to_str()
    strategy_of(outcome.call, tokenizer).split(outcome.input)
    assert tokenizer.to_str() == before


# ------------------------------------------------------------- checks on errors and state


def types_of(given: dict[str, Any]) -> tuple[type[Exception], ...]:
    known = {t.__name__: t for t in (ValueError, TypeError, OverflowError)}
    return tuple(known[name] for name in given["types"])


@check
def raises(outcome: Outcome, given: dict[str, Any]) -> None:
    error = outcome.answer
    assert isinstance(error, types_of(given))
    assert all(words in str(error) for words in given["says"])
    if given.get("says_any_of"):
        assert any(words in str(error) for words in given["says_any_of"])
    if "names the sentence or row 2" in given.get("also", ()):
        assert "sentence 2 " in str(error)


@check
def no_nan_warning(outcome: Outcome, given: dict[str, Any]) -> None:
    """Warnings are errors in every test; the distance behind the last sentence is none."""
    found = outcome.chunks.distances
    assert np.isfinite(found.distance[:-1]).all()
    assert np.isfinite(found.threshold).all()


def bad_call(changes: dict[str, Any], text: Any) -> Any:
    """Run one of `calls`, all else at its default; return the exception, or what came out."""
    text = changes.get("text", text)
    if changes.get("as") == "bytes":
        text = ast.literal_eval(text)
    try:
        return strategy_of({k: v for k, v in changes.items() if k not in ("text", "as")}).split(
            text
        )
    except Exception as error:
        return error


@check
def each_raises(outcome: Outcome, given: dict[str, Any]) -> None:
    for changes in outcome.call["calls"]:
        error = bad_call(changes, outcome.input)
        assert isinstance(error, types_of(given)), changes
        values = [str(v) for k, v in changes.items() if k == "size"]
        assert all(value.strip("'") in str(error) for value in values)


@check
def no_crash(outcome: Outcome, given: dict[str, Any]) -> None:
    """A panic comes out as `InternalError`; an abort or a hang would end the run."""
    if outcome.call["op"] in ("bad_args", "ok_args"):
        answers = [bad_call(changes, outcome.input) for changes in outcome.call["calls"]]
    else:
        answers = [outcome.children if outcome.call["op"] == "parent_child" else outcome.answer]
    assert answers
    assert not [a for a in answers if isinstance(a, cantle.InternalError | RecursionError)]


@check
def either(outcome: Outcome, given: dict[str, Any]) -> None:
    """Which of the two we took is what our documentation says."""
    error = outcome.answer
    if given["a"] == ["basics"]:
        basics(outcome, given)
    elif given["b"] == ["raises ValueError (UnicodeEncodeError counts) that gives the position"]:
        assert isinstance(error, ValueError)
        assert "character 8" in str(error)
    elif given["b"] == ["error that gives the index 1 of the text"]:
        assert isinstance(error, ValueError)
        assert "texts[1]" in str(error)
    else:
        raise NotImplementedError(given)


# -------------------------------------------------------------- checks on work and memory


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
from cases.adapter import spans_of_case
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


# ------------------------------------------------------- checks on metadata, ids, parents


@check
def meta_independent(outcome: Outcome, given: dict[str, Any]) -> None:
    key, chunks = given["mutate"], outcome.chunks
    before = copy.deepcopy(outcome.call["metadata"])
    copies = [chunk.metadata for chunk in chunks]
    copies[0][key].append("changed")
    assert all(metadata == before for metadata in copies[1:])
    assert all(chunk.metadata == before for chunk in chunks)
    assert outcome.call["metadata"] == before


@check
def meta_equal(outcome: Outcome, given: dict[str, Any]) -> None:
    for chunk in outcome.chunks:
        for key in given["keys"]:
            assert chunk.metadata[key] == outcome.call["metadata"][key]


@check
def index_dense(outcome: Outcome, given: dict[str, Any]) -> None:
    assert outcome.chunks.ordinal.tolist() == list(range(len(outcome.chunks)))


@check
def ids_unique(outcome: Outcome, given: dict[str, Any]) -> None:
    """No two ids are equal in all that a call returns, whichever documents they are of."""
    for chunks in [outcome.children] if outcome.call["op"] == "parent_child" else outcome.all:
        assert len(set(chunks.ids)) == len(chunks) > 0


@check
def parent_count(outcome: Outcome, given: dict[str, Any]) -> None:
    assert len(outcome.parents) == given["n"]


@check
def child_count_min(outcome: Outcome, given: dict[str, Any]) -> None:
    assert len(outcome.children) >= given["n"]


@check
def nested(outcome: Outcome, given: dict[str, Any]) -> None:
    for child in outcome.children:
        assert child.parent.char_start <= child.char_start < child.char_end <= child.parent.char_end


@check
def children_cover_parent(outcome: Outcome, given: dict[str, Any]) -> None:
    for row, parent in enumerate(outcome.parents):
        reached = parent.char_start
        for child in outcome.children[outcome.children.parent == row]:
            assert oracle.is_blank(outcome.input[reached : child.char_start])
            reached = max(reached, child.char_end)
        assert oracle.is_blank(outcome.input[reached : parent.char_end])
