"""The request of an answer is kept byte for byte, and compared with what today's notes would make.

The bytes are compared with what the scripted server received.
"""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.requests.files import read_texts
from app.requests.pieces import KnownText, NoteTexts
from app.requests.record import SentTexts, build_objects
from app.time_machine.machine import PastRequest
from chains.cancel import CancelToken
from chains.events import Mode
from chains.request.ask import Ask
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import result_of
from tests.unit.app.rpc.test_server import Caller

PNG_TEXT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQ"
    "DwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
PNG = base64.b64decode(PNG_TEXT)
NOTES = {
    "Backups.md": "# Backups\nThe server is backed up on Monday at 02:00.\n",
    "Garden/Beds.md": "# Beds\nThe <b>beans</b> & peas grow in the north bed.\n",
    "Garden/AGENTS.md": "Answer in short sentences.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def notes(assistant: Assistant, vault: Path) -> Path:
    assistant.open_vault(vault, remember=False)
    assistant.agents.connect(None, "all")
    return vault


def ask(assistant: Assistant, question: str, mode: Mode = "vault", **fields: Any) -> Any:
    return result_of(list(assistant.ask(Ask(question, mode, **fields), CancelToken())))


def list_sent(assistant: Assistant, session: str) -> list[PastRequest]:
    """Return the stored requests of a chat, in the order of their answers."""
    entries = assistant.sessions.read(session).log.entries
    answers = [entry.id for entry in entries if "sent" in entry.extra]
    return [assistant.time_machine.show_then(session, answer) for answer in answers]


def list_received(server: ModelServer) -> list[bytes]:
    return [one.raw for one in server.received if one.path.endswith("/chat/completions")]


def read_stored(assistant: Assistant) -> bytes:
    """Return all that is stored of requests, without compression."""
    return b"".join(
        json.dumps(read_texts(file)).encode() for file in assistant.paths.sent.glob("*.sent")
    )


def test_requests_of_all_modes_are_byte_for_byte_what_the_server_received(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    assistant.settings.set("retrieval.rewrite", False)
    (notes / "Garden/Plan.png").write_bytes(PNG)
    session, place = "", {"project": str(notes / "Garden")}
    modes: tuple[Mode, ...] = ("vault", "chat", "project", "agent", "vault")
    for mode in modes:
        if mode == "agent":
            call = ("c1", "read_note", json.dumps({"path": "Beds.md"}))
            server.script(Answer("", calls=(call,)), Answer("It is the north bed."))
        attach = ("Garden/Plan.png", "Backups.md") if mode == "chat" else ()
        question = f'Where do the beans grow, in {mode}? \u2028 “ü” \\ "x"'
        session = ask(assistant, question, mode, attach=attach, **place).session
        place = {"session": session}
    list(assistant.compact(session, CancelToken()))
    ask(assistant, "And the peas?", "vault", session=session)
    sent = list_sent(assistant, session)
    received = list_received(server)
    assert all(one.content.is_exact and one.content.wire is not None for one in sent)
    assert len(sent) == 7
    found = iter(received)  # between them is the call for the summary
    assert all(one.content.wire.text.encode() in found for one in sent)
    assert "data:image/png;base64," in sent[1].content.wire.text


def test_a_changed_note_is_the_difference_and_dates_refer_to_the_day_of_the_question(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    result = ask(assistant, "When is the server backed up?")
    then = assistant.time_machine.compare(result.session, result.entry, CancelToken())
    assert then.changed == 0
    (notes / "Backups.md").write_text("# Backups\nThe server is backed up on Tuesday at 03:00.\n")
    seen = len(server.received)
    found = assistant.time_machine.compare(result.session, result.entry, CancelToken())
    assert len(server.received) == seen
    differing = [text for text in found.texts if text.state != "same"]
    assert [(text.shown.layer, text.shown.source, text.state) for text in differing] == [
        ("L3", "Backups.md", "changed")
    ]
    assert [(line.sign, line.text) for line in differing[0].lines if line.sign] == [
        ("-", "The server is backed up on Monday at 02:00."),
        ("+", "The server is backed up on Tuesday at 03:00."),
    ]
    again = assistant.time_machine.show_then(result.session, result.entry)
    assert again.content.is_exact
    assert "Monday" in again.content.wire.text


@pytest.mark.parametrize("way", ["rule", "private", "renamed outside", "moved"])
def test_the_text_of_a_note_that_is_excluded_later_is_gone_at_once(
    assistant: Assistant, server: ModelServer, notes: Path, way: str
) -> None:
    server.script(Answer("It is backed up then."))
    result = ask(assistant, "When is the server backed up?")
    note = notes / "Backups.md"
    if way == "rule":
        assistant.settings.set("vault.exclude", ["Backups.md"])
    elif way == "private":
        note.write_text("---\nprivate: true\n---\n" + NOTES["Backups.md"])
        list(assistant.index(CancelToken()))
    else:
        (notes / "Hidden").mkdir()
        note.rename(notes / "Hidden" / ("Other.md" if way == "renamed outside" else "Backups.md"))
        assistant.settings.set("vault.exclude", ["Hidden/"])
    assert b"Monday at 02:00" not in read_stored(assistant)
    then = assistant.time_machine.show_then(result.session, result.entry)
    assert (then.content.is_exact, [(one.path, one.reason) for one in then.content.gone]) == (
        False,
        [("Backups.md", "excluded")],
    )
    (source,) = [text for text in then.texts if text.source == "Backups.md"]
    assert source.text == "[The text of Backups.md is not kept any more.]"


def test_requests_go_with_the_last_chat_that_has_their_answers(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(Answer("It is so."))
    first = ask(assistant, "When is the server backed up?")
    fork = assistant.branches.fork(first.session)
    other = ask(assistant, "Where do the beans grow?", mode="chat", attach=("Garden/Beds.md",))
    assistant.sessions.delete_for_good(first.session)
    assert b"Monday at 02:00" in read_stored(assistant)
    assert list_sent(assistant, fork)[0].content.is_exact
    assistant.sessions.delete(fork)
    assert b"Monday at 02:00" in read_stored(assistant)
    assistant.sessions.bin.empty()
    assert b"Monday at 02:00" not in read_stored(assistant)
    assert list_sent(assistant, other.session)[0].content.is_exact
    assistant.sessions.delete_for_good(other.session)
    assert list(assistant.paths.sent.iterdir()) == []


def test_passages_of_deleted_notes_stay_until_they_are_purged(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(Answer("It is so."))
    result = ask(assistant, "When is the server backed up?")
    (notes / "Backups.md").unlink()
    list(assistant.index(CancelToken()))
    assert assistant.time_machine.show_then(result.session).content.is_exact
    assert assistant.kept_passages.describe().deleted == ("Backups.md",)
    client = Caller(assistant)
    found = client.ask("passages", purge=True)
    assert (found["deleted"], found["removed"]) == ([], 1)
    assert b"Monday at 02:00" not in read_stored(assistant)
    then = client.ask("get_past_context", session=result.session, when="at-the-time")
    assert (then["exact"], then["gone"]) == (
        False,
        [{"path": "Backups.md", "reason": "purged"}],
    )
    differing = client.ask("get_past_context", session=result.session, when="diff")["layers"]
    states = {(text["source"], text["state"]) for text in differing if text["source"]}
    assert ("Backups.md", "removed") in states
    client.hang_up()


def test_a_request_that_was_not_kept_is_rebuilt(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    result = ask(assistant, "When is the server backed up?")
    for file in assistant.paths.sent.iterdir():
        file.write_bytes(file.read_bytes()[:40])
    then = assistant.time_machine.show_then(result.session)
    assert (then.is_rebuilt, then.content.is_exact) == (True, False)
    assert any("Monday at 02:00" in text.text for text in then.texts)


def test_answers_that_quote_an_excluded_note_leave_later_requests_too(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(Answer("On Monday at 02:00 the server is backed up."), Answer("Yes."))
    first = ask(assistant, "When is the server backed up?")
    ask(assistant, "Thanks, and is it good?", session=first.session)
    (notes / "Backups.md").write_text("---\nprivate: true\n---\n" + NOTES["Backups.md"])
    list(assistant.index(CancelToken()))
    assert b"02:00" not in read_stored(assistant)
    second = list_sent(assistant, first.session)[1]
    assert "02:00" not in second.content.wire.text
    assert json.loads(second.content.wire.text)["model"] == "gpt-4o"
    assert "Where do the beans grow" not in second.content.wire.text
    assert "Thanks, and is it good?" in second.content.wire.text


def test_a_note_is_found_after_its_whole_folder_was_moved(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(Answer("It is so."))
    result = ask(assistant, "When is the server backed up?")
    notes.rename(notes.with_name("moved"))
    assistant.open_vault(notes.with_name("moved"), remember=False)
    list(assistant.index(CancelToken()))
    assert assistant.kept_passages.describe().deleted == ()
    assistant.settings.set("vault.exclude", ["Backups.md"])
    assert b"Monday at 02:00" not in read_stored(assistant)
    found = assistant.time_machine.compare(result.session, result.entry, CancelToken())
    states = {text.shown.source: text.state for text in found.texts if text.shown.source}
    assert states.pop("Backups.md") == "removed"
    assert set(states.values()) == {"same"}


def test_a_note_stays_when_its_copy_is_excluded(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    (notes / "Archive").mkdir()
    (notes / "Archive/Copy.md").write_text(NOTES["Backups.md"])
    server.script(Answer("It is so."))
    result = ask(assistant, "When is it?", "chat", attach=("Backups.md",))
    assistant.settings.set("vault.exclude", ["Archive/"])
    assert assistant.time_machine.show_then(result.session).content.is_exact
    (notes / "Backups.md").unlink()  # what is left of it is excluded
    assert not assistant.time_machine.show_then(result.session).content.is_exact


@pytest.mark.parametrize("place", ["Servers.md", "Garden/Backups.md", "Garden/Servers.md"])
def test_a_note_that_was_renamed_outside_of_strata_is_not_deleted(
    assistant: Assistant, server: ModelServer, notes: Path, place: str
) -> None:
    server.script(Answer("It is so."))
    result = ask(assistant, "When is it?", "chat", attach=("Backups.md",))
    (notes / "Backups.md").rename(notes / place)
    kept = assistant.kept_passages
    assert (kept.describe().deleted, kept.remove_deleted()) == ((), 0)
    assert assistant.time_machine.show_then(result.session).content.is_exact


def test_a_note_is_deleted_though_another_vault_has_its_name(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(Answer("It is so."), Answer("It is so."))
    ask(assistant, "When is it?", "chat", attach=("Backups.md",))
    other = notes.with_name("other")
    other.mkdir()
    (other / "Backups.md").write_text("# Backups\nThe tea is backed up by Ann.\n")
    assistant.open_vault(other, remember=False)
    ask(assistant, "When is it?", "chat", attach=("Backups.md",))
    (notes / "Backups.md").unlink()
    kept = assistant.kept_passages
    assert (kept.describe().deleted, kept.remove_deleted()) == (("Backups.md",), 1)
    assert b"Monday at 02:00" not in read_stored(assistant)
    assert b"by Ann" in read_stored(assistant)


def test_the_text_behind_the_path_of_a_found_line_names_no_other_note(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    (notes / "Log.md").write_text("At 9.30: the dentist. See report.md: page 3.\n")
    call = ("c1", "grep_notes", json.dumps({"pattern": "dentist"}))
    server.script(Answer("", calls=(call,)), Answer("It is so."))
    ask(assistant, "When is it?", "agent")
    assert (assistant.kept_passages.describe().deleted, b"dentist" in read_stored(assistant)) == (
        (),
        True,
    )


def test_a_request_that_is_added_after_its_note_was_excluded_loses_the_text(
    assistant: Assistant, notes: Path
) -> None:
    """The request was made before, and is stored while the answer arrives."""
    text = "The server is backed up on Monday at 02:00."
    known = NoteTexts((str(notes),), {}, {}, (KnownText(text, ("Backups.md",)),))
    body = json.dumps({"messages": [text]})
    assistant.settings.set("vault.exclude", ["Backups.md"])
    assistant.sessions.sent.add(build_objects(SentTexts(body, None, {}), known))
    assert b"Monday at 02:00" not in read_stored(assistant)


def test_a_restored_backup_brings_no_text_of_excluded_notes_back(
    assistant: Assistant, server: ModelServer, notes: Path, tmp_path: Path
) -> None:
    server.script(Answer("It is so."))
    ask(assistant, "When is it?", "chat", attach=("Backups.md",))
    client, file = Caller(assistant), str(tmp_path / "backup.zip")
    client.ask("backup", path=file)
    assistant.settings.set("vault.exclude", ["Backups.md"])
    client.ask("restore", path=file, merge=True)
    client.hang_up()
    assert b"Monday at 02:00" not in read_stored(assistant)


SECRET = "The code of the server is Zebra 7391, as Johanna Feldkamp knows."
WORDS = (b"7391", b"Feldkamp")
REPEATED = (
    ("read_note", {"path": "Backups.md"}),
    ("update_memory", {"facts": [SECRET], "scratchpad": "Johanna Feldkamp knows"}),
    ("update_progress", {"currentObjective": "7391", "completedSteps": [SECRET]}),
    ("grep_notes", {"pattern": "7391"}),
)


def test_what_the_model_repeated_of_an_excluded_note_is_gone_everywhere(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    """In its memory, in lists and short values of tool arguments, and in a pinned answer."""
    (notes / "Backups.md").write_text(f"# Backups\n{SECRET}\n")
    calls = [(f"c{at}", name, json.dumps(given)) for at, (name, given) in enumerate(REPEATED)]
    server.script(*(Answer("", calls=(call,)) for call in calls), Answer(SECRET), Answer("Yes."))
    first = ask(assistant, "Look it up.", "agent")
    assistant.branches.pin(first.session, first.entry, True)
    for _ in range(2):
        ask(assistant, "And now?", "chat", session=first.session)
    list(assistant.compact(first.session, CancelToken()))
    ask(assistant, "And then?", "chat", session=first.session)
    stored = read_stored(assistant)
    assert all(word in stored for word in WORDS)
    assistant.settings.set("vault.exclude", ["Backups.md"])
    stored = read_stored(assistant)
    assert [word for word in WORDS if word in stored] == []


def test_what_the_user_and_the_model_wrote_is_no_text_of_deleted_notes(
    assistant: Assistant, server: ModelServer, notes: Path
) -> None:
    server.script(Answer("At 9.30: the dentist. See report.pdf: page 3."), Answer("Yes."))
    first = ask(assistant, "Version 2.0: what is new in it?", "chat")
    assistant.branches.pin(first.session, first.entry, True)
    ask(assistant, "Is it good?", "chat", session=first.session)
    list(assistant.compact(first.session, CancelToken()))
    ask(assistant, "And now?", "chat", session=first.session)
    kept = assistant.kept_passages
    assert (kept.describe().notes, kept.describe().deleted, kept.remove_deleted()) == (0, (), 0)
    assert all(one.content.is_exact for one in list_sent(assistant, first.session))
