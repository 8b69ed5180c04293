"""Indexes in files: a payload, named arrays, settings, and a trailer that tells whether they fit.

    payload | arrays, each at a multiple of 64 | settings (JSON) | trailer

The payload stands first, so that what reads or maps it needs to know of nothing else. The trailer
has the stamp of what the index was made from, the lengths of all parts, a hash of every byte, and
one of the settings, the arrays and some pages of the payload: enough to notice a file that was cut
off, mixed up or overwritten without reading all of it.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.target import Target

_MAGIC = b"cantle index\r\n\x1a\n"
_VERSION = 1
_STAMP = 32
_HASH = 16
# Magic, version, stamp, ends of payload and settings, hash of some, hash of all; then its own hash.
_TRAILER = struct.Struct(f"<16sQ{_STAMP}sQQQ{_HASH}s{_HASH}s")
_TAIL = _TRAILER.size + _HASH
_PAGE = 4096
_PAGES = 64
_ALIGNED = 64

Take = Callable[[Any], Any]
"""Takes some bytes of a payload."""


class StaleIndex(ValueError):
    """An index file was made from something else than what is asked for, or by another version."""


class DamagedIndex(ValueError):
    """A file is no index, or not as it was written."""


@dataclass(frozen=True)
class Stored:
    """What an index file holds."""

    settings: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    payload: NDArray[np.uint8]
    """Mapped, not read."""
    file: tuple[int, int]
    """Which file it is, whatever stands in its place by now; see `which`."""


def write(
    path: str | os.PathLike[str],
    kind: str,
    stamp: bytes,
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    payload: Callable[[Take], None],
) -> None:
    """Write an index beside its place and move it there; the payload is handed over in pieces.

    What killed processes left there, which may be as large as an index, is removed.

    Raises:
        OSError: It cannot be written; nothing is left behind.
        SettingError: The stamp is longer than 32 bytes.
    """
    from cantle.target import Target, sweep

    stamp = checked_stamp(stamp)
    sweep(path)
    target = Target(os.fspath(path))
    try:
        _write(target, kind, stamp, settings, arrays, payload)
        target.commit()
    finally:
        target.discard()


def checked_stamp(stamp: bytes) -> bytes:
    """Return a stamp at its full length.

    Raises:
        TypeError: It is no bytes.
        SettingError: It is too long.
    """
    if not isinstance(stamp, bytes):
        raise TypeError(f"stamp ({stamp!r}) must be bytes")
    if len(stamp) > _STAMP:
        raise _core.SettingError(f"stamp has {len(stamp)} bytes, at most {_STAMP} are kept")
    return stamp.ljust(_STAMP, b"\0")


def _write(
    target: Target,
    kind: str,
    stamp: bytes,
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    payload: Callable[[Take], None],
) -> None:
    from hashlib import blake2b

    every, at = blake2b(digest_size=_HASH), 0

    def take(piece: Any) -> int:
        nonlocal at
        every.update(piece)
        target.stream.write(piece)
        at += len(piece)
        return len(piece)

    payload(take)
    end = at
    told: dict[str, Any] = {}
    for name, array in arrays.items():
        take(bytes(-at % _ALIGNED))
        array = np.ascontiguousarray(array)
        told[name] = {"type": array.dtype.str, "shape": array.shape, "at": at}
        take(array.tobytes())
    rest = at
    take(json.dumps({"kind": kind, "settings": dict(settings), "arrays": told}).encode())
    target.stream.flush()
    # Sampled from the file itself: where it ends is known only now.
    with open(target.place, "rb") as again:
        some = _some(again, end, at)
    trailer = _TRAILER.pack(_MAGIC, _VERSION, stamp, end, rest, at, some, every.digest())
    target.stream.write(trailer + blake2b(trailer, digest_size=_HASH).digest())


def _some(stream: Any, end: int, rest: int) -> bytes:
    """Return the hash of pages of the payload, evenly spread, and of all behind it."""
    from hashlib import blake2b

    found = blake2b(digest_size=_HASH)
    for page in np.unique(np.linspace(0, max(0, end - _PAGE), _PAGES).astype(np.int64)).tolist():
        stream.seek(page)
        found.update(stream.read(min(_PAGE, end - page)))
    stream.seek(end)
    left = rest - end
    while left > 0 and (piece := stream.read(min(left, 1 << 20))):
        found.update(piece)
        left -= len(piece)
    return found.digest()


def read(path: str | os.PathLike[str], kind: str, stamp: bytes, whole: bool = False) -> Stored:
    """Return what a file holds, checked.

    Raises:
        OSError: It cannot be read.
        StaleIndex: It has another stamp, is of another kind, or of another version.
        DamagedIndex: It is no such file, or not as it was written.
    """
    stamp, name = checked_stamp(stamp), os.fspath(path)
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size < _TAIL:
            raise DamagedIndex(f"{name}: {size} bytes are no index")
        stream.seek(size - _TAIL)
        end, rest, at, some, every = _trailer(stream.read(_TAIL), size, name, stamp)
        if _some(stream, end, at) != some or (whole and _every(stream, at) != every):
            raise DamagedIndex(f"{name}: its contents are not as they were written")
        stream.seek(rest)
        told = json.loads(stream.read(at - rest))
        if told["kind"] != kind:
            raise StaleIndex(f"{name}: an index of the kind {told['kind']!r}, not {kind!r}")
        # The file that was checked: another one may stand in its place by now.
        mapped = np.asarray(np.memmap(stream, np.uint8, "r", shape=(at,)))
        file = which(stream.fileno())
    return Stored(
        told["settings"],
        {key: _array(mapped, **entry) for key, entry in told["arrays"].items()},
        mapped[:end],
        file,
    )


def which(file: str | os.PathLike[str] | int) -> tuple[int, int]:
    """Return what tells a file from others as long as it is mapped, by its path or descriptor."""
    told = os.stat(file)
    return told.st_dev, told.st_ino


def _trailer(data: bytes, size: int, name: str, stamp: bytes) -> tuple[int, int, int, bytes, bytes]:
    from hashlib import blake2b

    magic, version, stamped, end, rest, at, some, every = _TRAILER.unpack(data[: _TRAILER.size])
    if magic != _MAGIC:
        raise DamagedIndex(f"{name}: no index, or one that was cut off")
    if version != _VERSION:
        raise StaleIndex(f"{name}: an index of version {version}, not {_VERSION}")
    own = blake2b(data[: _TRAILER.size], digest_size=_HASH).digest()
    if own != data[_TRAILER.size :] or not end <= rest <= at == size - _TAIL:
        raise DamagedIndex(f"{name}: its contents are not as they were written")
    if stamped != stamp:
        raise StaleIndex(f"{name}: an index with the stamp {stamped.hex()}, not {stamp.hex()}")
    return end, rest, at, some, every


def _every(stream: Any, at: int) -> bytes:
    from hashlib import blake2b

    found = blake2b(digest_size=_HASH)
    stream.seek(0)
    while at > 0 and (piece := stream.read(min(at, 1 << 20))):
        found.update(piece)
        at -= len(piece)
    return found.digest()


def _array(mapped: NDArray[np.uint8], type: str, shape: list[int], at: int) -> NDArray[Any]:
    kind = np.dtype(type)
    size = int(np.prod(shape)) * kind.itemsize
    return mapped[at : at + size].view(kind).reshape(shape)
