"""What embedders of word vectors share: a file of tables, and which rows of one a text has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core
from cantle.tokenizer import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TYPES = {
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
}


def table_names(path: Path) -> set[str]:
    """Return the names of the tables of a safetensors file; none if it is no such file."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            # What is no such file may say anything.
            if length > path.stat().st_size:
                return set()
            return set(json.loads(file.read(length)))
    except (OSError, ValueError, TypeError, RecursionError):
        return set()


def read_array(path: Path, name: str) -> NDArray[Any]:
    """Return one array of a safetensors file, in the type that it has there.

    Raises:
        OSError: The file cannot be read.
        SettingError: It is no such file, or holds no such array.
    """
    data = path.read_bytes()
    try:
        length = int.from_bytes(data[:8], "little")
        entry = json.loads(data[8 : 8 + length])[name]
        kind, shape = _TYPES[entry["dtype"]], entry["shape"]
        start, end = entry["data_offsets"]
        own = data[8 + length + start : 8 + length + end]
        array: NDArray[Any] = np.frombuffer(own, np.dtype(kind).newbyteorder("<")).reshape(shape)
        return array
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _core.SettingError(f"{path}: no table {name!r} can be read ({error})") from None


def read_table(path: Path, name: str) -> NDArray[np.float32]:
    """Return one matrix of a safetensors file.

    Raises:
        OSError: The file cannot be read.
        SettingError: It is no such file, or holds no such matrix.
    """
    found = read_array(path, name)
    if found.ndim != 2:
        raise _core.SettingError(
            f"{path}: no table {name!r} can be read (its shape is {found.shape})"
        )
    return found.astype(np.float32)


def encoded(
    tokenizer: Tokenizer, texts: Sequence[str], unknown: int | None = None
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the tokens of all texts, one text behind the other, and where each text's end.

    Args:
        tokenizer: What makes tokens of a text.
        texts: The texts.
        unknown: A token that is left out.
    """
    found = [tokenizer._core.encode(text)[0] for text in texts]
    if unknown is not None:
        found = [ids[ids != unknown] for ids in found]
    ends = np.cumsum([len(ids) for ids in found], dtype=np.int64)
    return np.concatenate([np.empty(0, np.uint32), *found]), ends
