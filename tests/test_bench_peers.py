"""Libraries that `cantle bench` compares with answer in chunks of the text, fail, or never end."""

from __future__ import annotations

import time
from pathlib import Path
from unittest.mock import MagicMock

import pytest

import cantle
from cantle.bench import measure, peers
from cantle.bench.corpus import Corpus
from cantle.bench.faults import faults
from cantle.bench.peers import Library, Peer
from cantle.strategies import Splitting
from cli_runs import TEXT

# Peers of our own, which other processes find by name.


def broken(question: Splitting) -> Peer | None:
    """Fails at work."""

    def cut(text: str) -> None:
        raise ValueError("no such luck")

    return Peer(cut, lambda answer: [])


def endless(question: Splitting) -> Peer | None:
    """Does not end."""
    return Peer(lambda text: time.sleep(60), lambda answer: [])


def test_a_peer_that_does_not_end_is_ended(tmp_path: Path) -> None:
    corpus = Corpus.write(str(tmp_path), [TEXT])
    library = Library("pytest", "pytest", endless)
    request = measure.Request("peer", corpus, cantle.Window(9), library=library)
    with pytest.raises(measure.Failed, match=r"^it took more than 1 s$"):
        measure.in_a_process(request, 1.0)


def test_why_a_process_failed_is_told(tmp_path: Path) -> None:
    corpus = Corpus.write(str(tmp_path), [TEXT])
    library = Library("pytest", "pytest", broken)
    request = measure.Request("peer", corpus, cantle.Window(9), library=library)
    with pytest.raises(measure.Failed, match=r"^ValueError: no such luck$"):
        measure.in_a_process(request)


# Those that are known.

QUESTIONS: dict[str, Splitting] = {
    "window, chars": cantle.Window(60, 7, "chars"),
    "recursive, chars": cantle.Recursive(60, unit="chars"),
    "sentence, chars": cantle.Sentence(60, unit="chars"),
    "window, tokens": cantle.Window(20, 4),
    "recursive, tokens": cantle.Recursive(20),
    "sentence, tokens": cantle.Sentence(20),
    "window, words": cantle.Window(9, unit="words"),
    "sentence, words": cantle.Sentence(9, unit="words"),
    # What none of them has.
    "whole": cantle.Whole(),
    "recursive, words": cantle.Recursive(9, unit="words"),
    "recursive, bytes": cantle.Recursive(9, unit="bytes"),
    "recursive, chars, small ones joined": cantle.Recursive(9, unit="chars", min_size=5),
}
ANSWERED = {
    "blazechunk": {"window, chars", "recursive, chars", "sentence, chars"},
    "chonkie": {
        *("window, chars", "recursive, chars", "sentence, chars"),
        *("window, tokens", "recursive, tokens", "sentence, tokens"),
    },
    "chunkr-rs": {"window, chars", "recursive, chars", "window, tokens"},
    "haystack-ai": {"recursive, chars", "window, tokens", "recursive, tokens"},
    "langchain-text-splitters": {"recursive, chars", "window, tokens", "recursive, tokens"},
    "llama-index-core": {"sentence, chars", "sentence, tokens"},
    "rustchunker": {"window, words", "sentence, words"},
    "semantic-text-splitter": {"recursive, chars", "recursive, tokens"},
    "semchunk": {"recursive, chars", "recursive, tokens"},
    "tors": {"window, chars", "recursive, chars", "sentence, chars"},
}
"""Which of the questions each library has the same kind of cut, unit and limit for."""


def test_a_library_answers_what_it_has_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    # Those that are not installed are made up: what they answer is not asked here.
    monkeypatch.setattr(peers, "import_module", lambda name: MagicMock())
    monkeypatch.setattr(peers, "reference", lambda name: MagicMock())
    found = {
        name: {told for told, question in QUESTIONS.items() if library.adapt(question) is not None}
        for name, library in peers.LIBRARIES.items()
    }
    assert found == ANSWERED


@pytest.mark.parametrize(
    ("name", "question"),
    [
        pytest.param(name, question, id=f"{name}, {told}")
        for name, library in peers.LIBRARIES.items()
        if library.installed
        for told, question in QUESTIONS.items()
        if told in ANSWERED[name]
    ],
)
def test_a_library_answers_in_chunks_of_the_text(name: str, question: Splitting) -> None:
    peer = peers.LIBRARIES[name].adapt(question)
    assert peer is not None
    answer = peer.read(peer.cut(TEXT * 5))
    assert len(answer) > 3
    assert faults(TEXT * 5, answer, question) == {}


def test_a_reference_for_every_vocabulary_that_others_have() -> None:
    for name in peers._ENCODINGS:
        text = "Words,  12345 of them\n\n\u6f22\u5b57 <|endoftext|>"
        expected = cantle.Tokenizer.from_name(name).encode(text).ids.tolist()
        assert peers.reference(name).encode_ordinary(text) == expected
