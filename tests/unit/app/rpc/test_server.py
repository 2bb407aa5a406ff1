import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.errors import NotFound
from app.paths import Paths
from app.rpc.requests import LONGEST_LINE
from app.rpc.server import RPC
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import IndexProgressed
from chains.request.ask import Ask
from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.models.priced_models import charge_for_calls
from tests.support.models.remembering_embedder import RememberingEmbedder

Line = dict[str, Any]
PATIENCE_S = 60


class Caller:
    """The program at the other end: it sends lines, and waits for those that it expects."""

    def __init__(self, assistant: Assistant) -> None:
        self.seen: list[Line] = []
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[Line] = queue.SimpleQueue()
        rpc = RPC(assistant, lambda line: self._said.put(json.loads(line)))
        self._thread = threading.Thread(target=rpc.serve, args=(iter(self._requests.get, None),))
        self._thread.start()
        self._number = 0

    def send(self, type: str, **fields: Any) -> int:
        self._number += 1
        self.send_raw(json.dumps({"id": self._number, "type": type, **fields}).encode())
        return self._number

    def send_raw(self, line: bytes) -> None:
        self._requests.put(line + b"\n")

    def wait_for(self, is_it: Callable[[Line], bool]) -> Line:
        while True:
            line = self._said.get(timeout=PATIENCE_S)
            self.seen.append(line)
            if is_it(line):
                return line

    def response(self, id: Any) -> Line:
        return self.wait_for(lambda line: line["type"] == "response" and line["id"] == id)

    def ask(self, type: str, **fields: Any) -> Line:
        """Send a request that must succeed, and return its data."""
        said = self.response(self.send(type, **fields))
        assert said["success"], said
        return dict(said["data"])

    def error(self, type: str, **fields: Any) -> Line:
        """Send a request that must fail, and return its error."""
        said = self.response(self.send(type, **fields))
        assert not said["success"], said
        return dict(said["error"])

    def event(self, name: str) -> Line:
        return self.wait_for(lambda line: line.get("event") == name)

    def turn(self, text: str, **fields: Any) -> Line:
        """Ask a question and return how its turn ended."""
        self.ask("prompt", text=text, **fields)
        return dict(self.event("turn_end")["data"])

    def hang_up(self) -> None:
        self._requests.put(None)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


@pytest.fixture
def server(assistant: Assistant) -> Iterator[ModelServer]:
    with ModelServer(Answer("The barrel is behind the shed.")) as server:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        yield server


@pytest.fixture
def caller(assistant: Assistant, server: ModelServer) -> Iterator[Caller]:
    """A program in a chat without notes."""
    caller = Caller(assistant)
    assert caller.ask("set_mode", mode="chat") == {"mode": "chat"}
    yield caller
    caller.hang_up()


def test_a_call_beyond_the_spending_limit_is_an_error_of_its_own_kind(
    caller: Caller, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge_for_calls(monkeypatch)
    caller.ask("set_setting", key="spending.dayLimit", value=0.000001)
    caller.ask("prompt", text="Where is the barrel?")
    error = caller.event("error")["data"]
    assert (error["code"], server.bodies) == ("spending_limit", [])
    assert "spending.dayLimit" in error["hint"]
    caller.ask("set_setting", key="spending.dayLimit", value=0.0)
    assert caller.turn("Where is the barrel?")["status"] == "complete"


def test_a_prompt_is_answered_at_once_and_ends_with_what_ask_prints(caller: Caller) -> None:
    id = caller.send("prompt", text="Where is the barrel?")
    begun = caller.response(id)
    end = caller.event("turn_end")
    assert begun["success"]
    assert end["data"]["turn"] == begun["data"]["turn"]
    assert end["data"]["answer"] == "The barrel is behind the shed."
    assert (end["request_id"], end["session"]) == (id, end["data"]["session"])


def test_events_come_in_the_order_of_the_turn(caller: Caller) -> None:
    caller.turn("Where is the barrel?")
    names = [line["event"] for line in caller.seen if line["type"] == "event"]
    assert names[:2] == ["message_end", "context"]
    assert names[-2:] == ["message_end", "turn_end"] or names[-3:] == [
        "message_end",
        "context",
        "turn_end",
    ]
    text = [line["data"]["text"] for line in caller.seen if line.get("event") == "text_delta"]
    assert "".join(text) == "The barrel is behind the shed."
    ended = [line["data"]["role"] for line in caller.seen if line.get("event") == "message_end"]
    assert ended == ["user", "assistant"]


def test_every_event_says_which_chat_it_is_of(caller: Caller) -> None:
    session = caller.turn("Where is the barrel?")["session"]
    assert {line["session"] for line in caller.seen if line["type"] == "event"} == {session}


def test_a_second_prompt_meanwhile_is_busy_and_another_chat_is_not(
    caller: Caller, server: ModelServer
) -> None:
    server.script(Answer("One two three four.", stall_after=2), Answer("Other."))
    first = caller.ask("prompt", text="Go on.")["session"]
    caller.event("text_delta")
    assert caller.ask("get_state")["busy"]
    assert caller.error("prompt", text="And?")["code"] == "busy"
    second = caller.ask("new_session")["session"]
    assert caller.turn("Hello?")["session"] == second
    assert caller.ask("abort", session=first) == {"aborted": True}
    assert caller.event("turn_end")["data"]["status"] == "interrupted"


def test_an_abort_keeps_what_has_arrived(caller: Caller, server: ModelServer) -> None:
    server.script(Answer("One two three four.", stall_after=2), Answer("Understood."))
    caller.ask("prompt", text="Go on.")
    caller.event("text_delta")
    caller.ask("abort")
    end = caller.event("turn_end")["data"]
    assert end["status"] == "interrupted"
    assert "One two three four.".startswith(end["answer"])
    assert caller.turn("Once more.")["answer"] == "Understood."


def test_an_abort_with_nothing_to_stop_says_so(caller: Caller) -> None:
    assert caller.ask("abort") == {"aborted": False}


def test_the_next_prompt_may_follow_the_end_of_a_turn_at_once(caller: Caller) -> None:
    for number in range(5):
        assert caller.turn(f"Question {number}")["status"] == "complete"


def test_a_turn_that_fails_says_why_and_ends(caller: Caller, server: ModelServer) -> None:
    server.script(Failure.saying(401, "wrong key"))
    caller.ask("prompt", text="Hello?")
    assert caller.event("error")["data"]["code"] == "missing_key"
    end = caller.event("turn_end")["data"]
    assert end["error"]["code"] == "missing_key"
    assert end["error"]["session"] == caller.ask("get_state")["session"]


def test_an_overflow_has_the_layer_table(caller: Caller, assistant: Assistant) -> None:
    caller.ask("set_setting", key="autoCompactThreshold", value=4_000)
    end = caller.turn("word " * 9_000)
    assert end["error"]["code"] == "context_overflow"
    assert end["error"]["context"]["layers"]["L5"]["tokens"] > 4_000


def test_the_preview_of_a_question_loads_the_model_that_finds_notes(
    caller: Caller, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[str] = []
    prepare = assistant.prepare_search

    def record(request: Ask) -> bool:
        is_searched = prepare(request)
        modes.extend([request.mode] if is_searched else [])
        return is_searched

    monkeypatch.setattr(assistant, "prepare_search", record)
    for mode in ("chat", "vault"):
        caller.ask("set_mode", mode=mode)
        caller.ask("get_context", when="next")
        caller.ask("get_context", when="next", text="Where is the barrel?")
    assert modes == ["vault"]


def test_the_context_is_that_of_the_last_request_then_of_the_next(caller: Caller) -> None:
    assert caller.error("get_context", when="last")["code"] == "not_found"
    assert caller.ask("get_context")["context"]["when"] == "next"
    caller.turn("Where is the barrel?")
    last = caller.ask("get_context")
    assert last["context"]["when"] == "last"
    assert last["markdown"].startswith("# Context Usage")
    full = caller.ask("get_context", when="next", format="full")
    assert full["context"]["request_body"]["messages"]
    assert "# Context Envelope" in full["markdown"]


def test_entries_are_those_of_the_file(caller: Caller, assistant: Assistant) -> None:
    session = caller.turn("Where is the barrel?")["session"]
    told = caller.ask("get_entries")
    lines = assistant.sessions.file(session).read_text(encoding="utf-8").splitlines()
    assert told["entries"] == [json.loads(line) for line in lines[1:]]
    assert told["leaf"] == caller.ask("get_state")["leaf"]
    path = caller.ask("get_entries", path_only=True)["entries"]
    assert [entry["type"] for entry in path] == ["message", "message"]


def test_a_new_chat_has_no_file_before_its_first_question(
    caller: Caller, assistant: Assistant
) -> None:
    session = caller.ask("new_session")["session"]
    assert not assistant.sessions.file(session).exists()
    assert caller.ask("get_entries")["entries"] == []
    assert caller.turn("Hello?")["session"] == session
    assert assistant.sessions.file(session).exists()


def test_a_chat_is_gone_on_with(caller: Caller) -> None:
    first = caller.turn("Hello?")["session"]
    caller.ask("new_session")
    caller.turn("Something else.")
    assert caller.ask("open_session", session=first) == {"session": first}
    assert caller.turn("And now?")["session"] == first
    assert caller.error("open_session", session="nothere")["code"] == "session_missing"


def test_a_setting_is_changed_for_good_or_refused_with_its_range(
    caller: Caller, assistant: Assistant
) -> None:
    told = caller.ask("set_setting", key="autoCompactThreshold", value=9_000)
    assert told == {"key": "autoCompactThreshold", "value": 9_000}
    assert build(Paths.find()).settings.get("autoCompactThreshold") == 9_000
    error = caller.error("set_setting", key="autoCompactThreshold", value=3)
    assert error["code"] == "bad_setting"
    assert "4,000" in error["message"]
    error = caller.error("set_setting", key="context.compactAt", value=0.5)
    assert error["code"] == "bad_setting"
    assert "context.trimAt (0.8)" in error["message"]


def test_two_clients_that_set_one_list_keep_what_both_have_added(caller: Caller) -> None:
    caller.ask("set_setting", key="vault.exclude", value=["a/", "b/"], base=[])
    told = caller.ask("set_setting", key="vault.exclude", value=["c/"], base=[])
    assert told["value"] == ["c/", "a/", "b/"]


def test_a_model_that_is_set_answers_from_now_on(caller: Caller, server: ModelServer) -> None:
    caller.ask("set_model", model="other-model")
    assert caller.ask("get_state")["model"] == "other-model"
    caller.turn("Hello?")
    assert server.bodies[-1]["model"] == "other-model"


def test_a_prompt_that_is_refused_names_no_chat_that_has_no_file(caller: Caller) -> None:
    assert caller.error("prompt", text=" ")["session"] is None
    begun = caller.ask("new_session")["session"]
    assert caller.error("prompt", text=" ")["session"] is None
    assert caller.turn("Hello?")["session"] == begun
    assert caller.error("prompt", text=" ")["session"] == begun


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        (
            {"attach": ["nowhere.md"]},
            "`attach` takes full paths, and paths relative to the folder of notes.",
        ),
        ({"mode": "project"}, "Begin a chat in a project. `new_session{project: DIR}` does it."),
    ],
)
def test_a_hint_names_fields_of_requests_rather_than_options(
    caller: Caller, fields: Line, hint: str
) -> None:
    assert caller.error("prompt", text="And?", **fields)["hint"] == hint


def test_the_hint_about_an_unknown_entry_names_the_request_that_lists_them(caller: Caller) -> None:
    caller.turn("Hello?")
    hint = caller.error("regenerate", entry="ffffffff")["hint"]
    assert hint == "`get_entries` shows those that there are."


def test_a_warning_about_a_file_comes_when_the_request_that_met_it_ends(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[str] = []
    is_idle, is_told = threading.Event(), threading.Event()

    def meet(*_args: Any) -> None:
        assert is_idle.wait(PATIENCE_S)
        met.append("The index was damaged.")
        raise NotFound("Nothing was found.")

    def write(line: bytes) -> None:
        if json.loads(line).get("event") == "warning":
            is_told.set()

    def send() -> Iterator[bytes]:
        yield b'{"id": 1, "type": "search", "query": "barrel"}'
        is_idle.set()
        assert is_told.wait(PATIENCE_S)

    monkeypatch.setattr(assistant, "take_warnings", lambda: tuple(met and [met.pop()]))
    monkeypatch.setattr(assistant, "search", meet)
    RPC(assistant, write).serve(send())


def test_no_warning_names_a_command_that_a_request_replaces(
    caller: Caller, assistant: Assistant, small_vault: Path
) -> None:
    (small_vault / "AGENTS.md").write_text("Answer in one sentence.\n")
    assistant.open_vault(small_vault, remember=False)
    result = caller.turn("Hello?", mode="vault")
    told = [line["data"]["message"] for line in caller.seen if line.get("event") == "warning"]
    shown = caller.ask("get_context")["context"]["warnings"]
    for warnings in (told, result["warnings"], result["context"]["warnings"], shown):
        (said,) = (one for one in warnings if "AGENTS.md" in one)
        assert "`instructions{action: accept}`" in said
        assert "strata " not in said
    assert caller.ask("instructions", action="accept")["state"] == "accepted"
    assert not [one for one in caller.turn("And?")["warnings"] if "AGENTS.md" in one]


@pytest.mark.parametrize("name", ["", " "])
def test_a_model_without_a_name_is_refused_and_none_is_set(
    caller: Caller, assistant: Assistant, name: str
) -> None:
    error = caller.error("set_model", model=name)
    assert error["code"] == "bad_request"
    assert "no name" in error["message"]
    assert caller.ask("get_state")["model"] == assistant.settings.get("chat.model")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{not json", "not JSON"),
        (b"[1, 2]", "not a JSON object"),
        (b"\xff\xfe", "not JSON"),
        (b'{"id": 1, "type": "search", "query": "pl\xff"}', "not JSON: byte 41 is not UTF-8."),
        (b'{"id": ' + b"9" * 5_000 + b"}", "not JSON: a number has 5,000 digits."),
        (b"[" * 100_000, "not JSON: it has more than"),
        (b'{"id": ' + b"[" * 700 + b"]" * 700 + b', "type": "get_state"}', "not JSON"),
        (b'{"type": "get_state", "x": ' + b'{"a":' * 700 + b"1" + b"}" * 701, "not JSON"),
        (b'{"id": NaN, "type": "get_state"}', "not JSON"),
        (b'{"id": [-Infinity], "type": "get_state"}', "not JSON"),
        (b'{"id": 1e999, "type": "get_state"}', "not JSON"),
        (b" " * LONGEST_LINE + b"1", "longer than"),
    ],
)
def test_a_line_that_is_no_request_gets_no_id(caller: Caller, line: bytes, says: str) -> None:
    caller.send_raw(line)
    said = caller.response(None)
    assert not said["success"]
    assert said["error"]["code"] == "bad_request"
    assert says in said["error"]["message"]


def test_an_unknown_command_is_named(caller: Caller) -> None:
    assert caller.error("dance")["message"] == "Unknown command: dance"


def test_what_a_request_lacks_is_named(caller: Caller) -> None:
    assert "text" in caller.error("prompt")["message"]
    assert "mode" in caller.error("prompt", text="Hi", mode="sideways")["message"]
    caller.send_raw(b'{"id": 99}')
    assert "type" in caller.response(99)["error"]["message"]


def test_notes_are_indexed_and_searched(
    assistant: Assistant, server: ModelServer, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    caller = Caller(assistant)
    try:
        report = caller.ask("index")
        assert report["embedded_chunks"] == report["chunks"] > 0
        phases = [
            line["data"]["phase"] for line in caller.seen if line.get("event") == "index_progress"
        ]
        assert phases[-1] == "done"
        told = [line["data"] for line in caller.seen if line.get("event") == "index_progress"]
        assert all(before != after for before, after in pairwise(told))
        found = caller.ask("search", query="barrel", k=2)
        assert found["hits"][0]["path"] == "Watering.md"
        assert found["by"] == ["words", "meaning"]
        assert caller.ask("get_state")["vault"] == str(small_vault.resolve())
        assert caller.turn("Where is the barrel?", mode="vault")["mode"] == "vault"
    finally:
        caller.hang_up()


def test_a_question_to_a_large_folder_is_answered_while_it_is_indexed(
    assistant: Assistant,
    server: ModelServer,
    embedder: RememberingEmbedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.library.indexing.USUAL_WAIT_S", 0.0)
    monkeypatch.setattr(embedder, "goes_on", threading.Event())
    (tmp_path / "large").mkdir()
    for number in range(200):
        text = f"Row {number} grows melon{number}.\n"
        (tmp_path / "large" / f"row-{number}.md").write_text(text, "utf-8")
    assistant.open_vault(tmp_path / "large", remember=False)
    caller = Caller(assistant)
    try:
        end = caller.turn("Which row grows melon17?", mode="vault")
        assert any(
            said.endswith("of 200 notes searched by meaning, all by words.")
            for said in end["warnings"]
        )
        assert caller.ask("get_state")["indexing"]
        found = caller.ask("search", query="melon17")
        assert found["hits"][0]["path"] == "row-17.md"
        assert found["warnings"][0].endswith("searched by meaning, all by words.")
        embedder.goes_on.set()
        caller.wait_for(lambda line: line.get("data", {}).get("phase") == "done")
        assert not caller.ask("get_state")["indexing"]
        assert "warnings" not in caller.ask("search", query="melon17")
    finally:
        caller.hang_up()


def test_a_note_that_changes_meanwhile_is_found(
    assistant: Assistant, server: ModelServer, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    caller = Caller(assistant)
    try:
        caller.ask("index")
        (small_vault / "Zeppelin.md").write_text("# Zeppelin\n\nIt landed in the orchard.\n")
        caller.event("index_progress")
        assert caller.ask("search", query="zeppelin")["hits"][0]["path"] == "Zeppelin.md"
    finally:
        caller.hang_up()


def test_a_rule_that_changes_updates_the_index(assistant: Assistant, small_vault: Path) -> None:
    assistant.open_vault(small_vault, remember=False)
    caller = Caller(assistant)
    try:
        notes = caller.ask("index")["notes"]
        for rules, total in ((["Watering.md"], notes - 1), ([], notes)):
            caller.send("set_setting", key="vault.exclude", value=rules)
            told = caller.wait_for(lambda line: line.get("data", {}).get("phase") == "done")
            assert told["data"]["total"] == total
        assert caller.ask("search", query="barrel")["hits"][0]["path"] == "Watering.md"
    finally:
        caller.hang_up()


@pytest.fixture
def high_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report a busy machine from the first moment of a run on."""
    monkeypatch.setattr("vault.indexing.throttle._FREE_S", 0.0)
    monkeypatch.setattr("vault.indexing.machine_load.MachineLoad.read_reason", lambda _load: "load")


def paces(lines: Iterable[Line]) -> set[str]:
    return {line["data"]["pace"] for line in lines if line.get("event") == "index_progress"}


@pytest.mark.usefixtures("high_load")
@pytest.mark.parametrize("mode", ["vault", "agent"])
def test_a_question_that_waits_for_the_index_is_not_slowed_down_by_load(
    assistant: Assistant, server: ModelServer, small_vault: Path, mode: str
) -> None:
    assistant.open_vault(small_vault, remember=False)
    caller = Caller(assistant)
    try:
        caller.ask("index")
        for number in range(40):
            (small_vault / f"{number}.md").write_text(f"# {number}\n\nBed {number} has peas.\n")
        caller.turn("Where is the barrel?", mode=mode)
        assert paces(caller.seen) == {""}
    finally:
        caller.hang_up()


@pytest.mark.usefixtures("high_load")
def test_only_an_index_run_in_the_background_is_slowed_down_by_load(
    assistant: Assistant, small_vault: Path
) -> None:
    for number in range(40):
        (small_vault / f"{number}.md").write_text(f"# {number}\n\nBed {number} has peas.\n")
    assistant.open_vault(small_vault, remember=False)
    assert assistant.library is not None
    assistant.library.watch(lambda _report: None)
    events = list(assistant.index(CancelToken(), is_background=True))
    assert "load" in {e.progress.throttle for e in events if isinstance(e, IndexProgressed)}
    assistant.library.vault.rebuild()
    events = list(assistant.index(CancelToken()))
    assert {e.progress.throttle for e in events if isinstance(e, IndexProgressed)} == {""}


def test_an_edit_and_another_answer_are_siblings(caller: Caller) -> None:
    first = caller.turn("Where is the barrel?")
    entries = caller.ask("get_entries")["entries"]
    asked = next(entry for entry in entries if entry.get("role") == "user")
    caller.ask("edit", entry=asked["id"], text="Where is the red box?")
    edited = caller.event("turn_end")["data"]
    turn = caller.ask("regenerate", entry=edited["entry"])["turn"]
    again = caller.event("turn_end")["data"]
    assert turn == again["turn"] == edited["turn"]
    assert len({first["entry"], edited["entry"], again["entry"]}) == 3
    caller.ask("select_leaf", entry=first["entry"])
    path = caller.ask("get_entries", path_only=True)["entries"]
    assert first["entry"] in [entry["id"] for entry in path]
    assert again["entry"] not in [entry["id"] for entry in path]
    assert caller.error("regenerate", entry="ffffffff")["code"] == "not_found"


def test_without_an_open_chat_nothing_is_edited_or_answered_again(caller: Caller) -> None:
    for request in ({"type": "edit", "text": "Why?"}, {"type": "regenerate"}):
        error = caller.error(**request, entry="ffffffff")
        assert (error["code"], error["message"]) == ("not_found", "No chat is open.")
        assert error["hint"]


def test_the_end_of_input_stops_the_turn_and_keeps_what_has_arrived(
    assistant: Assistant, server: ModelServer
) -> None:
    server.script(Answer("One two three four.", stall_after=2))
    caller = Caller(assistant)
    session = caller.ask("prompt", text="Go on.", mode="chat")["session"]
    caller.event("text_delta")
    caller.hang_up()
    kept = assistant.sessions.read(session).path()[-1].to_dict()
    assert kept["status"] == "interrupted"


def test_a_shutdown_is_confirmed_once_everything_is_saved(
    assistant: Assistant, server: ModelServer
) -> None:
    server.script(Answer("One two three four.", stall_after=2))
    caller = Caller(assistant)
    caller.ask("prompt", text="Go on.", mode="chat")
    caller.event("text_delta")
    caller.ask("shutdown")
    assert any(line.get("event") == "turn_end" for line in caller.seen)
    caller.hang_up()


def test_a_chat_is_compacted_but_for_its_last_turn(caller: Caller, server: ModelServer) -> None:
    assert caller.error("compact", session="nothere")["code"] == "session_missing"
    server.script(Answer("The barrel stands behind the shed, as ever. " * 20))
    for number in range(3):
        caller.turn(f"Question {number}?")
    server.script(Answer("Barrel: behind the shed."))
    told = caller.ask("compact", customInstructions="Keep the barrel.")
    assert told["by"] == "model"
    assert told["after_tokens"] < told["before_tokens"]
    assert "Keep the barrel." in json.dumps(server.bodies[-1])
    caller.turn("And now?")
    assert "Barrel: behind the shed." in json.dumps(server.bodies[-1])


def test_a_compaction_that_is_aborted_leaves_the_chat_as_it_was(
    caller: Caller, server: ModelServer
) -> None:
    for number in range(3):
        caller.turn(f"Question {number}?")
    before = caller.ask("get_entries")["entries"]
    server.script(Answer("Barrel: behind the shed.", stall_after=2))
    id = caller.send("compact")
    assert caller.ask("get_state")["busy"]
    assert caller.error("prompt", text="And?")["code"] == "busy"
    caller.send("abort")
    assert caller.response(id)["error"]["code"] == "cancelled"
    assert caller.ask("get_entries")["entries"] == before


def test_compaction_without_being_asked_can_be_switched_off(
    caller: Caller, assistant: Assistant
) -> None:
    assert caller.ask("get_state")["auto_compaction"]
    assert caller.ask("set_auto_compaction", enabled=False) == {"enabled": False}
    assert not caller.ask("get_state")["auto_compaction"]
    assert assistant.settings.get("context.autoCompact") is False


def summarising(body: Line) -> Answer:
    """Answer at length, and sum up in a few words where the last message wants that."""
    return Answer(
        "Barrel. " if "remembered" in str(body["messages"][-1]) else "A can of water. " * 90
    )


def test_a_compaction_within_a_turn_is_told(caller: Caller, server: ModelServer) -> None:
    caller.ask("set_setting", key="autoCompactThreshold", value=4_000)
    server.script(summarising)
    for number in range(10):
        caller.turn(f"Question {number}?")
    begun = [line for line in caller.seen if line.get("event") == "auto_compaction_start"]
    ended = [line["data"] for line in caller.seen if line.get("event") == "auto_compaction_end"]
    assert len(begun) == len(ended) >= 1
    assert all(result["after_tokens"] < result["before_tokens"] for result in ended)


def test_a_chat_without_a_name_is_missing(caller: Caller) -> None:
    caller.turn("Where is the barrel?")
    assert caller.error("prompt", text="And the can?", session="")["code"] == "session_missing"


def test_the_context_of_an_earlier_answer_is_told(caller: Caller) -> None:
    first = caller.turn("Where is the barrel?")
    caller.turn("And the can?")
    shown = caller.ask("get_context", entry=first["entry"], format="full")["context"]
    assert shown["request_body"]["messages"][-1]["content"] == "Where is the barrel?"
    assert caller.error("get_context", entry="ffffffff")["code"] == "not_found"
    assert caller.error("get_context", entry=first["entry"], when="next")["code"] == "bad_request"


def test_a_message_is_pinned_within_the_share_of_pins(caller: Caller) -> None:
    caller.ask("set_setting", key="autoCompactThreshold", value=4_000)
    caller.turn("Keep this in mind.")
    caller.turn("A can of water. " * 300)
    asked = [e["id"] for e in caller.ask("get_entries")["entries"] if e.get("role") == "user"]
    assert caller.ask("pin", target=asked[0], on=True) == {"target": asked[0], "on": True}
    pins = caller.ask("get_context", when="next")["context"]["pins"]
    assert [pin["target"] for pin in pins] == [asked[0]]
    assert caller.error("pin", target=asked[1], on=True)["code"] == "bad_request"
    assert caller.error("pin", target="ffffffff", on=True)["code"] == "not_found"
    assert caller.ask("pin", target=asked[0], on=False)["on"] is False


def test_a_message_of_a_program_is_stored_and_read_by_the_model(
    caller: Caller, server: ModelServer
) -> None:
    caller.turn("Where is the barrel?")
    said = caller.ask("send_message", custom_type="weather", content="It rains.", display=False)
    caller.turn("And now?")
    entries = caller.ask("get_entries", path_only=True)["entries"]
    (stored,) = (entry for entry in entries if entry["type"] == "custom_message")
    assert stored["id"] == said["entry"]
    assert (stored["customType"], stored["content"]) == ("weather", "It rains.")
    assert stored["display"] is False
    assert "It rains." in json.dumps(server.bodies[-1]["messages"])


def test_a_message_of_a_program_is_sent_with_the_field_names_of_its_entry(caller: Caller) -> None:
    caller.ask("new_session")
    display = {"title": "Weather"}
    caller.ask("send_message", customType="weather", content="It rains.", display=display)
    (stored,) = caller.ask("get_entries")["entries"]
    assert (stored["customType"], stored["display"]) == ("weather", display)


def test_a_message_of_a_program_may_begin_a_chat(caller: Caller) -> None:
    session = caller.ask("new_session")["session"]
    parts = [{"type": "text", "text": "It rains."}]
    caller.ask("send_message", custom_type="weather", content=parts)
    assert caller.turn("And now?")["session"] == session


@pytest.mark.parametrize(
    "content",
    ["", " \n", [], [{"type": "song"}], [{"type": "tool_call", "id": "1", "name": "x"}], 7],
)
def test_a_message_that_no_user_could_have_sent_is_refused(caller: Caller, content: Any) -> None:
    session = caller.turn("Where is the barrel?")["session"]
    error = caller.error("send_message", session=session, custom_type="weather", content=content)
    assert error["code"] == "bad_request"


def test_a_message_for_a_chat_that_answers_is_busy(caller: Caller, server: ModelServer) -> None:
    server.script(Answer("One two three four.", stall_after=2))
    caller.ask("prompt", text="Go on.")
    entry = caller.event("message_end")["data"]["entry"]
    assert caller.error("send_message", custom_type="x", content="y")["code"] == "busy"
    assert caller.error("label", target=entry, label="y")["code"] == "busy"
    caller.ask("abort")
    caller.event("turn_end")


def test_an_entry_is_given_a_name(caller: Caller) -> None:
    end = caller.turn("Where is the barrel?")
    said = caller.ask("label", target=end["entry"], label=" the\ngood one ")
    caller.ask("label", session=end["session"], target=end["entry"], label="")
    labels = [
        (entry["id"], entry["target"], entry["label"])
        for entry in caller.ask("get_entries")["entries"]
        if entry["type"] == "label"
    ]
    assert labels[0] == (said["entry"], end["entry"], "the good one")
    assert labels[1][1:] == (end["entry"], None)
    assert caller.error("label", target="ffffffff", label="x")["code"] == "not_found"


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_prompt_without_a_word_is_refused(
    caller: Caller, assistant: Assistant, text: str
) -> None:
    assert caller.error("prompt", text=text)["code"] == "bad_request"
    session = caller.turn("Where is the barrel?")["session"]
    entry = caller.ask("get_entries")["entries"][0]["id"]
    assert caller.error("edit", entry=entry, text=text)["code"] == "bad_request"
    assert [info.session for info in assistant.list_sessions()] == [session]
    assert caller.turn("And now?")["session"] == session


def test_what_cannot_be_accepted_is_refused_and_begins_no_turn(caller: Caller) -> None:
    session = caller.turn("Where is the barrel?")["session"]
    assert caller.error("prompt", text="And?", attach=["nowhere.md"])["code"] == "not_found"
    assert caller.error("prompt", text="And?", parent="ffffffff")["code"] == "not_found"
    assert caller.error("regenerate", entry="ffffffff")["code"] == "not_found"
    assert caller.error("edit", entry="ffffffff", text="And?")["code"] == "not_found"
    assert not caller.ask("get_state")["busy"]
    assert caller.turn("And now?")["session"] == session
    ended = [line for line in caller.seen if line.get("event") == "turn_end"]
    assert len(ended) == 2
