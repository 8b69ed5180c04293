"""Short hashes, by which texts and settings are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b


def digest(told: bytes, size: int) -> str:
    """Return `size` bytes of the BLAKE2b hash of `told`, in hexadecimal digits."""
    return hasher(size, told).hexdigest()


def hasher(size: int, told: bytes = b"") -> blake2b:
    """Return a BLAKE2b hash of `size` bytes, begun with `told`."""
    # Loads OpenSSL, which takes an eighth of the time of all else that is imported.
    from hashlib import blake2b

    return blake2b(told, digest_size=size)


def hash_parts(parts: Iterable[bytes], size: int) -> bytes:
    """Return one hash of several strings of bytes: where each ends counts as well."""
    told = hasher(size)
    for part in parts:
        told.update(len(part).to_bytes(8, "little"))
        told.update(part)
    return told.digest()
