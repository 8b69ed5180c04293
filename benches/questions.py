"""The workloads W1 to W6: what every splitter is asked. W1w is W1 for those that count words."""

from __future__ import annotations

import cantle

QUESTIONS = {
    "W1": cantle.Window(1000, 100, "chars"),
    "W1w": cantle.Window(170, 17, "words"),
    "W2": cantle.Recursive(1000, 0, "chars"),
    "W3": cantle.Window(512, 64),
    "W4": cantle.Recursive(512),
    "W5": cantle.Sentence(512),
    "W6": cantle.Structural(1000, 0, "chars"),
}
NAMES = {
    "W1": "windows of 1000 characters, overlap 100",
    "W1w": "windows of 170 words, overlap 17",
    "W2": "recursive, 1000 characters",
    "W3": "windows of 512 tokens, overlap 64",
    "W4": "recursive, 512 tokens",
    "W5": "sentences to 512 tokens",
    "W6": "Markdown, 1000 characters",
}
