# ruff: noqa: E501  (a row of a table of errors stays on one line)
"""What the public verbs and settings refuse, and in which words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import cantle
from cantle import Recursive, Sentence, Separator, Tokenizer, Whole, Window
from cases import builders

SPECIAL = Tokenizer.from_object(builders.wordpiece_mini(), count_special=True)
WINDOW = Window(3, unit="chars")
UNITS = (
    "'bytes', 'chars', 'words', 'cl100k_base', 'o200k_base', 'o200k_harmony', 'gpt2', "
    "'r50k_base', 'p50k_base', 'p50k_edit', 'minilm', 'bert-base-uncased'"
)
A_UNIT = f"must be one of {UNITS}, the path of a tokenizer.json, a tokenizer or a callable"
OFFLINE = (
    "cantle downloads nothing: on a machine with network, AutoTokenizer.from_pretrained({!r})"
    ".save_pretrained('folder') of the package transformers writes folder/tokenizer.json"
)

Bad = list[tuple[str, Callable[[], Any], type[Exception], str]]

SETTINGS: Bad = [
    ("size 0", lambda: Recursive(0), ValueError, "size (0) must be at least 1"),
    ("size -1", lambda: Window(-1), ValueError, "size (-1) must not be negative"),
    ("size text", lambda: Recursive("10"), TypeError, "size ('10') must be a whole number, not str"),
    ("size 1.5", lambda: Sentence(1.5), TypeError, "size (1.5) must be a whole number, not float"),
    ("size True", lambda: Whole(True), TypeError, "size (True) must be a whole number, not bool"),
    ("size None", lambda: Recursive(None), TypeError, "size (None) must be a whole number, not NoneType"),
    ("size 2**63", lambda: Recursive(2**63), ValueError, f"size ({2**63}) must be smaller than 2**63"),
    ("size 2**200", lambda: Recursive(2**200), ValueError, f"size ({2**200}) must be smaller than 2**63"),
    ("overlap = size", lambda: Recursive(10, 10), ValueError, "overlap (10) must be smaller than size (10)"),
    ("overlap > size", lambda: Window(512, 600), ValueError, "overlap (600) must be smaller than size (512)"),
    ("overlap of whole", lambda: Whole(5, 9), ValueError, "overlap (9) must be smaller than size (5)"),
    ("overlap -3", lambda: Recursive(10, -3), ValueError, "overlap (-3) must not be negative"),
    ("overlap text", lambda: Recursive(10, "1"), TypeError, "overlap ('1') must be a whole number, not str"),
    ("min_size > size", lambda: Recursive(10, min_size=11), ValueError, "min_size (11) must not be larger than size (10)"),
    ("min_size -1", lambda: Sentence(10, min_size=-1), ValueError, "min_size (-1) must not be negative"),
    ("min_size 2.0", lambda: Recursive(10, min_size=2.0), TypeError, "min_size (2.0) must be a whole number, not float"),
    ("trim 1", lambda: Recursive(10, trim=1), TypeError, "trim (1) must be True or False"),
    ("trim None", lambda: Recursive(10, trim=None), TypeError, "trim (None) must be True or False"),
    ("name empty", lambda: Recursive(name=""), TypeError, "name ('') must be a string that is not empty"),
    ("name 3", lambda: Window(name=3), TypeError, "name (3) must be a string that is not empty"),
    ("unit unknown", lambda: Recursive(unit="pages"), ValueError, f"unit ('pages') {A_UNIT}; {OFFLINE.format('pages')}"),
    ("unit empty", lambda: Recursive(unit=""), ValueError, f"unit ('') {A_UNIT}; {OFFLINE.format('')}"),
    ("unit None", lambda: Recursive(unit=None), TypeError, "unit (None) must be a string, a tokenizer or a callable"),
    ("unit bytes", lambda: Recursive(unit=b"chars"), TypeError, "unit (b'chars') must be a string, a tokenizer or a callable"),
    ("unit file", lambda: Recursive(unit="no/such.json"), OSError, "[Errno 2] No such file or directory: 'no/such.json'"),
    ("no room", lambda: Recursive(2, unit=SPECIAL), ValueError, "size (2) leaves no room for text: the tokenizer adds 2 special tokens and count_special is on"),
    ("separators text", lambda: Recursive(separators="abc"), TypeError, "separators ('abc') must be a list of separators"),
    ("separators 5", lambda: Recursive(separators=5), TypeError, "separators (5) must be a list of separators"),
    ("separator None", lambda: Recursive(separators=["a", None]), TypeError, "separators[1] (None) must be str, a compiled pattern or Separator"),
    ("separator of bytes", lambda: Recursive(separators=[re.compile(b"a")]), TypeError, "separators[0] (re.compile(b'a')) must be str, a compiled pattern or Separator"),
    ("'' not last", lambda: Recursive(separators=["", "a"]), ValueError, "separators[0] is empty: '' must come last"),
    ("separator surrogate", lambda: Recursive(separators=["a", "\ud800"]), ValueError, "separators[1] holds a lone surrogate at character 0"),
    ("flag", lambda: Recursive(separators=[re.compile("a", re.ASCII)]), ValueError, "separators[0]: the flag re.ASCII is not offered"),
    ("look-around", lambda: Recursive(separators=[re.compile("a(?=b)")]), ValueError, 'separators: the pattern "a(?=b)" cannot be used: look-around cannot be matched in linear time; put the separator on a side instead'),
    ("back-reference", lambda: Recursive(separators=[re.compile(r"(a)\1")]), ValueError, r'separators: the pattern "(a)\\1" cannot be used: back-references cannot be matched in linear time (nor are octal escapes known)'),
    ("open group", lambda: Recursive(separators=[Separator("(", regex=True)]), ValueError, 'separators: the pattern "(" cannot be used: unclosed group'),
    ("pattern 3", lambda: Separator(3), TypeError, "pattern (3) must be str"),
    ("side", lambda: Separator("a", side="left"), ValueError, "side ('left') must be 'start' or 'end'"),
]  # fmt: skip

ONE_TEXT = "texts must be a sequence of texts, not {}; use split for one text"
TEXTS: Bad = [
    ("None", lambda: WINDOW.split(None), TypeError, "text must be str or UTF-8 bytes, not NoneType"),
    ("number", lambda: cantle.split(5), TypeError, "text must be str or UTF-8 bytes, not int"),
    ("list", lambda: WINDOW.split(["a"]), TypeError, "text must be str or UTF-8 bytes, not list"),
    ("not UTF-8", lambda: WINDOW.split(b"ab\xff"), ValueError, "text is not UTF-8: the byte 0xff at position 2 is out of place"),
    ("cut UTF-8", lambda: WINDOW.split("a\u00e9".encode()[:-1]), ValueError, "text is not UTF-8: the byte 0xc3 at position 1 is out of place"),
    ("surrogate", lambda: WINDOW.split("\u00e9b\ud800c"), ValueError, "text holds a lone surrogate at character 2: it cannot be written as UTF-8"),
    ("sentences", lambda: cantle.sentences("a\udc00"), ValueError, "text holds a lone surrogate at character 1: it cannot be written as UTF-8"),
    ("one str", lambda: WINDOW.split_all("abc"), TypeError, ONE_TEXT.format("str")),
    ("one bytes", lambda: WINDOW.split_all(b"abc"), TypeError, ONE_TEXT.format("bytes")),
    ("stream of str", lambda: WINDOW.stream("abc"), TypeError, ONE_TEXT.format("str")),
    ("second None", lambda: WINDOW.split_all(["a", None]), TypeError, "texts[1] must be str or UTF-8 bytes, not NoneType"),
    ("second bytes", lambda: WINDOW.split_all(["a", b"\xff"]), ValueError, "texts[1] is not UTF-8: the byte 0xff at position 0 is out of place"),
    ("third surrogate", lambda: WINDOW.split_all(["a", "", "b\udc00"]), ValueError, "texts[2] holds a lone surrogate at character 1: it cannot be written as UTF-8"),
    ("threads -1", lambda: WINDOW.split_all(["a"], threads=-1), ValueError, "threads (-1) must not be negative"),
    ("threads text", lambda: WINDOW.split_all(["a"], threads="2"), TypeError, "threads ('2') must be a whole number, not str"),
    ("threads within", lambda: WINDOW.split_within(WINDOW.split("a"), threads=-1), ValueError, "threads (-1) must not be negative"),
    ("few ids", lambda: WINDOW.split_all(["a", "b"], ids=["x"]), ValueError, "ids has 1 entries for 2 texts"),
    ("ids text", lambda: WINDOW.split_all(["a", "b"], ids="xy"), TypeError, "ids must be a sequence of strings, not one string"),
    ("ids twice", lambda: WINDOW.split_all(["a", "b", "c"], ids=["x", "y", "x"]), ValueError, "ids[2] ('x') is also ids[0]"),
    ("ids surrogate", lambda: WINDOW.split_all(["a"], ids=["x\ud800"]), cantle.SettingError, "ids[0] ('x\\ud800') holds a lone surrogate at character 1: it cannot be written as UTF-8"),
    ("ids number", lambda: WINDOW.split_all(["a", "b"], ids=["x", 2]), TypeError, "ids[1] (2) must be str, not int"),
    ("few metadata", lambda: WINDOW.split_all(["a", "b"], metadata=[{}]), ValueError, "metadata has 1 entries for 2 texts"),
    ("one metadata", lambda: WINDOW.split_all(["a", "b"], metadata={}), TypeError, "metadata must be a sequence of mappings, one per text, not one mapping"),
    ("metadata number", lambda: WINDOW.split_all(["a", "b"], metadata=[{}, 3]), TypeError, "metadata[1] must be a mapping, not int"),
    ("one metadata number", lambda: WINDOW.split("a", metadata=3), TypeError, "metadata must be a mapping, not int"),
    ("one id number", lambda: WINDOW.split("a", id=3), TypeError, "id (3) must be str, not int"),
    ("id of sentences", lambda: cantle.sentences("a", id=3), TypeError, "id (3) must be str, not int"),
    ("texts number", lambda: WINDOW.split_all(5), TypeError, ONE_TEXT.format("int")),
    ("stream number", lambda: WINDOW.stream(5), TypeError, ONE_TEXT.format("int")),
    ("surplus ids", lambda: list(WINDOW.stream(["a"], ids=["x", "y"])), ValueError, "ids has more entries than the 1 texts"),
    ("surplus metadata", lambda: list(WINDOW.stream(["a"], metadata=[{}, {}])), ValueError, "metadata has more entries than the 1 texts"),
    ("batch 0", lambda: WINDOW.stream(["a"], batch=0), ValueError, "batch (0) must be at least 1"),
    ("batch 1.0", lambda: WINDOW.stream(["a"], batch=1.0), TypeError, "batch (1.0) must be a whole number"),
    ("batch True", lambda: WINDOW.stream(["a"], batch=True), TypeError, "batch (True) must be a whole number"),
    ("parents text", lambda: WINDOW.split_within("abc"), TypeError, "parents must be Chunks, not str"),
    ("parents mixed", lambda: WINDOW.split_within(WINDOW.split_all(["a", "b"])[::-1]), ValueError, "parents must be in the order of their documents"),
]  # fmt: skip

FORM = "name[:size[:overlap[:unit]]][,key=value...]"
KNOWN = (
    "must be one of whole, window, recursive, sentence, structural, clauses, rows, routed, "
    "semantic, optimal, documentbased, llm, hierarchical, nested"
)
IN_TEXT: Bad = [
    ("unknown", lambda: cantle.strategy_from_text("nope"), ValueError, f"strategy ('nope') {KNOWN}"),
    ("empty", lambda: cantle.strategy_from_text(""), ValueError, f"strategy ('') {KNOWN}"),
    ("too many parts", lambda: cantle.strategy_from_text("window:1:2:3:4"), ValueError, f"strategy ('window:1:2:3:4') has too many parts: {FORM}"),
    ("size", lambda: cantle.strategy_from_text("window:x"), ValueError, "size ('x') must be a whole number"),
    ("overlap", lambda: cantle.strategy_from_text("window:60:60"), ValueError, "overlap (60) must be smaller than size (60)"),
    ("unit", lambda: cantle.strategy_from_text("window:60:12:pages"), ValueError, f"unit ('pages') {A_UNIT}; {OFFLINE.format('pages')}"),
    ("unknown key", lambda: cantle.strategy_from_text("window,min_size=2"), ValueError, "strategy ('window,min_size=2'): 'min_size=2' sets nothing of window"),
    ("no value", lambda: cantle.strategy_from_text("window,trim"), ValueError, "strategy ('window,trim'): 'trim' sets nothing of window"),
    ("separators", lambda: cantle.strategy_from_text("recursive,separators=a"), ValueError, "strategy ('recursive,separators=a'): 'separators=a' sets nothing of recursive"),
    ("maybe", lambda: cantle.strategy_from_text("window,trim=maybe"), ValueError, "trim ('maybe') must be true or false"),
    ("trim 3", lambda: cantle.strategy_from_text("window,trim=3"), ValueError, "trim ('3') must be true or false"),
    ("open quote", lambda: cantle.strategy_from_text("window:1:0:'a"), ValueError, "strategy (\"window:1:0:'a\"): a quote is not closed"),
    ("no such default", lambda: cantle.strategy_from_text("window", overlpa=3), TypeError, "overlpa (3) is a setting of no strategy"),
    ("no such setting", lambda: cantle.route("a", overlpa=3), TypeError, "overlpa (3) is a setting of no strategy"),
    ("id of facts", lambda: cantle.facts("a", id=3), TypeError, "id (3) must be str"),
    ("kind of route", lambda: cantle.route("a", kind=3), TypeError, "kind (3) must be str"),
    ("empty item", lambda: cantle.strategies_from_text("window,,recursive"), ValueError, f"strategy ('') {KNOWN}"),
]  # fmt: skip

EVERY = [*SETTINGS, *TEXTS, *IN_TEXT]


@pytest.mark.parametrize(
    ("call", "kind", "message"), [bad[1:] for bad in EVERY], ids=[b[0] for b in EVERY]
)
def test_an_error_names_the_argument_and_the_value(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_errors_are_of_ordinary_kinds():
    for kind in (cantle.SettingError, cantle.TextError, cantle.TokenizerError):
        assert issubclass(kind, ValueError)
    assert issubclass(cantle.InternalError, RuntimeError)
