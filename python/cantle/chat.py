"""`Chat`: a language model as a function from a prompt to its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cantle import _core
from cantle.endpoint import Endpoint, EndpointError, endpoint_from_text
from cantle.parallel import Stop

Model: TypeAlias = Callable[[str], str]
"""What returns a language model's answer to a prompt."""

_PATH = "/chat/completions"
_PREFIX = "openai:"


@dataclass(frozen=True)
class Chat:
    """A language model behind an OpenAI-compatible server, by its route `/chat/completions`.

    Args:
        endpoint: The server and its model.
        temperature: How far answers may vary; None leaves it to the server, as some models want.

    Example:
        >>> from cantle import Chat, Endpoint
        >>> Chat(Endpoint("llama3.2", url="http://localhost:11434/v1")).fingerprint
        'chat:llama3.2:0'
    """

    endpoint: Endpoint
    temperature: float | None = 0

    def __post_init__(self) -> None:
        if not isinstance(self.endpoint, Endpoint):
            raise TypeError(f"endpoint ({self.endpoint!r}) must be an Endpoint")
        value = self.temperature
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise TypeError(f"temperature ({value!r}) must be a number or None")
        if value is not None and not 0 <= value <= 2:
            raise _core.SettingError(f"temperature ({value}) must be from 0 to 2")

    @property
    def fingerprint(self) -> str:
        """What tells it from other models; not where it runs."""
        return f"chat:{self.endpoint.model}:{'' if self.temperature is None else self.temperature}"

    def __call__(self, prompt: str, *, tokens: int = 0, stop: Stop | None = None) -> str:
        """Return the answer to a prompt; empty where the model gave none.

        Args:
            prompt: What is asked.
            tokens: How many tokens it has, for the endpoint's `tokens_per_minute`.
            stop: No try is begun once it was asked.

        Raises:
            EndpointError: The request failed, or its answer holds no message.
            ImportError: urllib3 is not installed.
        """
        body: dict[str, object] = {"messages": [{"role": "user", "content": prompt}]}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        answer = self.endpoint.post(_PATH, body, tokens=tokens, stop=stop)
        try:
            content = answer["choices"][0]["message"].get("content")
        except (KeyError, IndexError, TypeError, AttributeError):
            url = self.endpoint.url + _PATH
            raise EndpointError(
                "an answer without a message", model=self.endpoint.model, url=url, status=200
            ) from None
        return content if isinstance(content, str) else ""


def resolve_model(model: Model | Endpoint | str) -> Model:
    """Return the model that `openai:MODEL`, `openai:MODEL@URL` or an endpoint stands for.

    One that can be called is returned as it is.

    Raises:
        SettingError: A string names no model.
        TypeError: It is none of these.
    """
    if isinstance(model, str):
        if not model.startswith(_PREFIX):
            raise _core.SettingError(
                f"model ({model!r}) must be 'openai:MODEL', 'openai:MODEL@URL', an Endpoint or a "
                "callable"
            )
        return Chat(endpoint_from_text(model.removeprefix(_PREFIX)))
    if isinstance(model, Endpoint):
        return Chat(model)
    if not callable(model):
        raise TypeError(f"model ({model!r}) must be a string, an Endpoint or a callable")
    return model
