"""Texts with a form: chat and ticket rows as JSON lines, and contracts with clauses and references.

The words come from a model (`markov.py`); the form, lengths and names from a seed.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from itertools import count

VERSION = 1
"""Raise it with any change that alters the bytes."""

NAMES, ROOMS, QUEUES, COMPANIES, FORMS = (
    words.split()
    for words in (
        "Ana Ben Chloé Dmitri Elif Farid Grace Hiro Ines Jürgen Kim Lea Mateo Noor Olga Priya",
        "general support-eu support-us billing deploys incidents random onboarding",
        "network storage accounts billing desktop database mail printing",
        "Albion Borealis Cormorant Delphi Equinox Farrow Granite Halcyon Ironbridge",
        "Limited GmbH S.A. LLP Inc. B.V.",
    )
)
EMOJI = ["👍", "🙏", "😀", "🎉", "🤔", "❤️", "👀", "🚀", "😅", "✅"]
TITLES = [
    title.strip()
    for line in (
        "Definitions and interpretation, Term, Services, Charges and payment",
        "Intellectual property, Confidentiality, Data protection, Warranties",
        "Limitation of liability, Indemnity, Insurance, Termination",
        "Consequences of termination, Force majeure, Assignment, Notices",
        "Dispute resolution, Audit, Change control, Personnel, Subcontracting",
        "Anti-bribery, General, Governing law",
    )
    for title in line.split(",")
]
OPENINGS = [
    "The Supplier shall",
    "The Customer shall not",
    "Each party shall ensure that",
    "Subject to {0},",
    "Notwithstanding {0},",
    "Without prejudice to {0} and {1},",
    "Except as set out in {0},",
    "Save as provided in {0} and in {1},",
    "If the conditions in {0} are met,",
    "Nothing in this Agreement limits",
    "For the purposes of {0},",
]


class Dice:
    """Whole numbers from `random.random`, whose stream Python promises to keep."""

    def __init__(self, *seed: int) -> None:
        self._random = random.Random("/".join(map(str, (VERSION, *seed)))).random

    def below(self, most: int) -> int:
        return int(self._random() * most)

    def pick(self, options: list[str]) -> str:
        return options[self.below(len(options))]

    def length(self, middle: int) -> int:
        """Return a length around `middle`, with the long tail that written lengths have."""
        # Products of four evenly spread factors; no function whose last bit a machine chooses.
        factor = 1
        for _ in range(4):
            factor *= 40 + self.below(150)
        return max(1, middle * factor // 100**4)


# A word as it stands in a sentence; markup, borders of tables and pieces of code are left out.
_WORD = re.compile(r"(?<!\S)[(“\"]?\w[\w'’-]*[.,;:!?)”\"]{0,2}(?!\S)")


class Words:
    """Runs of words, one after another, from the blocks of a model."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._words: list[str] = []
        self._at = 0

    def take(self, number: int) -> str:
        while self._at + number > len(self._words):
            block = next(self._blocks).decode()
            self._words = [*self._words[self._at :], *_WORD.findall(block)]
            self._at = 0
        self._at += number
        return " ".join(self._words[self._at - number : self._at])


def _day(dice: Dice) -> str:
    return f"20{19 + dice.below(8)}-{1 + dice.below(12):02}-{1 + dice.below(28):02}"


def _when(dice: Dice) -> str:
    return f"{_day(dice)}T{dice.below(24):02}:{dice.below(60):02}:{dice.below(60):02}Z"


def _row(row: dict[str, object]) -> bytes:
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()


def chat(words: Words, dice: Dice, number: int) -> bytes:
    """One message: most are a line, a few several."""
    text = words.take(dice.length(9))
    form = dice.below(20)
    if form < 3:
        text += " " + dice.pick(EMOJI) * (1 + dice.below(3))
    elif form == 3:
        text = f"@{dice.pick(NAMES)} {text}?"
    elif form == 4:
        text += f"\n\nhttps://chat.example/{dice.pick(ROOMS)}/{dice.below(10**9)}"
    elif form == 5:
        text = f"> {words.take(dice.length(8))}\n{text}"
    room, author = dice.pick(ROOMS), dice.pick(NAMES)
    return _row({"id": number, "room": room, "author": author, "sent": _when(dice), "text": text})


def ticket(words: Words, dice: Dice, number: int) -> bytes:
    """One ticket: a greeting, paragraphs, now and then a log or an earlier mail, a name."""
    asks, answers = dice.pick(NAMES), dice.pick(NAMES)
    parts = [f"Hello {answers}," if dice.below(3) else "Hi,"]
    parts += [words.take(dice.length(30)) + "." for _ in range(1 + dice.below(4))]
    if dice.below(4) == 0:
        lines = range(1 + dice.length(5))
        log = (f"{_when(dice)} ERROR [{i}] {words.take(dice.length(6))}" for i in lines)
        parts.append("\n".join(log))
    if dice.below(3) == 0:
        quoted = "\n".join(f"> {words.take(10)}" for _ in range(dice.length(4)))
        parts.append(f"On {_day(dice)}, {answers} wrote:\n{quoted}")
    parts.append(f"Regards\n{asks}")
    return _row(
        {
            "id": f"T-{number:07}",
            "opened": _when(dice),
            "queue": dice.pick(QUEUES),
            "priority": 1 + dice.below(4),
            "requester": asks,
            "text": "\n\n".join([words.take(dice.length(6)), *parts]),
        }
    )


def contract(words: Words, dice: Dice, number: int) -> bytes:
    """One contract. Every reference names a clause or schedule that is there."""
    # The plan comes first, so that a clause can refer to what follows it.
    titles = TITLES[: 8 + dice.below(len(TITLES) - 7)]
    plan = [[dice.below(3) * dice.below(4) for _ in range(2 + dice.length(4))] for _ in titles]
    schedules = 1 + dice.below(4)

    def reference() -> str:
        if dice.below(8) == 0:
            return f"Schedule {1 + dice.below(schedules)}"
        clause = dice.below(len(plan))
        part = dice.below(len(plan[clause]))
        items = plan[clause][part]
        item = f"({chr(97 + dice.below(items))})" if items and dice.below(2) else ""
        return f"clause {clause + 1}.{part + 1}{item}"

    def sentence() -> str:
        opening = dice.pick(OPENINGS).format(reference(), reference())
        return f"{opening} {words.take(dice.length(28)).rstrip('.,;:')}"

    seller, buyer = (f"{dice.pick(COMPANIES)} {dice.pick(FORMS)}" for _ in range(2))
    lines = [
        f"AGREEMENT No. {number}",
        f"This Agreement is made on {_day(dice)} between {seller} (“Supplier”) and {buyer} "
        "(“Customer”).",
    ]
    for clause, (title, parts) in enumerate(zip(titles, plan, strict=True), 1):
        lines.append(f"{clause}. {title.upper()}")
        for part, items in enumerate(parts, 1):
            text = f"{clause}.{part} {sentence()}"
            if clause == 1:
                text = f"1.{part} “{words.take(2).title()}” means {words.take(dice.length(16))}"
            for item in range(items):
                end = ";" if item + 1 < items else "."
                text += f"{'' if item else ':'}\n    ({chr(97 + item)}) "
                text += words.take(dice.length(14)) + (" and" if item + 2 == items else "") + end
            lines.append(text if items else text + ".")
    for schedule in range(1, schedules + 1):
        lines.append(f"SCHEDULE {schedule}")
        lines += [words.take(dice.length(60)) + "." for _ in range(1 + dice.below(4))]
    return ("\n\n".join(lines) + "\n\n\n").encode()


KINDS: dict[str, tuple[Callable[[Words, Dice, int], bytes], str]] = {
    "chat": (chat, "prose"),
    "tickets": (ticket, "prose"),
    "contracts": (contract, "legal"),
}
"""What makes one document, and the kind of text that the words come from."""

BATCH = 1 << 20
"""Bytes that are made at once, in the end; the first batch is a sixteenth."""


def write(kind: str, blocks: Iterator[bytes], seed: int = 0) -> Iterator[bytes]:
    """Yield batches of documents without end; no document is cut between two."""
    make, _ = KINDS[kind]
    words, dice = Words(blocks), Dice(seed)
    batch: list[bytes] = []
    size, most = 0, BATCH // 16
    for number in count(1):
        batch.append(make(words, dice, number))
        size += len(batch[-1])
        if size >= most:
            yield b"".join(batch)
            batch, size, most = [], 0, min(2 * most, BATCH)
