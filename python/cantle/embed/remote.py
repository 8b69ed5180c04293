"""`Remote`: vectors from an OpenAI-compatible server."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import _core, units
from cantle.endpoint import Endpoint, EndpointError, endpoint_from_text
from cantle.parallel import Stop, in_order
from cantle.units import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PATH = "/embeddings"
_MODELS = {
    "text-embedding-3-small": 8192,
    "text-embedding-3-large": 8192,
    "text-embedding-ada-002": 8192,
}
"""Most tokens of a text, as OpenAI's reference states."""
_OTHERWISE = 512


@dataclass(frozen=True)
class Remote:
    """Vectors from the model behind an OpenAI-compatible server, by its route `/embeddings`.

    Texts go out in requests of at most `texts_per_request` texts and `tokens_per_request` tokens,
    of which the endpoint makes some at a time; the first one that fails ends the call. A text that
    is too long for the model is an error, for servers may cut it off in silence; so is an empty
    one, which they refuse. Vectors are put in order by their `index`, as numbers or as base64.

    Args:
        endpoint: The server and its model; or `"MODEL"`, at OpenAI, or `"MODEL@URL"`.
        dimensions: How many numbers the server is asked for, where the model can shorten vectors.
        unit: What tokens are counted in: best the model's own tokenizer.
        max_tokens: Most tokens of a text, special ones included. Default: 8192 for OpenAI's models;
            512 for others.
        texts_per_request: Most texts of a request.
        tokens_per_request: Most tokens of a request; OpenAI takes 300,000.

    Example:
        >>> from cantle.embed import Remote
        >>> Remote("text-embedding-3-small", dimensions=256).fingerprint
        'endpoint:text-embedding-3-small:256'
    """

    endpoint: Endpoint | str
    _: KW_ONLY
    dimensions: int | None = None
    unit: Unit = "cl100k_base"
    max_tokens: int | None = None
    texts_per_request: int = 64
    tokens_per_request: int = 250_000

    def __post_init__(self) -> None:
        if isinstance(self.endpoint, str):
            object.__setattr__(self, "endpoint", endpoint_from_text(self.endpoint))
        if not isinstance(self.endpoint, Endpoint):
            raise TypeError(f"endpoint ({self.endpoint!r}) must be an Endpoint or a string")
        for name in ("dimensions", "max_tokens", "texts_per_request", "tokens_per_request"):
            value = getattr(self, name)
            if value is None and name in ("dimensions", "max_tokens"):
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} ({value!r}) must be a whole number")
            if value < 1:
                raise _core.SettingError(f"{name} ({value}) must be at least 1")
        object.__setattr__(self, "unit", units.resolve(self.unit))

    @property
    def _server(self) -> Endpoint:
        assert isinstance(self.endpoint, Endpoint)
        return self.endpoint

    @property
    def fingerprint(self) -> str:
        """What tells it from other embedders: model and dimensions; not where the model runs."""
        return f"endpoint:{self._server.model}:{self.dimensions or ''}"

    @property
    def token_limit(self) -> tuple[int, Unit]:
        """The most tokens of a text, the model's special ones included, and what counts them."""
        return min(self._limits().values()), self.unit

    def _limits(self) -> dict[str, int]:
        """Return what bounds the tokens of a text, by the argument that says so."""
        limits = {
            "max_tokens": self.max_tokens or _MODELS.get(self._server.model, _OTHERWISE),
            "tokens_per_request": self.tokens_per_request,
        }
        if (pace := self._server.tokens_per_minute) is not None:
            limits["tokens_per_minute"] = int(pace)
        return limits

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        """Return the vectors of texts; float32 [texts, d].

        Raises:
            EndpointError: A request failed, or its answer holds no vectors for its texts.
            SettingError: A text is empty, or longer than the model takes; the message names it.
            ImportError: urllib3 is not installed.
        """
        if not texts:
            self._server.check()
            return np.empty((0, 0), np.float32)
        batches = self._batches(texts)
        parts = list(in_order(self._embedded, batches, self._server.concurrency))
        lengths = sorted({part.shape[1] for part in parts})
        if len(lengths) > 1:
            raise self._wrong(f"vectors of {lengths[0]} and of {lengths[-1]} numbers")
        return np.concatenate(parts)

    def _batches(self, texts: Sequence[str]) -> list[tuple[list[str], int]]:
        """Return the texts of each request, and how many tokens they are."""
        unit = units.seen_by_model(self.unit)
        sizes = units.sizes(unit, texts).tolist()
        limits = self._limits()
        name = min(limits, key=limits.__getitem__)
        most = min(most for limit, most in limits.items() if limit != "max_tokens")
        batches: list[tuple[list[str], int]] = []
        part: list[str] = []
        total = 0
        for row, (text, size) in enumerate(zip(texts, sizes, strict=True)):
            if not text:
                raise _core.SettingError(f"texts[{row}] is empty: an endpoint embeds no such text")
            if size > limits[name]:
                raise _core.SettingError(
                    f"texts[{row}] ({text[:40]!r}...) has {size} tokens in "
                    f"{units.describe(unit)}, over {name} ({limits[name]}) of the model "
                    f"{self._server.model!r}"
                )
            if part and (len(part) == self.texts_per_request or total + size > most):
                batches.append((part, total))
                part, total = [], 0
            part.append(text)
            total += size
        return [*batches, (part, total)]

    def _embedded(self, batch: tuple[list[str], int], stop: Stop) -> NDArray[np.float32]:
        texts, tokens = batch
        body: dict[str, Any] = {"input": texts}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        answer = self._server.post(_PATH, body, tokens=tokens, stop=stop)
        rows = answer.get("data")
        if not isinstance(rows, list):
            raise self._wrong("an answer without data")
        found: list[NDArray[np.float32] | None] = [None] * len(texts)
        for number, row in enumerate(rows):
            index = row.get("index", number) if isinstance(row, dict) else None
            if not isinstance(index, int) or not 0 <= index < len(texts):
                raise self._wrong(f"a vector with the index {index!r} for {len(texts)} texts")
            if found[index] is not None:
                raise self._wrong(f"two vectors with the index {index}")
            found[index] = self._vector(row.get("embedding"), index)
        vectors = [vector for vector in found if vector is not None]
        if len(vectors) != len(texts):
            raise self._wrong(f"{len(vectors)} vectors for {len(texts)} texts")
        lengths = sorted({len(vector) for vector in vectors})
        if len(lengths) > 1:
            raise self._wrong(f"vectors of {lengths[0]} and of {lengths[-1]} numbers")
        return np.stack(vectors)

    def _vector(self, given: object, index: int) -> NDArray[np.float32]:
        try:
            if isinstance(given, str):
                vector = np.frombuffer(base64.b64decode(given, validate=True), "<f4")
            else:
                with np.errstate(over="ignore"):
                    vector = np.array(given, np.float32)
        except (binascii.Error, ValueError, TypeError, OverflowError):
            raise self._wrong(f"no numbers as the vector with the index {index}") from None
        if vector.ndim != 1 or not len(vector):
            raise self._wrong(f"no numbers as the vector with the index {index}")
        if self.dimensions is not None and len(vector) != self.dimensions:
            raise self._wrong(f"vectors of {len(vector)} numbers, not of {self.dimensions}")
        if not np.isfinite(vector).all():
            raise self._wrong(f"NaN or an infinity in the vector with the index {index}")
        return vector.astype(np.float32)

    def _wrong(self, words: str) -> EndpointError:
        endpoint = self._server
        return EndpointError(words, model=endpoint.model, url=endpoint.url + _PATH, status=200)
