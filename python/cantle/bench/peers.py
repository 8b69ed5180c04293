"""The other libraries: each as a function from a text to chunks, where it answers the question.

A question is a strategy with its size, overlap and unit. A library takes part only where it has
the same kind of cut, unit and limit. What it answers is checked in `faults.py`, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, TypeAlias

from cantle import Tokenizer, TokenizerError, units
from cantle.strategies import Splitting

Spans: TypeAlias = "list[tuple[int, int]]"
Answer: TypeAlias = "Spans | list[str]"
"""Where the chunks lie in the text, in characters; or their texts, of a library that tells no
positions."""

_ENCODINGS = ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")
"""The vocabularies that are the same in tiktoken and here."""
_MODELS = {"cl100k_base": "gpt-4", "o200k_base": "gpt-4o"}
"""What semantic-text-splitter calls the vocabularies that it carries."""


@dataclass(frozen=True)
class Peer:
    """A library, set up for one question."""

    cut: Callable[[str], Any]
    """What is timed: the library's own call, with its own objects."""
    read: Callable[[Any], Answer]
    """Reads the chunks off what `cut` returned."""


@dataclass(frozen=True)
class Library:
    """A library that may be installed."""

    package: str
    module: str
    adapt: Callable[[Splitting], Peer | None]
    """Returns the peer for a question, or None where the library does not answer it. A function of
    a module: other processes find it by its name."""

    @property
    def installed(self) -> bool:
        """Whether it can be imported."""
        try:
            return find_spec(self.module) is not None
        except ModuleNotFoundError:  # Not even the package that the module would be in.
            return False

    @property
    def version(self) -> str:
        """The version that is installed."""
        return metadata.version(self.package)


def answering(question: Splitting) -> dict[str, Peer]:
    """Return the peers that are installed and answer a question, by library and version."""
    found = {}
    for library in LIBRARIES.values():
        if library.installed and (peer := library.adapt(question)) is not None:
            found[version(library.package)] = peer
    return found


def version(package: str) -> str:
    """Return a package's name and version."""
    return f"{package} {metadata.version(package)}"


@cache
def reference(name: str) -> Any:
    """Return tiktoken's encoding, from the ranks that cantle carries: nothing is downloaded."""
    from unittest.mock import patch  # Slow to load, and rarely wanted.

    tiktoken = import_module("tiktoken")
    openai_public = import_module("tiktoken_ext.openai_public")
    tokenizer = Tokenizer.from_name(name)
    ranks = {}
    for token in range(tokenizer.vocab_size + 1):
        with suppress(TokenizerError):  # p50k_base has a special token among the others.
            ranks[tokenizer.decode([token])] = token
    with patch.object(openai_public, "load_tiktoken_bpe", lambda *_args, **_options: ranks):
        pattern = getattr(openai_public, name)()["pat_str"]
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def encoding(question: Splitting) -> str | None:
    """Return the vocabulary of a question, if it is one that others have too."""
    unit = units.resolve(question.unit)
    known = isinstance(unit, Tokenizer) and unit.name in _ENCODINGS
    return units.describe(unit) if known else None


def _counter(question: Splitting) -> Callable[[str], int] | None:
    """Return the function from a text to its size, for libraries that take one."""
    if question.unit == "chars":
        return len
    name = encoding(question)
    if name is None:
        return None
    encode = reference(name).encode_ordinary
    return lambda text: len(encode(text))


def _recursive(question: Splitting, *, overlap: bool) -> bool:
    """Return whether the question is the plain recursive one, with an overlap only if allowed."""
    plain = question == type(question)(question.size, question.overlap, question.unit)  # type: ignore[call-arg]
    return question.strategy == "recursive" and plain and (overlap or not question.overlap)


def _itself(answer: Any) -> Any:
    return answer


def _chonkie(question: Splitting) -> Peer | None:
    chonkie = import_module("chonkie")
    name = encoding(question)
    if name is None and question.unit != "chars":
        return None
    tokenizer = "character" if name is None else reference(name)
    size, overlap = question.size, question.overlap
    if question.strategy == "window":
        chunker = chonkie.TokenChunker(tokenizer, chunk_size=size, chunk_overlap=overlap)
    elif question.strategy == "sentence":
        chunker = chonkie.SentenceChunker(tokenizer, chunk_size=size, chunk_overlap=overlap)
    elif _recursive(question, overlap=False):
        chunker = chonkie.RecursiveChunker(tokenizer, chunk_size=size)
    else:
        return None
    return Peer(chunker.chunk, lambda chunks: [(c.start_index, c.end_index) for c in chunks])


def _langchain(question: Splitting) -> Peer | None:
    langchain = import_module("langchain_text_splitters")
    size, overlap = question.size, question.overlap
    if _recursive(question, overlap=True) and (count := _counter(question)):
        splitter = langchain.RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=overlap, length_function=count
        )
        return Peer(splitter.split_text, _itself)
    if question.strategy == "window" and (name := encoding(question)):
        tokens = reference(name)
        tokenizer = langchain.Tokenizer(overlap, size, tokens.decode, tokens.encode_ordinary)
        by_tokens = langchain.split_text_on_tokens
        return Peer(lambda text: by_tokens(text=text, tokenizer=tokenizer), _itself)
    return None


def _llama_index(question: Splitting) -> Peer | None:
    splitters = import_module("llama_index.core.node_parser")
    name = encoding(question)
    if question.strategy != "sentence" or (name is None and question.unit != "chars"):
        return None
    tokenizer = list if name is None else reference(name).encode_ordinary
    splitter = splitters.SentenceSplitter(
        chunk_size=question.size, chunk_overlap=question.overlap, tokenizer=tokenizer
    )
    return Peer(splitter.split_text, _itself)


def _semantic_text_splitter(question: Splitting) -> Peer | None:
    make = import_module("semantic_text_splitter").TextSplitter
    if not _recursive(question, overlap=True):
        return None
    size, overlap, name = question.size, question.overlap, encoding(question)
    if question.unit == "chars":
        splitter = make(size, overlap=overlap)
    elif name in _MODELS:
        splitter = make.from_tiktoken_model(_MODELS[name], size, overlap=overlap)
    elif count := _counter(question):
        splitter = make.from_callback(count, size, overlap=overlap)
    else:
        return None
    return Peer(splitter.chunk_indices, lambda found: [(at, at + len(text)) for at, text in found])


def _semchunk(question: Splitting) -> Peer | None:
    semchunk = import_module("semchunk")
    if not _recursive(question, overlap=True) or not (count := _counter(question)):
        return None
    chunker = semchunk.chunkerify(count, question.size, memoize=False)
    overlap = question.overlap or None
    return Peer(lambda text: chunker(text, offsets=True, overlap=overlap), lambda answer: answer[1])


def _tors(question: Splitting) -> Peer | None:
    tors = import_module("tors")
    size, overlap = question.size, question.overlap
    if question.unit != "chars":
        return None
    if question.strategy == "window":
        return Peer(lambda text: tors.chunk_text(text, size, overlap=overlap), _itself)
    if _recursive(question, overlap=False):
        return Peer(lambda text: tors.chunk_hierarchical(text, size), _itself)
    if question.strategy == "sentence":
        return Peer(
            lambda text: tors.chunk_text(text, size, overlap=overlap, boundary="sentence"), _itself
        )
    return None


def _listed(libraries: Iterable[Library]) -> dict[str, Library]:
    return {library.package: library for library in libraries}


LIBRARIES = _listed(
    [
        Library("chonkie", "chonkie", _chonkie),
        Library("langchain-text-splitters", "langchain_text_splitters", _langchain),
        Library("llama-index-core", "llama_index.core", _llama_index),
        Library("semantic-text-splitter", "semantic_text_splitter", _semantic_text_splitter),
        Library("semchunk", "semchunk", _semchunk),
        Library("tors", "tors", _tors),
    ]
)
"""The libraries that are known, by the name of their package."""
