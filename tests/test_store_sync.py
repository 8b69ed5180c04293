"""`Store.sync`: only what changed is cut, only what is new embedded, and the report says what."""

import pytest

import cantle
from cantle.store import sync as sync_module
from stores import Hashing, Other, assert_sound, opened, rows_of, words

ONE = "one two three four five six seven eight"
TWO = "uno due tre quattro cinque"


@pytest.fixture
def embedder():
    return Hashing()


@pytest.fixture
def store(embedder):
    store = opened(embedder=embedder)
    run(store, {"a": ONE, "b": TWO})
    return store


def run(store, given, strategy=None, **settings):
    settings.setdefault("min_chars", 0)
    return store.sync(
        list(given.values()), ids=list(given), strategy=strategy or words(), **settings
    )


def counted(documents=(0, 0, 0, 0), chunks=(0, 0, 0, 0)):
    """Return documents and chunks as a report counts them."""
    return (
        dict(zip(("unchanged", "changed", "new", "gone"), documents, strict=True)),
        dict(zip(("unchanged", "moved", "new", "gone"), chunks, strict=True)),
    )


def test_all_is_new_in_a_new_store(embedder):
    store = opened(embedder=embedder)
    done = run(store, {"a": ONE, "b": TWO, "empty": ""})
    assert (done.documents, done.chunks) == counted((0, 0, 3, 0), (0, 0, 4, 0))
    assert (done.embedded, done.units, done.left_out) == (4, 13, 0)
    assert (done.skipped, done.warnings, done.dropped, done.dry_run) == ((), (), {}, False)
    assert len(embedder.texts) == 4
    assert str(done) == (
        "documents: 0 unchanged, 0 changed, 3 new, 0 gone\n"
        "chunks: 0 unchanged, 0 moved, 4 new, 0 gone\n"
        "embedded: 4 texts, 13 units"
    )
    assert_sound(store)


def test_nothing_is_touched_where_nothing_changed(store, embedder):
    generation, asked = store.info()["generation"], len(embedder.texts)
    done = run(store, {"b": TWO, "a": ONE})
    assert (done.documents, done.chunks) == counted((2, 0, 0, 0), (4, 0, 0, 0))
    assert (done.embedded, done.units) == (0, 0)
    assert store.info()["generation"] == generation
    assert len(embedder.texts) == asked


def test_a_changed_document_embeds_its_new_texts(store, embedder):
    done = run(store, {"a": ONE, "b": f"{TWO} sei sette otto nove"})
    assert (done.documents, done.chunks) == counted((1, 1, 0, 0), (3, 0, 2, 1))
    assert embedder.texts[4:] == ["cinque sei sette otto", "nove"]
    assert (done.embedded, done.units) == (2, 5)
    assert_sound(store)


def test_what_stands_elsewhere_now_has_moved(store, embedder):
    done = run(store, {"a": f"0 0 0 0 {ONE}", "b": TWO})
    assert (done.documents, done.chunks) == counted((1, 1, 0, 0), (2, 2, 1, 0))
    assert embedder.texts[4:] == ["0 0 0 0"]
    assert_sound(store)


def test_a_renamed_document_embeds_nothing(store, embedder):
    done = run(store, {"renamed": ONE, "b": TWO})
    assert (done.documents, done.chunks) == counted((1, 0, 1, 1), (2, 2, 0, 0))
    assert done.embedded == 0
    assert len(embedder.texts) == 4
    assert [name for name, _ in rows_of(store)] == [
        "b_window_0",
        "b_window_1",
        "renamed_window_0",
        "renamed_window_1",
    ]
    assert_sound(store)


def test_what_is_gone_goes_unless_it_is_to_stay(store):
    done = run(store, {"a": ONE}, prune=False)
    assert (done.documents, done.chunks) == counted((1, 0, 0, 0), (2, 0, 0, 0))
    assert len(store.snapshot().sources) == 2
    done = run(store, {"a": ONE}, prune=lambda: True)
    assert (done.documents, done.chunks) == counted((1, 0, 0, 1), (2, 0, 0, 2))
    assert [source.id for source in store.snapshot().sources] == ["a"]
    done = run(store, {})
    assert (done.documents, done.chunks) == counted((0, 0, 0, 1), (0, 0, 0, 2))
    assert store.info()["documents"] == 0
    assert_sound(store)


def test_chunks_of_other_strategies_stay_with_a_document_that_is_gone(store):
    store.load(words(2, name="pairs").split(ONE, id="a"), min_chars=0, embed=True)
    run(store, {"b": TWO})
    assert {name.split("_")[1] for name, _ in rows_of(store) if name.startswith("a")} == {"pairs"}
    done = run(store, {"a": f"{ONE} nine", "b": TWO})
    assert done.dropped == {"a": ["pairs"]}
    assert_sound(store)


def test_other_settings_cut_all_anew_with_a_warning(store, embedder):
    done = run(store, {"a": ONE, "b": TWO}, words(8))
    assert (done.documents, done.chunks) == counted((0, 2, 0, 0), (0, 0, 2, 4))
    assert done.warnings == (
        "'window' is cut with other settings than before: what was measured with this store no "
        "longer holds",
    )
    assert embedder.texts[4:] == [ONE, TWO]
    assert run(store, {"a": ONE, "b": TWO}, words(8)).warnings == ()
    assert_sound(store)


def test_another_title_is_another_text_to_embed(embedder):
    store = opened(embedder=embedder)
    for title, year, expected in (("T", 1, 2), ("T", 2, 0), ("U", 2, 2)):
        done = store.sync(
            [ONE],
            ids=["a"],
            metadata=[{"title": title, "year": year}],
            strategy=words(),
            min_chars=0,
        )
        assert done.embedded == expected
        assert store.snapshot().sources[0].metadata == {"title": title, "year": year}
    assert store.check() == []


@pytest.mark.parametrize("at_once", [1, 200])
def test_a_text_is_embedded_once_wherever_it_goes(store, embedder, monkeypatch, at_once):
    # One that moved to a document of a later transaction was embedded again: its old place was
    # overwritten by then. So was one that was new in two of them.
    monkeypatch.setattr(sync_module, "_AT_ONCE", at_once)
    given = {"a": "new new new new", "b": ONE, "c": "new new new new", "d": TWO}
    planned = run(store, given, dry_run=True)
    done = run(store, given)
    assert planned._replace(dry_run=False) == done
    assert (done.documents, done.chunks) == counted((0, 2, 2, 0), (0, 4, 2, 0))
    assert (done.embedded, done.units) == (1, 4)
    assert embedder.texts[4:] == ["new new new new"]
    assert_sound(store)


def test_texts_of_other_strategies_are_known(store, embedder):
    done = run(store, {"a": ONE, "b": TWO}, words(4, name="again"))
    assert done.embedded == 0
    assert len(embedder.texts) == 4
    assert_sound(store)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"a": ONE, "b": TWO},
        {"a": TWO, "b": ONE},
        {"a": f"{ONE} {TWO}", "c": TWO, "d": ""},
        {"a": "", "b": f"{TWO} {TWO} {TWO}", "c": f"{TWO} {ONE}"},
    ],
)
@pytest.mark.parametrize("size", [4, 3])
@pytest.mark.parametrize("prune", [True, False])
def test_a_dry_run_says_what_then_happens(store, embedder, given, size, prune):
    generation, before, asked = store.info()["generation"], rows_of(store), len(embedder.texts)
    planned = run(store, given, words(size), dry_run=True, prune=prune)
    assert (store.info()["generation"], rows_of(store)) == (generation, before)
    assert len(embedder.texts) == asked
    assert planned.dry_run
    assert str(planned).splitlines()[2] == (
        f"to embed: {planned.embedded} texts, {planned.units} units"
    )
    done = run(store, given, words(size), prune=prune)
    assert done == planned._replace(dry_run=False)
    assert len(embedder.texts) == asked + done.embedded
    assert sum(len(text.split()) for text in embedder.texts[asked:]) == done.units
    assert_sound(store)
    again = run(store, given, words(size), dry_run=True, prune=prune)
    assert again.documents["unchanged"] == len(given)
    assert again.embedded == 0


@pytest.mark.parametrize("fail_after", [0, 1, 7, 30])
def test_a_run_that_was_stopped_goes_on(fail_after, monkeypatch):
    monkeypatch.setattr(sync_module, "_AT_ONCE", 3)
    given = {f"d{doc}": f"{doc} a b c {doc} e f g" for doc in range(20)}
    embedder = Hashing(fail_after=fail_after)
    store = opened(embedder=embedder)
    with pytest.raises(RuntimeError, match="broke down"):
        run(store, given)
    done = len(store.snapshot().sources)
    assert done == fail_after // 6 * 3
    assert_sound(store)
    embedder.fail_after = None
    finished = run(store, given)
    assert finished.documents["unchanged"] == done
    assert finished.documents["new"] == 20 - done
    assert len(embedder.texts) == 40
    assert_sound(store)
    whole = opened()
    run(whole, given)
    assert rows_of(store) == rows_of(whole)


def test_a_renaming_that_was_stopped_embeds_nothing_after_all(monkeypatch):
    monkeypatch.setattr(sync_module, "_AT_ONCE", 3)
    given = {f"d{doc}": f"{doc} a b c {doc} e f g" for doc in range(9)}
    embedder = Hashing()
    store = opened(embedder=embedder)
    run(store, given)

    def stop(done):
        raise KeyboardInterrupt

    renamed = {name.replace("d", "r"): text for name, text in given.items()}
    with pytest.raises(KeyboardInterrupt):
        run(store, renamed, progress=stop)
    assert_sound(store)
    run(store, renamed)
    assert len(embedder.texts) == 18
    assert {source.id for source in store.snapshot().sources} == set(renamed)
    assert_sound(store)


def test_rows_that_waited_get_their_vectors(embedder):
    store = opened(embedder=embedder)
    store.load(words().split(ONE, id="a"), min_chars=0)
    done = run(store, {"a": ONE})
    assert (done.documents, done.embedded) == (counted((0, 1, 0, 0))[0], 2)
    assert store.info()["waiting"] == 0
    store.change_embedder(Other())
    assert run(store, {"a": ONE}).embedded == 2
    assert store.info()["waiting"] == 0


def test_a_document_with_an_added_chunk_is_unchanged(embedder):
    # It was cut and embedded at every run: the added text's vector was not made.
    store = opened(embedder=embedder)
    store.load(words().split(ONE, id="a"), min_chars=0)
    store.add("a", "window", "an added text")
    assert run(store, {"a": ONE}, dry_run=True).embedded == 3
    assert run(store, {"a": ONE}).embedded == 3
    assert store.info()["waiting"] == 0
    assert run(store, {"a": ONE}).documents["unchanged"] == 1
    changed = run(store, {"a": f"zero {ONE}"})
    assert changed.chunks["gone"] == 2
    assert rows_of(store)[-1] == ("a_window_3", "an added text")
    assert_sound(store)


def test_what_was_added_by_hand_is_counted_while_it_is_there(store):
    # It was counted with documents that had not changed, and not with those that had.
    store.add("a", "window", "an added text")
    store.add("a", "window", "an added text")
    store.add("b", "window", "one more")
    kept = run(store, {"a": ONE, "b": TWO})
    assert (kept.documents, kept.chunks) == counted((2, 0, 0, 0), (7, 0, 0, 0))
    for dry_run in (True, False):
        done = run(store, {"a": f"{ONE} nine", "b": TWO}, dry_run=dry_run)
        assert (done.documents, done.chunks) == counted((1, 1, 0, 0), (7, 0, 1, 0))
        assert done.embedded == 1
    for dry_run in (True, False):
        done = run(store, {"b": TWO}, dry_run=dry_run)
        assert (done.documents, done.chunks) == counted((1, 0, 0, 1), (3, 0, 0, 5))
    assert len(store.snapshot()) == 3
    # A text that was added by hand, and is cut from a document now, has moved.
    done = run(store, {"c": "one more"})
    assert (done.documents, done.chunks) == counted((0, 0, 1, 1), (0, 1, 0, 2))
    assert done.embedded == 0
    assert_sound(store)


def test_what_check_skips_is_left_out(store):
    done = run(store, {"a": ONE, "b": f"{TWO} x"}, min_chars=10)
    assert done.left_out == 1
    assert "left out: 1 chunks (see cantle.check)" in str(done)
    assert [text for _, text in rows_of(store)][-1] == "uno due tre quattro"


def test_what_cannot_be_cut_keeps_what_it_had(store):
    done = run(store, {"a": "bad \ud800 text", "b": f"{TWO} sei"})
    assert done.skipped == (
        (
            "a",
            "texts[0] holds a lone surrogate at character 4: it cannot be written as UTF-8",
        ),
    )
    assert done.documents == counted((0, 1, 0, 0))[0]
    assert "skipped: a: texts[0]" in str(done)
    assert [text for name, text in rows_of(store) if name.startswith("a")] == [
        "one two three four",
        "five six seven eight",
    ]
    assert_sound(store)


def test_documents_come_in_parts_and_blocks(embedder):
    from cantle.documents import Documents

    store = opened(embedder=embedder)
    said = []
    parts = (Documents((f"{ONE} {i}", TWO), [f"a{i}", f"b{i}"]) for i in range(3))
    done = store.sync(parts, strategy=words(), min_chars=0, progress=said.append)
    assert done.documents["new"] == 6
    assert said == [2, 4, 6]
    assert len(embedder.texts) == 2 + 2 + 3
    assert_sound(store)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"documents": ONE, "strategy": words()},
            TypeError,
            "documents must be texts or Documents, not str",
        ),
        (
            {"documents": [ONE, TWO], "ids": ["a", "a"], "strategy": words()},
            ValueError,
            "ids[1] ('a') is also ids[0]",
        ),
        (
            {"documents": [ONE], "strategy": "window"},
            TypeError,
            "strategy ('window') must be a strategy, such as Recursive(75)",
        ),
    ],
)
def test_what_cannot_be_synced(given, error, message):
    with pytest.raises(error) as caught:
        opened().sync(**given)
    assert str(caught.value) == message


def test_an_id_in_two_parts_is_refused():
    from cantle.documents import Documents

    parts = (Documents((ONE,), ["a"]) for _ in range(2))
    with pytest.raises(cantle.SettingError, match=r"^document 'a' is there twice$"):
        opened().sync(parts, strategy=words(), min_chars=0)
