"""Sent requests are stored once, survive damage and kills, and lose what has to go."""

import hashlib
import json
import os
import random
import re
import zlib
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import app.requests.files
import app.requests.store
from app.requests.files import (
    StoredObject,
    StoredPlace,
    decode_file,
    encode_file,
    read_texts,
    repair_file,
)
from app.requests.pieces import KnownText, NoteRef, NoteTexts
from app.requests.record import GoneNote, ObjectKind, SentObject, SentTexts, build_objects
from app.requests.store import SentStore

SECRET = "The safe is behind the picture of the sea."
NOTES = NoteTexts(("/vault",), {"Safe.md": "v1"}, {}, (KnownText(SECRET, ("Safe.md",)),))
WORDS = "the", "bed", "barrel", "holds", "210", "litres", "of", "water", "in", "May", "behind"
OTHER = "A long text that each request has, so that it is stored a single time. " * 9


def add(store: SentStore, question: str, *texts: str) -> tuple[str, str]:
    """Store a request, and return its reference and its JSON."""
    wire = json.dumps({"messages": [OTHER, *texts, question]})
    return store.add(build_objects(SentTexts(wire, wire, {"model": "m"}), NOTES)), wire


def load(folder: Path, reference: str) -> str | None:
    found = SentStore(folder).load(reference)
    return None if found is None or found.wire is None else found.wire.text


@pytest.fixture
def store(tmp_path: Path) -> SentStore:
    return SentStore(tmp_path / "sent")


def test_a_request_is_read_as_it_was_stored_by_another_process_too(store: SentStore) -> None:
    references = [add(store, f"Question {number}?", SECRET) for number in range(40)]
    for reference, wire in references:
        assert load(store.folder, reference) == wire
    assert store.list_notes().notes == {NoteRef("/vault", "Safe.md", "v1")}
    files = [file.stat().st_size for file in store.folder.iterdir()]
    assert sum(files[1:]) / len(files[1:]) < len(OTHER)


def test_a_long_chat_grows_by_what_is_new(store: SentStore) -> None:
    history: list[str] = []
    for number in range(120):
        history.append(f"Answer {number}: {os.urandom(200).hex()}")
        reference, wire = add(store, "And now?", *history)
    sizes = sorted(file.stat().st_size for file in store.folder.iterdir())
    assert sizes[-2] < 4 * sizes[0]
    assert load(store.folder, reference) == wire


def test_a_text_that_goes_leaves_every_file_and_the_request_says_so(store: SentStore) -> None:
    first, _ = add(store, "Where is the safe?", SECRET)
    second, kept = add(store, "Where is the sea?")
    assert store.forget_notes({NoteRef("/vault", "Safe.md", "v1")}, "excluded") == 1
    found = SentStore(store.folder).load(first)
    assert found is not None
    assert found.wire is not None
    assert (found.is_exact, found.gone) == (False, (GoneNote("Safe.md", "excluded"),))
    assert "picture" not in found.wire.text
    assert json.loads(found.wire.text)["messages"][-1] == "Where is the safe?"
    assert load(store.folder, second) == kept
    again, wire = add(store, "May I know again?", SECRET)
    assert load(store.folder, again) == wire


def test_requests_go_with_what_only_they_need(store: SentStore) -> None:
    first, _ = add(store, "Where is the safe?", SECRET)
    second, kept = add(store, "Where is the sea?")
    store.remove({first}, {second})
    assert load(store.folder, first) is None
    assert load(store.folder, second) == kept
    assert store.list_notes().notes == frozenset()
    store.remove({second}, set())
    assert list(store.folder.iterdir()) == []


def test_a_request_that_no_chat_names_goes_when_it_is_old(store: SentStore) -> None:
    left, wire = add(store, "Left behind?")
    store.remove(set(), set())
    assert load(store.folder, left) == wire
    for file in store.folder.iterdir():
        os.utime(file, (1_000_000_000, 1_000_000_000))
    store.remove(set(), set())
    assert load(store.folder, left) is None


@pytest.mark.parametrize("damage", [b"", b"strata sent 1\n", b"strata sent 1\n\0\0\0\5abcde"])
def test_a_damaged_file_loses_its_own_texts_alone(store: SentStore, damage: bytes) -> None:
    first, _ = add(store, "Where is the safe?", SECRET)
    (file,) = store.folder.iterdir()
    file.write_bytes(damage)
    fresh = SentStore(store.folder)
    assert fresh.load(first) is None
    second, wire = add(fresh, "Where is the safe?", SECRET)
    assert load(store.folder, second) == wire


def test_a_kill_between_the_new_file_and_the_old_one_leaves_nothing_behind(
    store: SentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next removal takes the old file, whose text is still there."""
    first, _ = add(store, "Where is the safe?", SECRET)
    gone = {NoteRef("/vault", "Safe.md", "v1")}

    def die(_path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("app.requests.store.remove_if_there", die)
        with pytest.raises(KeyboardInterrupt):
            store.forget_notes(gone, "excluded")
    fresh = SentStore(store.folder)
    assert fresh.list_notes().notes == gone
    assert fresh.forget_notes(gone, "excluded") == 1
    assert SentStore(store.folder).list_notes().notes == frozenset()
    found = fresh.load(first)
    assert found is not None
    assert [one.reason for one in found.gone] == ["excluded"]


def count_files(store: SentStore) -> int:
    return len(list(store.folder.iterdir()))


def measure(store: SentStore) -> int:
    return sum(file.stat().st_size for file in store.folder.iterdir())


def test_small_files_become_one_that_is_much_smaller(store: SentStore) -> None:
    history: list[str] = []
    references = []
    for number in range(60):
        history.append(f"Answer {number}: " + " ".join(random.Random(number).choices(WORDS, k=60)))
        references.append(add(store, f"Question {number}?", SECRET, *history))
    before = measure(store)
    store.pack()
    assert count_files(store) == 1
    assert measure(store) < 0.4 * before
    for reference, wire in references:
        assert load(store.folder, reference) == wire
    listed = SentStore(store.folder).list_notes()
    assert (listed.requests, listed.notes) == (60, {NoteRef("/vault", "Safe.md", "v1")})


def test_a_few_files_and_large_ones_stay_as_they_are(store: SentStore) -> None:
    for number in range(3):
        add(store, f"Question {number}?")
    store.pack()
    assert count_files(store) == 3
    for number in range(12):
        add(store, f"Question {number}?", random.Random(number).randbytes(200_000).hex())
    large = {file for file in store.folder.iterdir() if file.stat().st_size > 150_000}
    for number in range(3, 6):
        add(store, f"What then, {number}?")
    store.pack()
    assert large < set(store.folder.iterdir())
    assert count_files(store) == len(large) + 1


def test_a_text_that_goes_leaves_a_packed_file_too(store: SentStore) -> None:
    wires = dict(add(store, f"Where is it, {number}?", SECRET) for number in range(9))
    store.pack()
    assert store.forget_notes({NoteRef("/vault", "Safe.md", "v1")}, "excluded") == 1
    assert not any("picture" in text for text in read_all(store))
    for reference, wire in wires.items():
        found = SentStore(store.folder).load(reference)
        assert found is not None
        assert found.wire is not None
        assert (found.is_exact, found.gone) == (False, (GoneNote("Safe.md", "excluded"),))
        assert json.loads(found.wire.text)["messages"][-1] == json.loads(wire)["messages"][-1]
    first, *others = wires
    store.remove({first}, set(others))
    assert load(store.folder, first) is None
    store.remove(set(others), set())
    assert count_files(store) == 0


def read_all(store: SentStore) -> list[str]:
    return [text for file in store.folder.iterdir() for text in read_texts(file).values()]


@pytest.mark.parametrize("step", ["create_file", "os.utime", "remove_if_there"])
def test_a_kill_while_files_are_packed_loses_nothing_and_leaves_nothing_behind(
    store: SentStore, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    wires = dict(add(store, f"Where is it, {number}?", SECRET) for number in range(9))

    def die(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(f"app.requests.store.{step}", die)
        with pytest.raises(KeyboardInterrupt):
            store.pack()
    fresh = SentStore(store.folder)
    for reference, wire in wires.items():
        assert load(store.folder, reference) == wire
    fresh.pack()
    assert count_files(fresh) == 1
    assert fresh.forget_notes(fresh.list_notes().notes, "excluded") == 1
    assert not any("picture" in text for text in read_all(fresh))


def test_another_process_reads_on_while_files_are_packed(
    store: SentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that it knows are gone, which it may notice only when it opens one."""
    wires = dict(add(store, f"Where is it, {number}?", SECRET) for number in range(9))
    other, look = SentStore(store.folder), SentStore._look
    assert other.list_notes().requests == 9

    def look_and_be_late(self: SentStore) -> None:
        look(self)
        if self is other:
            store.pack()

    monkeypatch.setattr(SentStore, "_look", look_and_be_late)
    for reference, wire in wires.items():
        found = other.load(reference)
        assert found is not None
        assert found.wire is not None
        assert found.wire.text == wire
    assert other.list_notes(wires).requests == 9


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_an_earlier_format_is_read_changed_and_packed(
    store: SentStore, version: int
) -> None:
    """The first has the hash of each object that another one names, and is compressed with zlib."""
    reference, wire = add(store, "Where is the safe?", SECRET)
    (file,) = store.folder.iterdir()
    content = write_as_earlier_format(file, version)
    file.with_stem(hashlib.sha256(content).hexdigest()[:40]).write_bytes(content)
    file.unlink()
    assert load(store.folder, reference) == wire
    for number in range(9):
        add(store, f"Where is it, {number}?")
    fresh = SentStore(store.folder)
    fresh.pack()
    assert count_files(fresh) == 1
    assert load(store.folder, reference) == wire
    assert fresh.forget_notes({NoteRef("/vault", "Safe.md", "v1")}, "excluded") == 1
    found = fresh.load(reference)
    assert found is not None
    assert [one.reason for one in found.gone] == ["excluded"]


def write_as_earlier_format(file: Path, version: int) -> bytes:
    """Return the content of a file as an earlier format wrote it."""
    objects = decode_file(file.name, file.read_bytes())
    numbers = {name: f"#{at}" for at, name in enumerate(objects)}
    told = {name: one.text for name, one in objects.items()}
    if version == 2:
        told = {
            name: re.sub(r"[0-9a-f]{32}", lambda match: numbers.get(match[0], match[0]), text)
            if objects[name].place.kind in ("record", "list")
            else text
            for name, text in told.items()
        }
    kinds = "piece", "record", "list", "answer"
    notes = list({note: None for one in objects.values() for note in one.place.notes})
    rows = [
        [
            one.name,
            len(told[one.name].encode()),
            [notes.index(note) for note in one.place.notes],
            kinds.index(one.place.kind),
            one.place.gone,
        ]
        for one in objects.values()
    ]
    named = [[note.root, note.path, note.version] for note in notes]
    compress = zlib.compress if version == 1 else app.requests.files._compress
    header = compress(json.dumps({"notes": named, "objects": rows}).encode())
    body = compress("".join(told.values()).encode())
    return f"strata sent {version}\n".encode() + len(header).to_bytes(4, "big") + header + body


@example([("#0", True), ("#7", True)])
@given(st.lists(st.tuples(st.text(max_size=60), st.booleans()), min_size=1, max_size=8))
def test_any_texts_are_read_as_they_were_written_together(texts: list[tuple[str, bool]]) -> None:
    """Also those that look like references: `["#1"]` may be the end of a text and a new one."""
    objects: dict[str, StoredObject] = {}
    for text, is_list in texts:
        names = [[name] for name in objects] + [["0" * 32, 1]]
        kind: ObjectKind = "list" if is_list else "piece"
        shown = json.dumps([text, f'["#0"] {text}[', *names], separators=(",", ":"))
        made = SentObject.build(shown if is_list else text, (), kind)
        place = StoredPlace("", 0, 0, (), kind)
        objects[made.hash] = StoredObject(made.hash, place, made.text)
    found = decode_file("f", encode_file(tuple(objects.values())).content)
    assert {name: one.text for name, one in found.items()} == {
        name: one.text for name, one in objects.items()
    }


def pack_at_once(
    monkeypatch: pytest.MonkeyPatch, other: SentStore, call: str, folder: Path
) -> list[str]:
    """Let another process join files just before the first call for a file of the store."""
    called: list[str] = []
    real = getattr(app.requests.store, call)

    def pack_and_call(path: Path, *arguments: object) -> object:
        if path.suffix == ".sent" and path.parent == folder and not called:
            called.append(path.name)
            other.pack()
        return real(path, *arguments)

    monkeypatch.setattr(app.requests.store, call, pack_and_call)
    return called


def test_a_process_that_starts_reads_all_while_another_one_packs(
    store: SentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is gone between the list of the folder and the reading of its header."""
    wires = dict(add(store, f"Where is it, {number}?", SECRET) for number in range(9))
    called = pack_at_once(monkeypatch, store, "read_file", store.folder)
    fresh = SentStore(store.folder)
    assert all(fresh.load(reference) is not None for reference in wires)
    assert fresh.list_notes().requests == 9
    assert called


def test_the_size_is_measured_while_another_process_packs(
    store: SentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = SentStore(store.folder)
    for number in range(9):
        add(store, f"Where is it, {number}?", SECRET)
    measure_files = SentStore._measure

    def pack_and_measure(self: SentStore) -> int:
        if self is other:
            store.pack()
        return measure_files(self)

    monkeypatch.setattr(SentStore, "_measure", pack_and_measure)
    assert other.list_notes().size == measure(store)


@pytest.mark.parametrize("call", ["create_file", "remove_if_there"])
def test_two_processes_that_cannot_lock_the_folder_lose_nothing_when_both_pack(
    store: SentStore, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr("app.requests.store.lock_folder", lambda _folder: nullcontext())
    wires = dict(add(store, f"Where is it, {number}?", SECRET) for number in range(9))
    assert pack_at_once(monkeypatch, SentStore(store.folder), call, store.folder) == []
    store.pack()
    for reference, wire in wires.items():
        assert load(store.folder, reference) == wire


@pytest.mark.parametrize("call", ["read_file", "create_file", "remove_if_there"])
def test_a_text_goes_though_another_process_packs_without_a_lock(
    store: SentStore, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr("app.requests.store.lock_folder", lambda _folder: nullcontext())
    wires = dict(add(store, f"Where is it, {number}?", SECRET) for number in range(9))
    called = pack_at_once(monkeypatch, SentStore(store.folder), call, store.folder)
    store.forget_notes({NoteRef("/vault", "Safe.md", "v1")}, "excluded")
    assert called
    assert not any("picture" in text for text in read_all(store))
    assert SentStore(store.folder).list_notes().requests == len(wires)
    store.remove(set(wires), set())
    assert count_files(store) == 0


def damage(file: Path, start: int, length: int) -> None:
    """Overwrite bytes of a file with others."""
    content = file.read_bytes()
    others = bytes(byte ^ 0xA5 for byte in content[start : start + length])
    file.write_bytes(content[:start] + others + content[start + length :])


def damage_texts(file: Path) -> None:
    """Damage more of the last block than its spare bytes can repair."""
    size = file.stat().st_size
    damage(file, size - 500, 400)


def encode_many(count: int) -> tuple[dict[str, str], bytes]:
    """Return requests, each with a note of its own, and a file with all of them."""
    wires: dict[str, str] = {}
    rows: dict[str, StoredObject] = {}
    for number in range(count):
        rng = random.Random(number)
        said = " ".join(rng.choices(WORDS, k=60)) + rng.randbytes(200).hex()
        known = KnownText(said, (f"{number}.md",))
        notes = NoteTexts(("/vault",), {f"{number}.md": "v1"}, {}, (known,))
        wire = json.dumps({"messages": [OTHER, said, f"Question {number}?"]})
        objects = build_objects(SentTexts(wire, wire, {"model": "m"}), notes)
        wires[objects[-1].hash] = wire
        for one in objects:
            place = StoredPlace("", 0, 0, one.notes, one.kind)
            rows[one.hash] = StoredObject(one.hash, place, one.text)
    return wires, encode_file(tuple(rows.values())).content


def write_many(folder: Path, count: int) -> tuple[dict[str, str], Path]:
    wires, content = encode_many(count)
    folder.mkdir()
    file = folder / f"{hashlib.sha256(content).hexdigest()[:40]}.sent"
    file.write_bytes(content)
    return wires, file


def list_exact(folder: Path, wires: dict[str, str]) -> list[str]:
    """Return the requests that are read as they were stored. Others say that they are not."""
    store, exact = SentStore(folder), list[str]()
    for reference, wire in wires.items():
        found = store.load(reference)
        is_same = found is not None and found.wire is not None and found.wire.text == wire
        assert found is None or found.is_exact == is_same
        exact += [reference] if is_same else []
    return exact


def test_a_file_is_repaired_wherever_some_bytes_of_it_are_damaged() -> None:
    _wires, content = encode_many(100)
    for start in range(0, len(content), 211):
        for length in (1, 60):
            others = bytes(byte ^ 0xA5 for byte in content[start : start + length])
            changed = content[:start] + others + content[start + length :]
            assert repair_file(changed) == content, start
    for cut in (1, 8, 60, 200):
        assert repair_file(content[:-cut]) == content, cut


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.9])
def test_a_repaired_file_is_read_whole_and_written_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, place: float
) -> None:
    wires, file = write_many(tmp_path / "sent", 12)
    content = file.read_bytes()
    damage(file, int(place * len(content)), 50)
    assert list_exact(file.parent, wires) == list(wires)
    SentStore(file.parent).pack()
    assert file.read_bytes() == content
    assert "was damaged, and is repaired" in caplog.text


@pytest.mark.parametrize("place", [0.5, 0.7, 0.9])
def test_large_damage_costs_the_texts_that_it_meets_and_no_others(
    tmp_path: Path, place: float
) -> None:
    """Blocks behind the damage are read, and each request that lost a text says so."""
    wires, file = write_many(tmp_path / "sent", 400)
    size = file.stat().st_size
    assert size > 100_000
    damage(file, int(place * size), 8_000)
    some = dict(list(wires.items())[::8])
    exact = list_exact(file.parent, some)
    assert len(some) / 2 < len(exact) < len(some)
    store = SentStore(file.parent)
    assert all(store.load(one) is not None for one in some)


def test_a_text_that_damage_took_is_stored_again_when_it_is_sent_again(store: SentStore) -> None:
    said = random.Random(3).randbytes(2_000).hex()
    wires = dict(add(store, f"Where is it, {number}?", said) for number in range(9))
    store.pack()
    (file,) = store.folder.iterdir()
    damage(file, file.stat().st_size - 1_500, 1_000)
    fresh = SentStore(store.folder)
    assert list_exact(store.folder, wires) == []
    fresh.pack()
    add(fresh, "Where is it now?", said)
    assert list_exact(store.folder, wires) == list(wires)


def test_a_damaged_file_is_not_joined_and_what_a_good_one_has_is_kept(store: SentStore) -> None:
    """The same texts may be in two files, as after a merge of the folders of two computers."""
    wires = dict(add(store, f"Where is it, {number}?", SECRET) for number in range(9))
    store.pack()
    (damaged,) = store.folder.iterdir()
    damaged.rename(damaged.with_suffix(".aside"))
    for number in range(9):
        add(store, f"Where is it, {number}?", SECRET)
    damaged.with_suffix(".aside").rename(damaged)
    damage_texts(damaged)
    fresh = SentStore(store.folder)
    fresh.pack()
    assert damaged.exists()
    assert count_files(fresh) == 2
    damaged.unlink()
    for reference, wire in wires.items():
        assert load(store.folder, reference) == wire


def test_a_text_that_has_to_go_leaves_a_damaged_file_too(store: SentStore) -> None:
    reference, _wire = add(store, "Where is the safe?", SECRET, os.urandom(500).hex())
    (file,) = store.folder.iterdir()
    damage_texts(file)
    fresh = SentStore(store.folder)
    assert fresh.forget_notes({NoteRef("/vault", "Safe.md", "v1")}, "excluded") == 1
    assert not file.exists()
    assert fresh.load(reference) is None or fresh.list_notes().notes == frozenset()


def test_what_is_removed_does_not_come_back_after_a_power_failure(
    store: SentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference, _wire = add(store, "Where is the safe?", SECRET)
    flushed: list[int] = []
    monkeypatch.setattr(
        "app.requests.store.sync_folder", lambda _folder: flushed.append(count_files(store))
    )
    store.remove({reference}, set())
    assert flushed == [0]


def test_a_link_that_leads_nowhere_is_no_file_of_the_store(store: SentStore) -> None:
    reference, wire = add(store, "Where is the safe?")
    (store.folder / f"{'0' * 40}.sent").symlink_to(store.folder / "nowhere")
    assert load(store.folder, reference) == wire
