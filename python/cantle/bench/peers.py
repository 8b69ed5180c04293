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
Answer: TypeAlias = "list[str] | Spans | list[tuple[int, int, str]]"
"""Where the chunks lie in the text, in characters, with their texts where a library tells both; or
their texts alone."""

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
    counter: str | None = None
    """What counts its tokens, where that is not the usual one."""

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.package if self.counter is None else f"{self.package} ({self.counter})"

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


def _structural(question: Splitting) -> bool:
    """Return whether the question is the plain structural one of Markdown."""
    plain = question == type(question)(question.size, question.overlap, question.unit)  # type: ignore[call-arg]
    return question.strategy == "structural" and plain and not question.overlap


# Where Markdown is cut by those that take separators in its place.
_MARKDOWN = ["\n# ", "\n## ", "\n### ", "\n#### ", "\n##### ", "\n###### "]


def _itself(answer: Any) -> Any:
    return answer


def _indexed(chunks: Any) -> list[tuple[int, int, str]]:
    return [(c.start_index, c.end_index, c.text) for c in chunks]


def _chonkie(question: Splitting) -> Peer | None:
    name = encoding(question)
    if name is None and question.unit != "chars":
        return None
    return chonkie_with("character" if name is None else reference(name), question)


def chonkie_with(tokenizer: Any, question: Splitting) -> Peer | None:
    """Return chonkie with a tokenizer of its kinds for a question."""
    chonkie = import_module("chonkie")
    size, overlap = question.size, question.overlap
    if question.strategy == "window":
        chunker = chonkie.TokenChunker(tokenizer, chunk_size=size, chunk_overlap=overlap)
    elif question.strategy == "sentence":
        chunker = chonkie.SentenceChunker(tokenizer, chunk_size=size, chunk_overlap=overlap)
    elif _recursive(question, overlap=False):
        chunker = chonkie.RecursiveChunker(tokenizer, chunk_size=size)
    elif _structural(question):
        level, rules = chonkie.RecursiveLevel, chonkie.RecursiveRules
        headings = [level(delimiters=[mark], include_delim="next") for mark in _MARKDOWN]
        levels = [*headings, *rules().levels]
        chunker = chonkie.RecursiveChunker(tokenizer, chunk_size=size, rules=rules(levels))
    else:
        return None
    return Peer(chunker.chunk, _indexed)


def _blazechunk(question: Splitting) -> Peer | None:
    blazechunk = import_module("blazechunk")
    size, overlap = question.size, question.overlap
    if question.unit != "chars":
        return None
    if question.strategy == "window":
        return Peer(blazechunk.TokenChunker(chunk_size=size, chunk_overlap=overlap).chunk, _indexed)
    if question.strategy == "sentence":
        chunker = blazechunk.SentenceChunker(chunk_size=size, chunk_overlap=overlap)
        return Peer(chunker.chunk, _indexed)
    if _recursive(question, overlap=False):
        return Peer(blazechunk.RecursiveChunker(chunk_size=size).chunk, _indexed)
    return None


def _chunkr(question: Splitting) -> Peer | None:
    chunkr = import_module("chunkr")
    size, overlap, name = question.size, question.overlap, encoding(question)
    if question.strategy == "window" and name is not None:
        chunker = chunkr.TokenChunker(size, overlap, name)
    elif question.unit != "chars":
        return None
    elif question.strategy == "window":
        chunker = chunkr.CharacterChunker(size, overlap)
    elif _recursive(question, overlap=False):
        chunker = chunkr.RecursiveChunker(size, 0)
    elif _structural(question):
        chunker = chunkr.MarkdownChunker(size, 0, include_header_in_content=False)
    else:
        return None
    return Peer(chunker.chunk, lambda found: [document.content for document in found])


def _haystack(question: Splitting) -> Peer | None:
    splitters = import_module("haystack.components.preprocessors")
    document = import_module("haystack").Document
    size, overlap, name = question.size, question.overlap, encoding(question)
    if question.strategy == "window" and name is not None:
        splitter = splitters.DocumentSplitter("token", size, overlap, tokenizer_encoding=name)
        splitter._tiktoken_tokenizer = reference(name)  # It would be downloaded.
    elif _recursive(question, overlap=True) and (name is not None or question.unit == "chars"):
        # Its own separators, but the sentences, which need a model that is downloaded.
        splitter = splitters.RecursiveDocumentSplitter(
            split_length=size,
            split_overlap=overlap,
            split_unit="char" if name is None else "token",
            separators=["\n\n", "\n", " "],
        )
        if name is not None:
            splitter.tiktoken_tokenizer, splitter._is_warmed_up = reference(name), True
    else:
        return None

    def read(answer: Any) -> Answer:
        starts = ((d.meta["split_idx_start"], d.content) for d in answer["documents"])
        return [(at, at + len(text), text) for at, text in starts]

    return Peer(lambda text: splitter.run([document(content=text)]), read)


def _langchain(question: Splitting) -> Peer | None:
    langchain = import_module("langchain_text_splitters")
    size, overlap = question.size, question.overlap
    if _recursive(question, overlap=True) and (count := _counter(question)):
        splitter = langchain.RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=overlap, length_function=count
        )
        return Peer(splitter.split_text, _itself)
    if _structural(question) and (count := _counter(question)):
        splitter = langchain.MarkdownTextSplitter(
            chunk_size=size, chunk_overlap=0, length_function=count
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
    library = import_module("semantic_text_splitter")
    if _structural(question):
        make = library.MarkdownSplitter
    elif _recursive(question, overlap=True):
        make = library.TextSplitter
    else:
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
    return Peer(splitter.chunk_indices, _placed)


def _placed(found: list[tuple[int, str]]) -> Answer:
    return [(at, at + len(text), text) for at, text in found]


def _rustchunker(question: Splitting) -> Peer | None:
    chunk = import_module("rustchunker").chunk
    size, overlap = question.size, question.overlap
    kinds = {"window": "fixed", "sentence": "sentence"}
    if question.unit != "words" or question.strategy not in kinds:
        return None
    kind = kinds[question.strategy]
    return Peer(
        lambda text: chunk(text, size, overlap, kind),
        lambda chunks: [(c.start, c.end, c.text) for c in chunks],
    )


def _semchunk(question: Splitting) -> Peer | None:
    count = _counter(question)
    return semchunk_with(count, question) if count else None


def semchunk_with(count: Callable[[str], int], question: Splitting) -> Peer | None:
    """Return semchunk with a function that counts for a question."""
    semchunk = import_module("semchunk")
    if not _recursive(question, overlap=True):
        return None
    chunker = semchunk.chunkerify(count, question.size, memoize=False)
    overlap = question.overlap or None
    return Peer(
        lambda text: chunker(text, offsets=True, overlap=overlap),
        lambda answer: [(*span, text) for text, span in zip(*answer, strict=True)],
    )


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
        Library("blazechunk", "blazechunk", _blazechunk),
        Library("chonkie", "chonkie", _chonkie),
        Library("chunkr-rs", "chunkr", _chunkr),
        Library("haystack-ai", "haystack", _haystack),
        Library("langchain-text-splitters", "langchain_text_splitters", _langchain),
        Library("llama-index-core", "llama_index.core", _llama_index),
        Library("rustchunker", "rustchunker", _rustchunker),
        Library("semantic-text-splitter", "semantic_text_splitter", _semantic_text_splitter),
        Library("semchunk", "semchunk", _semchunk),
        Library("tors", "tors", _tors),
    ]
)
"""The libraries that are known, by the name of their package."""
