"""Checks of cases about what is refused, and with which words."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

import cantle
from cases.adapter import Outcome, check, strategy_of
from cases.chunk_checks import basics


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
