"""From a case's `call` to the library. What must hold of the answer stands in `*_checks.py`.

A case runs when the library offers its operation, strategy and parameters; `why_pending` says what
is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import cantle
import oracle
import samples
from cantle.strategies.text import REGISTRY
from cases import builders

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
