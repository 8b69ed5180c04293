"""What an embedder takes of a text at most: told before it is asked, with what chunks were cut to.

A server that cuts texts off in silence makes vectors of their beginnings. Chunks that were cut to
another size, or in another unit, than the model has are what leads there.
"""

from __future__ import annotations

import pickle

import pytest

import cantle
import samples
from cantle.embed import Cached, Remote
from cantle.embed.door import embed_all, token_limit
from cli_runs import cli, write
from stores import Hashing, opened

SENTENCE = "A sentence has nine words if they are counted."
TEXT = " ".join([SENTENCE] * 9)


class Limited(Hashing):
    """An embedder that takes so many words."""

    def __init__(self, most, unit="words"):
        super().__init__()
        self.token_limit = (most, unit)


def cut(size, unit="words", strategy=cantle.Recursive):
    return strategy(size, unit=unit).split_all(["Short text.", TEXT], ids=["a", "b"])


def told(tokens, most, size):
    """Return how the message begins."""
    cut_with = "" if size is None else f", and the chunks were cut with size ({size}) in words"
    return (
        f"chunk 'b_recursive_0' has {tokens} tokens with what stands before it and the model's "
        f"special tokens; the model takes {most} (max_model_tokens){cut_with}: cut with a smaller "
        "size in the model's own unit, or with prefix= so that both count, or leave out what "
        'cantle.check(..., errors="skip") skips'
    )


def write_ways(embedder):
    """Yield each way to write into a new store, and the store."""
    for embed in (True, False):
        store = opened(embedder=embedder)
        yield lambda chunks, store=store, embed=embed: store.load(chunks, embed=embed), store
    for dry_run in (True, False):
        store = opened(embedder=embedder)

        def sync(chunks, store=store, dry_run=dry_run):
            strategy = cantle.Recursive(chunks.limit, unit=chunks.unit)
            store.sync(["Short text.", TEXT], ids=["a", "b"], strategy=strategy, dry_run=dry_run)

        yield sync, store


@pytest.mark.parametrize("size", [10, 27, 40, 10_000])
def test_a_limit_below_the_size_is_told_before_anything_is_embedded(size):
    embedder = Limited(9)
    tokens = min(size // 9, 9) * 9
    for act, store in write_ways(embedder):
        if tokens == 9:
            act(cut(size))
            continue
        with pytest.raises(cantle.TextError) as caught:
            act(cut(size))
        assert str(caught.value) == told(tokens, 9, size)
        assert (embedder.texts, len(store.snapshot())) == ([], 0)


def test_a_limit_is_that_of_the_models_own_unit():
    tokenizer = cantle.Tokenizer.from_object(samples.foreign("wordpiece_mini"))
    chunks = cut(9)
    counted = samples.foreign_count("wordpiece_mini", SENTENCE, special=True)
    for most in (counted, counted - 1):
        for act, _ in write_ways(Limited(most, tokenizer)):
            if most == counted:
                act(chunks)
                continue
            with pytest.raises(cantle.TextError, match=f"has {counted} tokens .* takes {most} "):
                act(chunks)


def test_what_chunks_were_cut_to_goes_with_them():
    chunks = cut(40)
    for same in (chunks, chunks[1:], pickle.loads(pickle.dumps(chunks))):
        assert same.limit == 40
        with pytest.raises(cantle.TextError) as caught:
            cantle.check(same, 9, unit="words")
        assert str(caught.value) == told(36, 9, 40)
    by_hand = cantle.Chunks.from_spans(
        ["", TEXT], [[], [(0, 150)]], ids=["a", "b"], unit="words", name="recursive"
    )
    assert by_hand.limit is None
    with pytest.raises(cantle.TextError) as caught:
        cantle.check(by_hand, 9, unit="words")
    assert str(caught.value) == told(29, 9, None)
    nested = cantle.Nested(5, unit="words", parent_sizes=(40, 20)).split(TEXT)
    assert [nested.level(number).limit for number in (1, 2, 3)] == [40, 20, 5]
    within = cantle.Window(3, unit="words").split_within(chunks)
    assert (within.limit, within.parents.limit) == (3, 40)


def test_what_is_left_out_anyway_is_not_too_long():
    # A row without a value was an error, though it is never embedded.
    table = "| a column with a long name | another one |\n|-|-|\n|  |  |\n"
    chunks = cantle.Rows(40, unit="words").split(table, id="a.md")
    report = cantle.check(chunks, 5, unit="words")
    assert (report.tokens > 5).all()
    assert report.counts == {"empty_row": 1, "too_long": 1}
    blank = cantle.Whole(unit="chars", trim=False).split("x" + " " * 50)
    assert cantle.check(blank, 9, unit="chars").counts == {"too_short": 1, "too_long": 1}


def test_who_embeds_says_what_it_takes():
    tokenizer = cantle.Tokenizer.from_object(samples.foreign("wordpiece_mini"))
    remote = Remote("m@http://localhost:1/v1", unit=tokenizer, max_tokens=7)
    assert token_limit(remote) == (7, tokenizer)
    assert token_limit(Cached(remote, "vectors.sqlite")) == (7, tokenizer)
    assert token_limit(Remote("m")) == (512, cantle.Tokenizer.from_name("cl100k_base"))
    assert token_limit(Remote("text-embedding-3-small"))[0] == 8192
    assert token_limit(Hashing()) is None
    assert token_limit(Cached(Hashing(), "vectors.sqlite")) is None
    odd = Hashing()
    odd.token_limit = 512
    with pytest.raises(TypeError, match=r"^token_limit \(512\) must be a pair: most tokens, and"):
        opened(embedder=odd).load(cut(9))


def test_a_server_counts_the_special_tokens_as_well():
    # Two tokens more than the model takes went out, and such servers cut in silence.
    tokenizer = cantle.Tokenizer.from_object(samples.foreign("wordpiece_mini"))
    counted = samples.foreign_count("wordpiece_mini", SENTENCE, special=True)
    remote = Remote("m@http://localhost:1/v1", unit=tokenizer, max_tokens=counted - 1)
    with pytest.raises(cantle.SettingError, match=rf"^texts\[0\] .* has {counted} tokens in "):
        remote([SENTENCE])
    same = Remote("m@http://localhost:1/v1", unit=tokenizer, max_tokens=counted)
    assert [tokens for _, tokens in same._batches([SENTENCE])] == [counted]


def test_texts_are_loaded_where_the_embedder_is_not_at_hand(tmp_path):
    with opened(tmp_path / "kb", embedder=Limited(9)) as store:
        store.load(cut(9), embed=True)
    with cantle.Store.open(tmp_path / "kb") as store:
        assert store.load(cut(9)).chunks == 9


def test_the_command_tells_it_before_a_request(tmp_path):
    write(tmp_path / "docs/a.txt", TEXT * 20)
    name = "openai:m@http://localhost:1/v1"
    call = ["docs", "-o", "kb", "--strategy", "recursive:2000", "--embedder", name]
    for more in ([], ["--dry-run"]):
        paths = [str(tmp_path / part) if part in ("docs", "kb") else part for part in call]
        result = cli(*paths, *more, command="index")
        assert result.status == 1
        (problem,) = result.problems
        assert problem.startswith("cantle: chunk 'a.txt_recursive_0' has ")
        assert (
            "takes 512 (max_model_tokens), and the chunks were cut with size (2000) in cl100k"
            in problem
        )


@pytest.mark.parametrize(
    ("limit", "error", "words"),
    [
        (5, TypeError, "token_limit (5) must be a pair: most tokens, and their unit"),
        (("512", "words"), TypeError, "token_limit ('512') must be a whole number"),
        ((None, "words"), TypeError, "token_limit (None) must be a whole number"),
        ((float("nan"), "words"), TypeError, "token_limit (nan) must be a whole number"),
        ((True, "words"), TypeError, "token_limit (True) must be a whole number"),
        ((0, "words"), cantle.SettingError, "token_limit (0) must be at least 1"),
        ((9, "nounit"), cantle.SettingError, "token_limit: unit ('nounit') must be "),
        ((9, None), TypeError, "token_limit: unit (None) must be "),
    ],
)
def test_a_limit_that_is_none_is_refused_wherever_it_is_met(limit, error, words):
    embedder = Hashing()
    embedder.token_limit = limit
    for act in (
        lambda: embed_all(embedder, ["A text."]),
        lambda: cantle.Semantic(9, unit="words", embedder=embedder).split(TEXT),
        lambda: opened(embedder=embedder).load(cut(9)),
        lambda: opened(embedder=embedder).load(cut(9), embed=False),
        lambda: opened(embedder=embedder).sync([TEXT], strategy=cantle.Recursive(9, unit="words")),
    ):
        with pytest.raises(error) as caught:
            act()
        assert str(caught.value).startswith(words)


def test_what_a_request_holds_is_a_limit_as_well():
    remote = Remote("m@http://localhost:1", tokens_per_request=50)
    assert remote.token_limit[0] == 50
    assert Remote("m@http://localhost:1", max_tokens=20).token_limit[0] == 20
    with pytest.raises(cantle.TextError, match=r"the model takes 50 "):
        opened(embedder=remote).load(cut(400, strategy=cantle.Whole))


def test_a_comparison_names_the_chunk():
    strategies = ["recursive:4:0:words", "recursive:2000:0:words"]
    with pytest.raises(cantle.SettingError) as caught:
        cantle.compare(["One. Two. Three.", "word " * 600], strategies, "tea?", Limited(50))
    assert str(caught.value).startswith("embedder: chunk 'doc1_recursive_0' has 600 tokens")


def test_nothing_is_embedded_if_a_text_is_over_the_limit():
    embedder, text = Limited(9), f"Not long. {SENTENCE[:-1]} twice."
    with pytest.raises(cantle.SettingError) as caught:
        cantle.Semantic(unit="words", embedder=embedder, batch_size=1).split(text, id="a")
    assert str(caught.value) == (
        "embedder: sentence 1 of document 'a' has 10 tokens in words, over the 9 that it takes"
    )
    store = opened(embedder=Hashing())
    store.load(cut(27))
    store.change_embedder(embedder)
    with pytest.raises(cantle.SettingError) as caught:
        store.backfill()
    assert "'b_recursive_0' has 27 tokens in words, over the 9" in str(caught.value)
    assert embedder.texts == []
