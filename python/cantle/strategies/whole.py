"""`Whole`: no cutting."""

from dataclasses import KW_ONLY, dataclass

from cantle.strategies.splitting import Splitting
from cantle.units import Unit


@dataclass(frozen=True)
class Whole(Splitting):
    """One chunk per document: the baseline that cutting is compared with.

    Args:
        size: Cuts nothing; a larger document is flagged oversize.
        overlap: Without meaning here; checked as everywhere.
        unit: What sizes count: `"bytes"`, `"chars"`, `"words"`, a bundled vocabulary's name, the
            path of a `tokenizer.json`, a tokenizer or a callable.
        trim: Drop the blanks around the text.
        name: The name in the chunks' ids. Default: `whole`.
    """

    strategy = "whole"

    size: int = 512
    overlap: int = 0
    unit: Unit = "cl100k_base"
    trim: bool = True
    _: KW_ONLY
    name: str | None = None

    def __post_init__(self) -> None:
        self._build()
