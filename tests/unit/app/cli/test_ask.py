"""`strata ask`: answers, chats, attachments, failures."""

import io
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, Failure, ModelServer
from tests.support.processes.command_line import Strata, document


def test_an_answer_streams_as_text_and_says_which_chat_it_is(ask: Strata) -> None:
    code, out, err = ask("How much?")
    assert (code, err) == (0, "")
    assert out.startswith("The barrel holds 210 litres.\n\nChat ")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer("This was cut", finish="length"), "strata: The answer stops at its limit of "),
        (Answer("This was cut, and then", break_after=3), "strata: "),
    ],
)
def test_what_is_said_of_an_answer_begins_its_own_line(
    ask: Strata, model: ModelServer, answer: Answer, said: str
) -> None:
    model.script(answer)
    _, out, err = ask("How much?")
    assert out.startswith("This was")
    assert err.startswith(f"\n{said}"), "a terminal shows it after the text, which has not ended"
    assert "\n\n" not in err


def test_an_answer_is_one_document_with_every_field(ask: Strata, model: ModelServer) -> None:
    code, out, _ = ask("How much?", "--json")
    result = document(out)
    assert code == 0
    assert list(result) == [
        "session",
        "turn",
        "entry",
        "mode",
        "answer",
        "kind",
        "status",
        "citations",
        "unverified",
        "claims",
        "tools",
        "model",
        "usage",
        "warnings",
        "context",
    ]
    assert result["answer"] == "The barrel holds 210 litres."
    assert result["context"]["session"] == result["session"]
    assert model.bodies[0]["messages"][-1]["content"] == "How much?"


def test_a_chat_goes_on(ask: Strata, strata: Strata, model: ModelServer) -> None:
    session = document(ask("First?", "--json")[1])["session"]
    assert document(ask("Second?", "--json", "--session", session)[1])["session"] == session
    assert [message["role"] for message in model.bodies[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    _, out, _ = strata("sessions", "list", "--json")
    (info,) = document(out)["sessions"]
    assert set(info) == {
        *("session", "title", "created", "updated", "vault", "project", "turns"),
        *("pinned", "archived"),
    }
    assert (info["title"], info["turns"]) == ("First?", 2)


def test_a_chat_is_shown_raw_and_as_text(ask: Strata, strata: Strata) -> None:
    result = document(ask("First?", "--json")[1])
    _, out, _ = strata("sessions", "show", result["session"], "--json")
    shown = document(out)
    assert shown["session"] == result["session"]
    assert [entry["type"] for entry in shown["entries"]] == ["message", "message", "usage"]
    assert shown["leaf"] == result["entry"]
    assert shown["claims"] == [{"entry": result["entry"], **result["claims"]}]
    _, out, _ = strata("sessions", "show", result["session"])
    assert "First?" in out
    assert "The barrel holds 210 litres." in out


def test_a_question_comes_from_standard_input(
    ask: Strata, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("Wie groß?\n".encode())))
    assert ask("-")[0] == 0
    assert model.bodies[0]["messages"][-1]["content"] == "Wie groß?"


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_a_bad_request(ask: Strata, question: str) -> None:
    code, out, _ = ask(question, "--json")
    error = document(out)["error"]
    assert (code, error["code"], error["session"]) == (1, "bad_request", None)


def test_a_damaged_line_of_a_chat_is_among_the_warnings(ask: Strata, strata_home: Path) -> None:
    session = document(ask("First?", "--json")[1])["session"]
    file = strata_home / "data" / "sessions" / f"{session}.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b"{broken\n", b"[]\n", *lines[2:]]))
    (said,) = document(ask("Second?", "--session", session, "--json")[1])["warnings"]
    assert said == (
        f"The file of the chat {session} is damaged: Line 3 cannot be read and is skipped. "
        f"`strata sessions show {session}` lists 1 more."
    )
    assert "Line 3 cannot be read" in ask("Third?", "--session", session)[2]


def test_a_dry_run_sends_and_stores_nothing(
    ask: Strata, strata: Strata, model: ModelServer, strata_home: Path
) -> None:
    code, out, _ = ask("First?", "--dry-run", "--json")
    result = document(out)
    assert code == 0
    assert (result["session"], result["turn"], result["entry"]) == (None, None, None)
    assert (result["answer"], result["context"]["when"]) == ("", "next")
    assert model.bodies == []
    assert document(strata("ledger", "--json")[1]) == {"calls": []}  # nor asks for its limit
    assert not list(strata_home.rglob("*.jsonl"))


def test_a_failed_turn_names_its_chat_which_goes_on(ask: Strata, model: ModelServer) -> None:
    model.script(Failure.saying(401, "Incorrect API key provided"), Answer("Back again."))
    code, out, _ = ask("First?", "--json")
    error = document(out)["error"]
    assert (code, error["code"]) == (1, "missing_key")
    assert document(ask("Again?", "--json", "--session", error["session"])[1])["answer"] == (
        "Back again."
    )


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Failure.saying(403, "This key may not do that"), "missing_key"),
        (Failure.saying(404, "The model does not exist"), "bad_request"),
        (Failure.saying(400, "something is wrong"), "bad_request"),
        (Failure.saying(429, "slow down", Retry_After="300"), "rate_limited"),
    ],
)
def test_a_server_that_refuses_is_one_document_with_its_code(
    ask: Strata, model: ModelServer, reply: Failure, code: str
) -> None:
    model.script(reply)
    exit_code, out, err = ask("Is anybody there?", "--json")
    error = document(out)["error"]
    assert (exit_code, error["code"], err) == (1, code, "")
    assert error["message"]
    assert error["session"]


def test_offline_calls_nobody_but_this_computer(ask: Strata, strata: Strata) -> None:
    offline = ("--set", "privacy.offline=true")
    away = ("ask", "x", "--mode", "chat", "--set", "chat.model=gpt-4o", "--json")
    code, out, _ = strata(*away, *offline)
    assert (code, document(out)["error"]["code"]) == (1, "offline")
    assert ask("x", *offline)[0] == 0


def test_a_key_that_a_service_repeats_is_written_nowhere(
    ask: Strata, model: ModelServer, strata_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-never-to-be-seen-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    model.script(Failure.saying(400, f"bad request with {key}"))
    assert ask("x", "--json")[0] == 1
    files = [path for path in strata_home.rglob("*") if path.is_file()]
    assert files
    assert not any(key.encode() in path.read_bytes() for path in files)


def test_a_failure_without_json_is_a_sentence_on_standard_error(
    ask: Strata, model: ModelServer
) -> None:
    model.script(Failure.saying(401, "Incorrect API key provided"))
    code, out, err = ask("First?")
    assert (code, out) == (1, "")
    assert err.startswith("strata: ")
    assert "key" in err


def test_a_question_over_the_budget_shows_the_layers_and_the_chat_stays_empty(
    ask: Strata, strata: Strata, model: ModelServer
) -> None:
    question = "word " * 40_000
    code, out, _ = ask(question, "--json", "--set", "autoCompactThreshold=16000")
    error = document(out)["error"]
    assert (code, error["code"]) == (1, "context_overflow")
    assert error["context"]["layers"]["L5"]["tokens"] > error["context"]["budget"]
    code, out, err = ask(question, "--set", "autoCompactThreshold=16000")
    assert (code, out) == (1, "")
    assert "- L5 message: ~" in err
    assert model.bodies == []
    listed = document(strata("sessions", "list", "--json")[1])["sessions"]
    assert error["session"] in [chat["session"] for chat in listed]
    assert [chat["turns"] for chat in listed] == [0, 0]
    shown = document(strata("sessions", "show", error["session"], "--json")[1])
    assert shown["leaf"] is None  # the path is empty; the log keeps what was asked
    assert [entry["type"] for entry in shown["entries"]] == ["message", "leaf"]


def test_no_folder_is_vault_missing_with_a_way_out(strata: Strata) -> None:
    unset = (["index", ""], ["search", "x", "--vault", ""], ["ask", "x", "--vault", ""])
    for argv in (*unset, ["index"], ["search", "x"], ["ask", "x"], ["instructions", "show"]):
        code, out, _ = strata(*argv, "--json")
        error = document(out)["error"]
        assert (code, error["code"]) == (1, "vault_missing")
        assert error["message"] == "No folder of notes is chosen."
        assert "--vault" in error["hint"]
        assert "vault.path" in error["hint"]


def test_a_question_without_notes_fails_as_a_turn(strata: Strata) -> None:
    error = document(strata("ask", "x", "--json")[1])["error"]
    assert list(error) == ["code", "message", "hint", "context", "session"]
    error = document(strata("ask", "x", "--session", "nothere", "--json")[1])["error"]
    assert (error["code"], error["session"]) == ("session_missing", None)


def test_a_chat_goes_on_in_its_own_folder(
    strata: Strata, strata_home: Path, small_vault: Path
) -> None:
    vault = ("--vault", str(small_vault))
    session = document(strata("ask", "barrel", *vault, "--json")[1])["session"]
    again = document(strata("ask", "barrel", "--no-index", "--session", session, "--json")[1])
    assert again["citations"]
    text = strata("ask", "barrel", "--no-index", "--session", session)[1]
    assert f"Watering.md:{again['citations'][0]['lines'][0]}" in text
    small_vault.rename(small_vault.with_name("moved"))
    error = document(strata("ask", "barrel", "--session", session, "--json")[1])["error"]
    assert (error["code"], error["session"]) == ("vault_missing", session)


def test_a_folder_that_is_none_is_vault_missing(strata: Strata, tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("# x")
    for name in ("nothere", "file.md"):
        code, out, _ = strata("index", str(tmp_path / name), "--json")
        assert (code, document(out)["error"]["code"]) == (1, "vault_missing")
        assert name in document(out)["error"]["message"]


def test_a_project_that_is_not_there_is_not_found(strata: Strata, small_vault: Path) -> None:
    vault = ("--vault", str(small_vault), "--project", "Nowhere", "--json")
    for argv in (["ask", "x"], ["ask", "x", "--mode", "project"], ["search", "x"]):
        code, out, _ = strata(*argv, *vault)
        error = document(out)["error"]
        assert (code, error["code"]) == (1, "not_found")
        assert "Nowhere" in error["message"]
        assert error["hint"]


def test_control_characters_of_a_model_do_not_reach_the_terminal(
    ask: Strata, model: ModelServer
) -> None:
    model.script(Answer("red \x1b[31m bell \x07 c1 \x9b tab\tline\nend"))
    _, out, _ = ask("x")
    assert "red \\x1b[31m bell \\x07 c1 \\x9b tab\tline\nend" in out


def test_control_characters_stay_whole_in_json(ask: Strata, model: ModelServer) -> None:
    model.script(Answer("red \x1b[31m"))
    assert document(ask("x", "--json")[1])["answer"] == "red \x1b[31m"


def test_attachments_and_selections_are_sent_along(
    ask: Strata, model: ModelServer, small_vault: Path
) -> None:
    vault = str(small_vault)
    code, output, _ = ask(
        *("Why?", "--vault", vault, "--attach", "Watering.md"),
        *("--selection", "Welcome.md:6-6", "--json"),
    )
    assert code == 0
    segments = document(output)["context"]["segments"]
    assert [(s["kind"], s["source"], s["lines"]) for s in segments][:2] == [
        ("note", "Watering.md", [1, 9]),
        ("selection", "Welcome.md", [6, 6]),
    ]
    assert 'lines="6-6"' in model.bodies[0]["messages"][-1]["content"][0]["text"]


def test_selected_lines_of_an_attached_note_are_sent_once(
    ask: Strata, model: ModelServer, small_vault: Path
) -> None:
    code, output, _ = ask(
        *("Why?", "--vault", str(small_vault), "--attach", "Watering.md", "--mode", "chat"),
        *("--selection", "Watering.md:1-1", "--json"),
    )
    done = document(output)
    assert code == 0
    assert [(s["kind"], s["lines"]) for s in done["context"]["segments"]] == [("note", [1, 9])]
    assert (
        "Line 1 of Watering.md is sent once: the whole note is attached too." in (done["warnings"])
    )
    assert str(model.bodies[0]).count("# Watering") == 1


@pytest.mark.parametrize("lines", ["Watering.md", "Watering.md:0-1", "Watering.md:4-2", ":1-2"])
def test_a_selection_that_is_none_is_misuse(ask: Strata, lines: str) -> None:
    code, output, error = ask("Why?", "--selection", lines)
    assert (code, output) == (2, "")
    assert "is not FILE:A-B" in error


def test_a_question_goes_on_from_an_earlier_entry(
    ask: Strata, strata: Strata, model: ModelServer
) -> None:
    first = document(ask("First?", "--json")[1])
    ask("Second?", "--json", "--session", first["session"])
    place = ("--session", first["session"], "--parent", first["entry"])
    other = document(ask("Other?", "--json", *place)[1])
    assert [m["content"] for m in model.bodies[2]["messages"][1::2]] == ["First?", "Other?"]
    _, out, _ = strata("sessions", "show", other["session"])
    assert "Second?" not in out
    assert "‹ 2/2 ›" in out
    code, out, _ = ask("Lost?", "--json", "--session", first["session"], "--parent", "ffffffff")
    assert (code, document(out)["error"]["code"]) == (1, "not_found")


@pytest.mark.parametrize("named", [(), ("--session", "12ab34cd")])
def test_a_question_that_the_settings_stop_fails_like_any_other_turn(
    strata: Strata, named: tuple[str, ...]
) -> None:
    bad = ("--set", "chat.apiBase=nowhere", *named)
    code, out, _ = strata("ask", "Why?", "--mode", "chat", *bad, "--json")
    error = document(out)["error"]
    assert (code, error["code"]) == (1, "bad_setting")
    assert set(error) == {"code", "message", "hint", "context", "session"}
    assert error["session"] == (named[1] if named else None)


def test_a_new_chat_has_no_earlier_entry_to_go_on_from(ask: Strata, strata: Strata) -> None:
    code, out, _ = ask("Lost?", "--json", "--parent", "ffffffff")
    error = document(out)["error"]
    assert (code, error["code"], error["session"]) == (1, "not_found", None)
    assert "sessions show" not in error["hint"]  # there is no such chat
    assert document(strata("sessions", "list", "--json")[1])["sessions"] == []


def test_a_copy_ends_where_it_is_told_to(ask: Strata, strata: Strata) -> None:
    first = document(ask("First?", "--json")[1])
    ask("Second?", "--json", "--session", first["session"])
    _, out, _ = strata("sessions", "fork", first["session"], "--at", first["entry"], "--json")
    copy = document(out)
    assert copy["branchedFrom"] == first["session"]
    shown = document(strata("sessions", "show", copy["session"], "--json")[1])
    assert shown["leaf"] == first["entry"]
    assert shown["problems"] == []


@pytest.mark.parametrize("verb", ["ask", "search"])
def test_a_folder_without_notes_is_named_as_the_reason(
    strata: Strata, tmp_path: Path, verb: str
) -> None:
    (tmp_path / "notes" / "project").mkdir(parents=True)
    strata("index", str(tmp_path / "notes"))
    code, out, _ = strata(verb, "the barrel", "--vault", str(tmp_path / "notes"))
    assert code == 0
    assert "here are no notes to search in this folder. Add notes to it" in out
    assert "other words" not in out
    assert "fewer words" not in out


def test_a_project_without_notes_is_named_as_the_reason(strata: Strata, tmp_path: Path) -> None:
    (tmp_path / "notes" / "project").mkdir(parents=True)
    (tmp_path / "notes" / "Shed.md").write_text("The barrel is behind the shed.", "utf-8")
    folder = ("--vault", str(tmp_path / "notes"))
    assert "no notes to search" in strata("ask", "barrel", *folder, "--project", "project")[1]
    assert "no notes to search" not in strata("ask", "unicorns", *folder)[1]
