"""Types of the Rust module. Docstrings live in the Python classes around it."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "EMPTY",
    "FORMATS",
    "KINDS",
    "OVERSIZE",
    "PART",
    "SHORTENED",
    "TEMPLATE",
    "ArrowChunks",
    "ArrowReader",
    "ArrowTable",
    "ArrowTexts",
    "Blocks",
    "InternalError",
    "Origin",
    "Pieces",
    "SettingError",
    "Splitter",
    "TextError",
    "TokenRuler",
    "Tokenizer",
    "TokenizerError",
    "Words",
    "__version__",
    "best_rows",
    "carried",
    "cuts",
    "keyword_vectors",
    "markdown_events",
    "mean_vectors",
    "note",
    "pattern_name",
    "read_html",
    "render",
    "sentences",
    "span_offsets",
    "terms",
    "unit_rows",
    "vector_scores",
    "visible",
    "vocabularies",
]

__version__: str
EMPTY: int
FORMATS: list[str]
KINDS: list[str]
OVERSIZE: int
PART: int
SHORTENED: int
TEMPLATE: str

_Numbers: TypeAlias = Sequence[int] | NDArray[Any]
_Meaning: TypeAlias = tuple[
    tuple[str, float],
    bool,
    tuple[object, str] | None,
    object,
    object,
    object,
    object,
    str | None,
]
_Vectors: TypeAlias = tuple[NDArray[np.float32], _Numbers, Pieces]

class SettingError(ValueError): ...
class TextError(ValueError): ...
class TokenizerError(ValueError): ...
class InternalError(RuntimeError): ...

@final
class Pieces: ...

@final
class Splitter:
    def __new__(
        cls,
        strategy: str,
        size: object,
        overlap: object,
        unit: object,
        trim: bool,
        min_size: object,
        separators: Sequence[tuple[str, bool, str | None]] | None,
        structural: tuple[object, object, str, str | None] | None = None,
        rows: tuple[object, bool, str, str | None] | None = None,
        clauses: tuple[bool, Sequence[str], str | None, str | None] | None = None,
        meaning: _Meaning | None = None,
        hierarchy: Sequence[tuple[object, tuple[float, object] | None]] | None = None,
    ) -> Splitter: ...
    def split(
        self,
        texts: Sequence[str | bytes] | ArrowTexts,
        threads: object,
        skip: bool,
        forms: Sequence[object] | None = None,
        titles: Sequence[str] | None = None,
        routes: Sequence[int] | None = None,
        vectors: _Vectors | None = None,
    ) -> dict[str, Any]: ...
    def split_within(
        self,
        texts: Sequence[str | bytes] | ArrowTexts,
        doc: Sequence[int] | NDArray[Any],
        start: Sequence[int] | NDArray[Any],
        end: Sequence[int] | NDArray[Any],
        char_start: Sequence[int] | NDArray[Any],
        threads: object,
        routes: Sequence[int] | None = None,
        vectors: _Vectors | None = None,
        titles: Sequence[str] | None = None,
    ) -> dict[str, Any]: ...
    def asked(
        self,
        texts: Sequence[str | bytes] | ArrowTexts,
        threads: object,
        skip: bool,
        forms: Sequence[object] | None = None,
        spans: tuple[_Numbers, _Numbers, _Numbers, _Numbers] | None = None,
        titles: Sequence[str] | None = None,
    ) -> tuple[dict[str, NDArray[np.int64]], Pieces]: ...
    def routed(self, routes: Sequence[Splitter]) -> Splitter: ...

@final
class Blocks:
    def __new__(
        cls,
        kind: Sequence[int] | NDArray[Any],
        level: Sequence[int] | NDArray[Any],
        depth: Sequence[int] | NDArray[Any],
        shared: Sequence[int] | NDArray[Any],
        lists: Sequence[int] | NDArray[Any],
        start: Sequence[int] | NDArray[Any],
        end: Sequence[int] | NDArray[Any],
        head: Sequence[int] | NDArray[Any],
        titles: Sequence[str],
        scopes: Sequence[int] | NDArray[Any] | None = None,
    ) -> Blocks: ...
    @staticmethod
    def read(text: str | bytes, name: str) -> Blocks: ...
    def columns(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Blocks], tuple[Any, ...]]: ...

@final
class Origin:
    def __new__(cls, text: Sequence[int], html: Sequence[int], copied: Sequence[int]) -> Origin: ...
    def locate(
        self, start: Sequence[int] | NDArray[Any], end: Sequence[int] | NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Origin], tuple[list[int], list[int], list[int]]]: ...

@final
class Words:
    def __new__(cls, tokenizer: Tokenizer, json: str, most: int) -> Words: ...
    def encode(
        self, texts: Sequence[str | bytes]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...

@final
class Tokenizer:
    @staticmethod
    def from_name(name: str) -> Tokenizer: ...
    @staticmethod
    def from_json(json: str, count_special: bool) -> Tokenizer: ...
    @staticmethod
    def from_ranks(ranks: bytes, pattern: str) -> Tokenizer: ...
    def count(self, text: str | bytes) -> int: ...
    def count_all(
        self, texts: Sequence[str | bytes] | ArrowTexts, threads: object
    ) -> tuple[NDArray[np.int64], tuple[int, Exception] | None]: ...
    def truncate(self, text: str | bytes, n: object) -> tuple[int, int]: ...
    def measure(self, text: str | bytes, bytes: bool, threads: object) -> TokenRuler: ...
    def encode(self, text: str | bytes) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
    def decode(self, ids: Sequence[int] | NDArray[Any]) -> bytes: ...
    @property
    def engine(self) -> str: ...
    @property
    def warning(self) -> str | None: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def specials(self) -> int: ...

@final
class TokenRuler:
    def size(self, a: object, b: object) -> int: ...
    def sizes(
        self, a: Sequence[int] | NDArray[Any], b: Sequence[int] | NDArray[Any]
    ) -> NDArray[np.int64]: ...
    def reach(self, a: object, budget: object) -> int: ...
    def nth(self, n: object) -> int: ...
    @property
    def total(self) -> int: ...

@final
class ArrowTexts:
    def __new__(cls, data: bytes, ends: bytes) -> ArrowTexts: ...
    def __len__(self) -> int: ...
    def __getitem__(self, i: int, /) -> str: ...
    def __iter__(self) -> Iterator[str]: ...
    def slice(self, doc: int, start: int, end: int) -> str: ...
    def slices(
        self,
        doc: Sequence[int] | NDArray[Any],
        start: Sequence[int] | NDArray[Any],
        end: Sequence[int] | NDArray[Any],
    ) -> list[str]: ...
    def twice(self) -> tuple[int, int] | None: ...
    def __reduce__(self) -> tuple[type[ArrowTexts], tuple[bytes, bytes]]: ...

@final
class ArrowTable:
    def __new__(cls, data: bytes) -> ArrowTable: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def row(self, doc: int) -> dict[str, Any]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __reduce__(self) -> tuple[type[ArrowTable], tuple[bytes]]: ...

@final
class ArrowReader:
    def __new__(
        cls, source: object, name: str, text: str | None, id: str | None, strict: bool
    ) -> ArrowReader: ...
    def read(self, most: int | None) -> tuple[ArrowTexts, ArrowTexts | None, ArrowTable | None]: ...

@final
class ArrowChunks:
    def __new__(
        cls,
        columns: dict[str, Any],
        documents: tuple[str | bytes, ...] | ArrowTexts,
        ids: tuple[str, ...] | ArrowTexts | int,
        name: str,
        texts: str | None,
        metadata: tuple[list[str], list[int]] | None,
        carried: ArrowTable | None,
        about: str,
    ) -> ArrowChunks: ...
    def schema(self) -> object: ...
    def stream(self) -> object: ...

def vocabularies() -> list[str]: ...
def note(clauses: Sequence[tuple[str, str]]) -> str: ...
def pattern_name(pattern: str) -> str | None: ...
def markdown_events(text: str | bytes) -> int: ...
def read_html(text: str | bytes) -> tuple[str, Blocks, str, Origin]: ...
def render(
    template: str, title: str, path: Sequence[str], context: str, notes: str, lost: int
) -> tuple[str, str]: ...
def carried(
    texts: Sequence[str | bytes] | ArrowTexts,
    forms: Sequence[object],
    doc: Sequence[int] | NDArray[Any],
    start: Sequence[int] | NDArray[Any],
    end: Sequence[int] | NDArray[Any],
) -> dict[str, Any]: ...
def sentences(text: str | bytes) -> dict[str, NDArray[Any]]: ...
def visible(
    text: str | bytes,
    start: Sequence[int] | NDArray[Any],
    end: Sequence[int] | NDArray[Any],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def keyword_vectors(texts: Sequence[str | bytes], topics: Sequence[str]) -> NDArray[np.float32]: ...
def mean_vectors(
    table: NDArray[np.float32], rows: NDArray[np.uint32], ends: NDArray[np.int64]
) -> NDArray[np.float32]: ...
def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]: ...
def vector_scores(
    metric: str,
    vectors: NDArray[np.float32],
    places: NDArray[np.int64],
    queries: NDArray[np.float32],
) -> NDArray[np.float64]: ...
def best_rows(
    rows: NDArray[np.int64], scores: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]: ...
def terms(
    texts: Sequence[str | bytes],
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[str]]: ...
def cuts(text: str | bytes, level: str) -> NDArray[np.int64]: ...
def span_offsets(
    text: str | bytes, number: int, offsets: Sequence[int] | NDArray[Any], to_bytes: bool
) -> NDArray[np.int64]: ...
