"""Short hashes, by which texts and settings are told apart."""

from __future__ import annotations


def digest(told: bytes, size: int) -> str:
    """Return `size` bytes of the BLAKE2b hash of `told`, in hexadecimal digits."""
    # Loads OpenSSL, which takes an eighth of the time of all else that is imported.
    from hashlib import blake2b

    return blake2b(told, digest_size=size).hexdigest()
