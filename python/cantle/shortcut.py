"""`cantle.split`: the defaults for the impatient."""

from cantle.chunks import Chunks
from cantle.documents import Text
from cantle.strategies.recursive import Recursive
from cantle.units import Unit


def split(
    text: Text,
    size: int = 512,
    overlap: int = 0,
    unit: Unit = "cl100k_base",
    trim: bool = True,
) -> Chunks:
    """Return the chunks of `text`, cut by `Recursive`.

    Args:
        text: `str`, or UTF-8 `bytes`.
        size: Most units in a chunk, overlap included.
        overlap: Most units that a chunk repeats from the one before.
        unit: What sizes count.
        trim: Drop the blanks around each chunk.

    Example:
        >>> import cantle
        >>> [chunk.text for chunk in cantle.split("One two. Three four.", 2, unit="words")]
        ['One two.', 'Three four.']
    """
    return Recursive(size, overlap, unit, trim).split(text)
