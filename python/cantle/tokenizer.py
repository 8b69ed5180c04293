"""`Tokenizer`: counts and encodes text, and serves as the unit of a strategy."""

from __future__ import annotations

import base64
import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cantle import _core, names
from cantle.digest import digest
from cantle.documents import Arrow, Text, arrow_strings, is_arrow
from cantle.ruler import TokenRuler

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# The sha256 that OpenAI publishes beside its `.tiktoken` files, of the ranks that are bundled.
_PUBLISHED = {
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": ("r50k_base", "gpt2"),
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": ("p50k_base", "gpt2"),
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": ("cl100k_base", "cl100k"),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": ("o200k_base", "o200k"),
}


class Encoding(NamedTuple):
    """The tokens of a text."""

    ids: NDArray[np.uint32]
    """Their ids; uint32 [tokens]."""
    ends: NDArray[np.int64]
    """The byte offset behind each, possibly inside a character; int64 [tokens]."""


class Offset(NamedTuple):
    """A place in a text, on a character boundary."""

    byte: int
    """In UTF-8 bytes from its start."""
    char: int
    """In characters."""


class Tokenizer:
    """A tokenizer whose counts a size can be given in.

    Built by `from_name`, `from_file`, `from_json`, `from_object` or `from_tiktoken`. Text is always
    ordinary text: a special string that stands in it (`<|endoftext|>`, `[CLS]`) is counted by its
    characters, and truncation or padding set inside a tokenizer file never change a count. Two
    tokenizers from the same source are equal. Pickles by its source.
    """

    __slots__ = ("_core", "_count_special", "_kind", "_pattern", "_source")

    def __init__(
        self, kind: str, source: str, count_special: bool = False, pattern: str = ""
    ) -> None:
        """Use one of the `from_` methods.

        Args:
            kind: `"name"`, `"json"` or `"ranks"`.
            source: The vocabulary's name, or the text of a `tokenizer.json` or `.tiktoken` file.
            count_special: Count the special tokens that the tokenizer adds around a text.
            pattern: The name of the pattern that goes with ranks.
        """
        self._kind = kind
        self._source = source
        self._count_special = count_special
        self._pattern = pattern
        if kind == "name":
            self._core = _core.Tokenizer.from_name(source)
        elif kind == "ranks":
            self._core = _core.Tokenizer.from_ranks(source.encode(), pattern)
        else:
            self._core = _core.Tokenizer.from_json(source, count_special)
            if (warning := self._core.warning) is not None:
                warnings.warn(warning, RuntimeWarning, stacklevel=3)

    @classmethod
    def from_name(cls, name: str) -> Tokenizer:
        """Return the tokenizer of this name. Works offline.

        Args:
            name: A bundled vocabulary (`"cl100k_base"`, `"o200k_base"`, `"o200k_harmony"`,
                `"gpt2"`, `"r50k_base"`, `"p50k_base"`, `"p50k_edit"`); a model of OpenAI's, as
                `"text-embedding-3-small"`, which means its vocabulary; or `"minilm"` or
                `"bert-base-uncased"`, with the extra `cantle[minilm]`.

        Raises:
            SettingError: No tokenizer of that name is there.
        """
        if name in names.EXTRAS:
            return cls.from_file(names.extra_file(name))
        return cls("name", names.vocabulary(name) or name)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, count_special: bool = False) -> Tokenizer:
        """Return the tokenizer of a Hugging Face `tokenizer.json`.

        Args:
            path: The file.
            count_special: Count the special tokens that the tokenizer adds around a text.

        Raises:
            OSError: The file cannot be read.
            TokenizerError: It is not a tokenizer.
        """
        return cls.from_json(Path(path).read_text(encoding="utf-8"), count_special=count_special)

    @classmethod
    def from_json(cls, json: str, *, count_special: bool = False) -> Tokenizer:
        """Return the tokenizer that the text of a `tokenizer.json` describes.

        Raises:
            TokenizerError: The text describes no tokenizer.
        """
        return cls("json", json, count_special)

    @classmethod
    def from_object(cls, tokenizer: Any, *, count_special: bool = False) -> Tokenizer:
        """Return the tokenizer that an object of another library holds.

        Args:
            tokenizer: A `tokenizers.Tokenizer`, or an object with one as `backend_tokenizer` (the
                fast tokenizers of transformers). It is read once and stays as it is.
            count_special: Count the special tokens that the tokenizer adds around a text.

        Raises:
            TypeError: The object is no such tokenizer.
        """
        inner = getattr(tokenizer, "backend_tokenizer", tokenizer)
        to_str = getattr(inner, "to_str", None)
        if not callable(to_str):
            kind = type(tokenizer).__qualname__
            raise TypeError(f"tokenizer must be a tokenizers.Tokenizer, not {kind}")
        return cls.from_json(to_str(), count_special=count_special)

    @classmethod
    def from_tiktoken(
        cls, encoding: Any | str | os.PathLike[str], pattern: str | None = None
    ) -> Tokenizer:
        """Return the tokenizer of a `tiktoken.Encoding` or of a `.tiktoken` file of ranks.

        Its special tokens are left out, for text is ordinary text: counts are those of
        `encode_ordinary`.

        Args:
            encoding: The encoding, or the path of the file.
            pattern: How texts are cut before tokens are merged: `"gpt2"`, `"cl100k"`, `"llama3"`,
                `"qwen2"` or `"o200k"`, or the regular expression as the reference spells it. An
                encoding brings its own, and so do the files that OpenAI publishes.

        Raises:
            OSError: The file cannot be read.
            SettingError: The pattern is missing, or cantle has no scanner for it.
            TokenizerError: The ranks cannot be used.
            TypeError: The object is no such encoding.
        """
        if isinstance(encoding, (str, os.PathLike)):
            ranks = Path(encoding).read_bytes()
        else:
            tokens = getattr(encoding, "_mergeable_ranks", None)
            if not isinstance(tokens, dict):
                kind = type(encoding).__qualname__
                raise TypeError(f"encoding must be a tiktoken.Encoding or a path, not {kind}")
            if pattern is not None:
                raise _core.SettingError("pattern is for a file; an encoding brings its own")
            pattern = str(encoding._pat_str)
            lines = sorted(tokens.items(), key=lambda item: item[1])
            ranks = b"".join(b"%s %d\n" % (base64.b64encode(t), rank) for t, rank in lines)
        from hashlib import sha256

        name, usual = _PUBLISHED.get(sha256(ranks).hexdigest(), (None, None))
        pattern = pattern or usual
        if pattern is None:
            raise _core.SettingError(
                "pattern must be given: the file of ranks is not one that OpenAI publishes"
            )
        known = _core.pattern_name(pattern)
        if name is not None and known == usual:
            return cls("name", name)
        return cls("ranks", ranks.decode("utf-8", "replace"), pattern=known or pattern)

    def count(self, text: str | bytes) -> int:
        """Return the number of tokens in `text`."""
        return self._core.count(text)

    def count_all(self, texts: Iterable[Text] | Arrow, *, threads: int = 0) -> NDArray[np.int64]:
        """Return the number of tokens in each of many texts; int64 [texts].

        Args:
            texts: `str` or UTF-8 `bytes`, or anything that hands out Arrow strings.
            threads: How many threads of this call count; 0 is one per core.

        Raises:
            TextError: A text is not UTF-8; says which and where.
        """
        if is_arrow(texts):
            given: Any = arrow_strings(texts, "texts")
        elif isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
            kind = type(texts).__qualname__
            raise TypeError(f"texts must be a sequence of texts, not {kind}; use count for one")
        else:
            given = texts if isinstance(texts, list | tuple) else tuple(texts)
        counts, failure = self._core.count_all(given, threads)
        if failure is not None:
            raise failure[1]
        return counts

    def encode(self, text: str | bytes) -> Encoding:
        """Return the token ids of `text` and where each token ends, without added specials."""
        return Encoding(*self._core.encode(text))

    def offsets(self, text: str | bytes) -> NDArray[np.int64]:
        """Return the byte offset behind each token of `text`; int64 [tokens].

        A token may end inside a character.
        """
        return self._core.encode(text)[1]

    def truncate(self, text: str | bytes, n: int) -> Offset:
        """Return where the longest beginning of `text` ends that has at most `n` tokens.

        No more of the text is read than that takes.
        """
        return Offset(*self._core.truncate(text, n))

    def measure(self, text: str | bytes, *, offsets: str = "chars", threads: int = 0) -> TokenRuler:
        """Return a ruler over `text`, for the sizes of any of its spans.

        Args:
            text: The text; the ruler keeps a copy, and a quarter of a byte for each of its bytes.
            offsets: What the ruler's offsets count: `"chars"` or `"bytes"`.
            threads: How many threads read a text of a megabyte or more; 0 is one per core.

        Raises:
            SettingError: `offsets` is something else.
        """
        if offsets not in ("chars", "bytes"):
            raise _core.SettingError(f"offsets ({offsets!r}) must be 'chars' or 'bytes'")
        return TokenRuler(self._core.measure(text, offsets == "bytes", threads))

    def decode(self, ids: Sequence[int] | NDArray[Any]) -> bytes:
        """Return the bytes that token ids stand for.

        Bytes, not text: a token may hold a part of a character.
        """
        try:
            return self._core.decode(ids)
        except OverflowError:
            i = next(i for i, token in enumerate(ids) if not 0 <= token < 2**32)
            raise _core.TokenizerError(f"ids[{i}] ({ids[i]}) is no token") from None
        except TypeError:
            raise TypeError(f"ids ({ids!r}) must be a sequence of token ids") from None

    def with_special(self) -> Tokenizer:
        """Return this tokenizer with the special tokens counted that it adds around a text."""
        if self._kind != "json" or self._count_special:
            return self
        return Tokenizer(self._kind, self._source, True)

    @property
    def engine(self) -> str:
        """Which road texts take, and why: cantle's own engine, or the crate `tokenizers`."""
        return self._core.engine

    @property
    def vocab_size(self) -> int:
        """The number of tokens, specials left out where they are no ordinary entries."""
        return self._core.vocab_size

    @property
    def name(self) -> str:
        """The vocabulary's name, or for a file or another library's object a short hash of it."""
        if self._kind == "name":
            return self._source
        short = digest(self._source.encode(), 4)
        if self._kind == "ranks":
            return f"ranks:{short}:{self._pattern}"
        return f"json:{short}" + ("+special" if self._count_special else "")

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[str, str, bool, str]]:
        return Tokenizer, (self._kind, self._source, self._count_special, self._pattern)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        # The same in every process, unlike the hash of a string.
        told = repr(self.__reduce__()[1]).encode()
        return int.from_bytes(bytes.fromhex(digest(told, 7)), "little")

    def __repr__(self) -> str:
        return f"Tokenizer({self.name!r})"
