import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from app.cli.interrupt import Interruptible
from app.cli.parser import build_parser, run
from app.cli.progress import ProgressLine, format_progress
from app.startup import Startup
from tests.support.models.model_server import Answer, Failure, ModelServer
from vault.indexing.indexer import IndexProgress

HEAVY = [
    "PySide6",
    "torch",
    "chromadb",
    "litellm",
    "tiktoken",
    "numpy",
    "pydantic",
    "keyring",
    "tomlkit",
    "httpx",
    "sqlite3",
    "sentence_transformers",
    "platformdirs",
]


def no_window(_assistant: Assistant) -> int:
    raise AssertionError("no window was asked for")


@pytest.fixture
def strata(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process: exit code, standard output, standard error."""

    def call(*argv: str) -> tuple[int, str, str]:
        try:
            code = run(argv, no_window)
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        return (code, *capsys.readouterr())

    return call


Strata = Callable[..., tuple[int, str, str]]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(Answer("The barrel holds 210 litres.")) as server:
        yield server


@pytest.fixture
def ask(strata: Strata, server: ModelServer) -> Strata:
    """Ask the scripted server, without notes."""

    def call(*argv: str) -> tuple[int, str, str]:
        return strata(
            *("ask", "--mode", "chat", "--set", f"chat.apiBase={server.url}"),
            *("--set", "chat.model=gpt-4o", *argv),
        )

    return call


def document(output: str) -> Any:
    """Read the one document on standard output."""
    found, end = json.JSONDecoder().raw_decode(output)
    assert output[end:].strip() == ""
    return found


def test_the_version_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom app.__main__ import main\nsys.argv = ['strata', '--version']\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    version, loaded = done.stdout.splitlines()
    assert version.startswith("strata 0.")
    assert loaded == "[]"


@pytest.mark.parametrize(
    "argv",
    [
        ["nonsense"],
        ["ask"],
        ["ask", "a", "b"],
        ["ask", "x", "--mode", "folder"],
        ["ask", "x", "--mod", "chat"],
        ["search", "x", "-k", "0"],
        ["search", "x", "-k", "many"],
        ["settings"],
        ["settings", "get"],
        ["sessions", "show"],
        ["context", "--last", "--next"],
        ["--set", "novalue", "doctor"],
        ["ask", "x", "--json", "--approve", "y"],
    ],
)
def test_misuse_is_two_with_usage_on_standard_error(strata: Strata, argv: list[str]) -> None:
    code, out, err = strata(*argv)
    assert (code, out) == (2, "")
    assert err.startswith("usage: strata")


def test_the_mode_project_without_a_project_is_refused_with_a_hint(strata: Strata) -> None:
    code, out, _ = strata("ask", "x", "--mode", "project", "--json")
    error = json.loads(out)["error"]
    assert (code, error["code"]) == (1, "bad_request")
    assert "--project" in error["hint"]


@pytest.mark.parametrize(
    "argv",
    [
        ["--set", "retrieval.topK=3", "settings", "get", "retrieval.topK", "--json"],
        ["settings", "get", "retrieval.topK", "--json", "--set", "retrieval.topK=3"],
        ["settings", "--set", "retrieval.topK=3", "get", "retrieval.topK", "--json"],
        [
            *("--set", "retrieval.topK=9", "settings", "get", "retrieval.topK", "--json"),
            *("--set", "retrieval.topK=3"),
        ],
    ],
)
def test_a_setting_for_this_run_stands_before_or_after_the_verb(
    strata: Strata, argv: list[str]
) -> None:
    code, out, _ = strata(*argv)
    assert (code, document(out)) == (0, {"key": "retrieval.topK", "value": 3})


@pytest.mark.parametrize("argv", [["--vault", "/v", "doctor"], ["doctor", "--vault", "/v"]])
def test_the_folder_stands_before_or_after_the_verb(argv: list[str]) -> None:
    assert build_parser().parse_args(argv).vault == "/v"


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("chat.model=gpt-4o", "gpt-4o"),
        ('chat.model="2024"', "2024"),
        ("chat.model=a=b", "a=b"),
        ("privacy.offline=true", True),
        ('vault.exclude=["a/", "b"]', ["a/", "b"]),
        ("chat.temperature=1", 1),
    ],
)
def test_a_value_is_json_or_else_text(strata: Strata, typed: str, value: object) -> None:
    _, out, _ = strata("settings", "get", typed.partition("=")[0], "--json", "--set", typed)
    assert document(out)["value"] == value


@pytest.mark.parametrize("typed", ["autoCompactThreshold=3999", "autoCompactThreshold=x", "no=1"])
def test_a_bad_setting_for_this_run_is_one_document_and_one(strata: Strata, typed: str) -> None:
    code, out, err = strata("sessions", "list", "--json", "--set", typed)
    assert code == 1
    assert document(out)["error"]["code"] == "bad_setting"
    assert err == ""


def test_a_share_of_the_budget_out_of_order_is_refused(strata: Strata) -> None:
    code, out, _ = strata("settings", "set", "context.compactAt", "0.5", "--json")
    assert (code, document(out)["error"]["code"]) == (1, "bad_setting")
    assert "context.trimAt (0.8)" in document(out)["error"]["message"]
    one, other = "context.compactAt=0.5", "context.trimAt=0.4"
    assert strata("settings", "list", "--json", "--set", one)[0] == 1
    for given in ((one, other), (other, one)):
        options = [word for pair in given for word in ("--set", pair)]
        assert strata("settings", "list", "--json", *options)[0] == 0


def test_settings_are_listed_set_and_read_again(strata: Strata, strata_home: Path) -> None:
    code, out, _ = strata("settings", "set", "autoCompactThreshold", "32000", "--json")
    assert (code, document(out)) == (0, {"key": "autoCompactThreshold", "value": 32_000})
    _, out, _ = strata("settings", "list", "--json")
    listed = {item["key"]: item for item in document(out)["settings"]}
    assert set(listed["autoCompactThreshold"]) == {"key", "value", "default", "source", "help"}
    assert listed["autoCompactThreshold"]["source"] == "file"
    _, out, _ = strata("settings", "path", "--json")
    assert document(out) == {"path": str(strata_home / "config" / "settings.toml")}


def test_settings_without_json_are_text_for_a_person(strata: Strata) -> None:
    _, out, _ = strata("settings", "list")
    assert "autoCompactThreshold = 128000  (default)" in out
    _, out, _ = strata("settings", "get", "chat.model")
    assert out == "extractive\n"


def test_keys_that_are_not_known_are_reported_beside_the_document(
    strata: Strata, strata_home: Path
) -> None:
    (strata_home / "config").mkdir(parents=True)
    (strata_home / "config" / "settings.toml").write_text("[agents]\nmaxSteps = 3\n")
    code, out, err = strata("settings", "list", "--json")
    assert code == 0
    assert document(out)["settings"]
    assert "agents.maxSteps" in err


def test_a_damaged_settings_file_stops_all_but_what_mends_it(
    strata: Strata, strata_home: Path
) -> None:
    (strata_home / "config").mkdir(parents=True)
    file = strata_home / "config" / "settings.toml"
    file.write_text("autoCompactThreshold = 8000\n[vault\n")
    code, out, _ = strata("sessions", "list", "--json")
    assert code == 1
    error = document(out)["error"]
    assert error["code"] == "bad_setting"
    assert "line 2" in error["message"]
    assert strata("settings", "path")[0] == 0
    assert file.read_text() == "autoCompactThreshold = 8000\n[vault\n"


def test_an_answer_streams_as_text_and_says_which_chat_it_is(ask: Strata) -> None:
    code, out, err = ask("How much?")
    assert (code, err) == (0, "")
    assert out.startswith("The barrel holds 210 litres.\n\nChat ")


def test_an_answer_is_one_document_with_every_field(ask: Strata, server: ModelServer) -> None:
    code, out, _ = ask("How much?", "--json")
    result = document(out)
    assert code == 0
    assert list(result) == [
        "session",
        "turn",
        "entry",
        "mode",
        "answer",
        "status",
        "citations",
        "unverified",
        "tools",
        "model",
        "usage",
        "warnings",
        "context",
    ]
    assert result["answer"] == "The barrel holds 210 litres."
    assert result["context"]["session"] == result["session"]
    assert server.bodies[0]["messages"][-1]["content"] == "How much?"


def test_a_chat_goes_on(ask: Strata, strata: Strata, server: ModelServer) -> None:
    session = document(ask("First?", "--json")[1])["session"]
    assert document(ask("Second?", "--json", "--session", session)[1])["session"] == session
    assert [message["role"] for message in server.bodies[1]["messages"]] == [
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
    _, out, _ = strata("sessions", "show", result["session"])
    assert "First?" in out
    assert "The barrel holds 210 litres." in out


def test_a_question_comes_from_standard_input(
    ask: Strata, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("Wie groß?\n".encode())))
    assert ask("-")[0] == 0
    assert server.bodies[0]["messages"][-1]["content"] == "Wie groß?"


@pytest.mark.parametrize("question", ["", "  \n"])
def test_an_empty_question_is_a_bad_request(ask: Strata, question: str) -> None:
    code, out, _ = ask(question, "--json")
    error = document(out)["error"]
    assert (code, error["code"], error["session"]) == (1, "bad_request", None)


def test_a_dry_run_sends_and_stores_nothing(
    ask: Strata, server: ModelServer, strata_home: Path
) -> None:
    code, out, _ = ask("First?", "--dry-run", "--json")
    result = document(out)
    assert code == 0
    assert (result["session"], result["turn"], result["entry"]) == (None, None, None)
    assert (result["answer"], result["context"]["when"]) == ("", "next")
    assert server.bodies == []
    assert not list(strata_home.rglob("*.jsonl"))


def test_a_failed_turn_names_its_chat_which_goes_on(ask: Strata, server: ModelServer) -> None:
    server.script(Failure.saying(401, "Incorrect API key provided"), Answer("Back again."))
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
    ask: Strata, server: ModelServer, reply: Failure, code: str
) -> None:
    server.script(reply)
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
    ask: Strata, server: ModelServer, strata_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-never-to-be-seen-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server.script(Failure.saying(400, f"bad request with {key}"))
    assert ask("x", "--json")[0] == 1
    files = [path for path in strata_home.rglob("*") if path.is_file()]
    assert files
    assert not any(key.encode() in path.read_bytes() for path in files)


def test_a_failure_without_json_is_a_sentence_on_standard_error(
    ask: Strata, server: ModelServer
) -> None:
    server.script(Failure.saying(401, "Incorrect API key provided"))
    code, out, err = ask("First?")
    assert (code, out) == (1, "")
    assert err.startswith("strata: ")
    assert "key" in err


def test_a_question_over_the_budget_shows_the_layers_and_the_chat_stays_empty(
    ask: Strata, strata: Strata, server: ModelServer
) -> None:
    question = "word " * 40_000
    code, out, _ = ask(question, "--json", "--set", "autoCompactThreshold=16000")
    error = document(out)["error"]
    assert (code, error["code"]) == (1, "context_overflow")
    assert error["context"]["layers"]["L5"]["tokens"] > error["context"]["budget"]
    code, out, err = ask(question, "--set", "autoCompactThreshold=16000")
    assert (code, out) == (1, "")
    assert "- L5 message: ~" in err
    assert server.bodies == []
    listed = document(strata("sessions", "list", "--json")[1])["sessions"]
    assert error["session"] in [chat["session"] for chat in listed]
    assert [chat["turns"] for chat in listed] == [0, 0]
    shown = document(strata("sessions", "show", error["session"], "--json")[1])
    assert shown["leaf"] is None  # the path is empty; the log keeps what was asked
    assert [entry["type"] for entry in shown["entries"]] == ["message", "leaf"]


def test_the_last_request_is_shown_as_table_in_full_and_as_json(
    ask: Strata, strata: Strata
) -> None:
    result = document(ask("First?", "--json")[1])
    code, out, _ = strata("context")
    assert code == 0
    assert out.startswith("# Context Usage")
    assert "# Context Envelope" in strata("context", "--full")[1]
    shown = document(strata("context", "--last", "--full", "--json")[1])
    assert shown["used"] == result["context"]["used"]
    assert shown["rebuilt"] is False
    assert shown["request_body"]["messages"][-1]["content"] == "First?"
    assert shown["wire"]["messages"][-1]["content"] == "First?"


def test_a_request_that_is_not_kept_any_more_is_rebuilt_and_says_so(
    ask: Strata, strata: Strata, strata_home: Path
) -> None:
    first = document(ask("First?", "--json")[1])
    (strata_home / "state" / "state.db").unlink()
    shown = document(strata("context", "--full", "--json")[1])
    assert (shown["rebuilt"], shown["when"], shown["wire"]) == (True, "last", None)
    assert shown["used"] == first["context"]["used"]
    assert shown["request_body"]["messages"][-1]["content"] == "First?"
    assert strata("context")[1].startswith("(rebuilt")


def test_the_next_request_holds_the_chat_so_far(ask: Strata, strata: Strata) -> None:
    document(ask("First?", "--json")[1])
    shown = document(strata("context", "--next", "--json")[1])
    assert (shown["when"], shown["layers"]["L4"]["items"]) == ("next", 1)


def test_before_the_first_chat_there_is_a_next_request_and_no_last(strata: Strata) -> None:
    code, out, _ = strata("context", "--json")
    assert (code, document(out)["error"]["code"]) == (1, "session_missing")
    code, out, _ = strata("context", "--next", "--json")
    assert (code, document(out)["session"]) == (0, None)


@pytest.mark.parametrize(
    "argv", [["sessions", "show", "nothere"], ["context", "--session", "nothere"]]
)
def test_a_chat_that_is_not_there_is_said(strata: Strata, argv: list[str]) -> None:
    code, out, _ = strata(*argv, "--json")
    assert (code, document(out)["error"]["code"]) == (1, "session_missing")


def test_no_folder_is_vault_missing_with_a_way_out(strata: Strata) -> None:
    for argv in (["index"], ["search", "x"], ["ask", "x"], ["instructions", "show"]):
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


def test_control_characters_of_a_model_do_not_reach_the_terminal(
    ask: Strata, server: ModelServer
) -> None:
    server.script(Answer("red \x1b[31m bell \x07 c1 \x9b tab\tline\nend"))
    _, out, _ = ask("x")
    assert "red \\x1b[31m bell \\x07 c1 \\x9b tab\tline\nend" in out


def test_control_characters_stay_whole_in_json(ask: Strata, server: ModelServer) -> None:
    server.script(Answer("red \x1b[31m"))
    assert document(ask("x", "--json")[1])["answer"] == "red \x1b[31m"


def test_the_self_test_asks_for_the_notes_that_are_there(strata: Strata, small_vault: Path) -> None:
    where = ("--vault", str(small_vault))
    assert "run: strata index" in strata("selftest", *where)[2]
    strata("index", str(small_vault))
    code, out, _ = strata("selftest", *where, "--json")
    result = document(out)
    assert code == 0
    assert set(result) == {
        *("questions", "recall_at_1", "recall_at_10", "mrr", "p50_ms", "p95_ms", "ranking"),
    }
    assert result["questions"] > 0
    assert result["recall_at_10"] >= 0.5
    assert "questions made from your notes" in strata("selftest", *where)[1]


def opened(argv: list[str]) -> tuple[int, list[Path | None]]:
    """Run the command line with a window that only looks at what it was given."""
    seen: list[Path | None] = []

    def look(opening: Startup) -> int:
        seen.append(opening.open().vault)
        return 7

    return run(argv, look), seen


def test_without_a_verb_the_window_opens_on_the_chosen_folder(small_vault: Path) -> None:
    assert opened(["--vault", str(small_vault)]) == (7, [small_vault.resolve()])
    assert opened([]) == (7, [None])


def test_a_window_opens_though_the_folder_of_the_last_time_is_gone(
    strata: Strata, tmp_path: Path
) -> None:
    strata("settings", "set", "vault.path", str(tmp_path / "gone"))
    assert opened([]) == (7, [None])


def test_a_window_opens_though_the_settings_are_damaged(strata_home: Path) -> None:
    (strata_home / "config").mkdir(parents=True)
    (strata_home / "config" / "settings.toml").write_text("[\n")
    assert opened([]) == (7, [None])


def test_a_folder_that_was_named_and_is_not_there_opens_no_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opened(["--vault", str(tmp_path / "gone")]) == (1, [])
    assert "There is no folder" in capsys.readouterr().err


def test_without_a_display_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert opened([]) == (1, [])
    assert "no display" in capsys.readouterr().err


def test_a_bug_is_told_with_its_log_and_without_a_trace(
    strata: Strata,
    strata_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_self: Assistant) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Assistant, "list_sessions", broken)
    code, out, err = strata("sessions", "list", "--json")
    caplog.clear()
    error = document(out)["error"]
    assert (code, error["code"], err) == (1, "internal", "")
    assert "Traceback" in (strata_home / "state" / "strata.log").read_text()


def test_nobody_reading_is_quiet(strata_home: Path) -> None:
    script = "import sys\nfrom app.__main__ import main\nsys.exit(main())"
    listing = [sys.executable, "-c", script, "settings", "list"]
    with subprocess.Popen(listing, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


def test_a_full_disk_behind_standard_output_is_said(strata_home: Path) -> None:
    script = "import sys\nfrom app.__main__ import main\nsys.exit(main())"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", script, "settings", "list", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "strata: The result cannot be printed: No space left on device.\n"


def test_the_first_signal_cancels_and_the_second_ends() -> None:
    with Interruptible() as run_:
        signal.raise_signal(signal.SIGINT)
        assert run_.cancel.is_cancelled
        assert run_.exit_code == 130
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (IndexProgress("seen"), "Reading your notes"),
        (IndexProgress("scan", "a.md", 3, 9), "Indexing by words: 3 of 9 notes  a.md"),
        (
            IndexProgress("embed", "", 3, 1_200, 41.6),
            "Indexing by meaning: 3 of 1,200 notes, 42 a second, 29 s left",
        ),
        (
            IndexProgress("embed", "", 12, 60, 0.42),
            "Indexing by meaning: 12 of 60 notes, 0.4 a second, 2 min left",
        ),
        (
            IndexProgress("embed", "", 0, 7_500, 1.0),
            "Indexing by meaning: 0 of 7,500 notes, 1.0 a second, 2 h 5 min left",
        ),
        (IndexProgress("store"), "Updating the vector store"),
    ],
)
def test_progress_says_what_is_being_done(at: IndexProgress, words: str) -> None:
    assert format_progress(at) == words


def test_without_a_terminal_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = 0.0
    line = ProgressLine(lambda: seconds)
    for at in range(250):
        seconds = at / 10
        line.show("Searching…")  # a short step is for a terminal only
        line.show_progress(IndexProgress("scan", "a\nb.md", at, 999))
    line.clear()
    shown = [f"Indexing by words: {at} of 999 notes  a b.md" for at in (20, 120, 220)]
    assert capsys.readouterr().err.splitlines() == shown


def test_attachments_and_selections_are_sent_along(
    ask: Strata, server: ModelServer, small_vault: Path
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
    assert 'lines="6-6"' in server.bodies[0]["messages"][-1]["content"][0]["text"]


def test_selected_lines_of_an_attached_note_are_sent_once(
    ask: Strata, server: ModelServer, small_vault: Path
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
    assert str(server.bodies[0]).count("# Watering") == 1


@pytest.mark.parametrize("lines", ["Watering.md", "Watering.md:0-1", "Watering.md:4-2", ":1-2"])
def test_a_selection_that_is_none_is_misuse(ask: Strata, lines: str) -> None:
    code, output, error = ask("Why?", "--selection", lines)
    assert (code, output) == (2, "")
    assert "is not FILE:A-B" in error


def test_a_question_goes_on_from_an_earlier_entry(
    ask: Strata, strata: Strata, server: ModelServer
) -> None:
    first = document(ask("First?", "--json")[1])
    ask("Second?", "--json", "--session", first["session"])
    place = ("--session", first["session"], "--parent", first["entry"])
    other = document(ask("Other?", "--json", *place)[1])
    assert [m["content"] for m in server.bodies[2]["messages"][1::2]] == ["First?", "Other?"]
    _, out, _ = strata("sessions", "show", other["session"])
    assert "Second?" not in out
    assert "‹ 2/2 ›" in out
    code, out, _ = ask("Lost?", "--json", "--session", first["session"], "--parent", "ffffffff")
    assert (code, document(out)["error"]["code"]) == (1, "not_found")


def test_a_copy_ends_where_it_is_told_to(ask: Strata, strata: Strata) -> None:
    first = document(ask("First?", "--json")[1])
    ask("Second?", "--json", "--session", first["session"])
    _, out, _ = strata("sessions", "fork", first["session"], "--at", first["entry"], "--json")
    copy = document(out)
    assert copy["branchedFrom"] == first["session"]
    shown = document(strata("sessions", "show", copy["session"], "--json")[1])
    assert shown["leaf"] == first["entry"]
    assert shown["problems"] == []


def test_an_index_is_rebuilt_and_a_failed_note_retried_when_asked(
    strata: Strata, small_vault: Path
) -> None:
    (small_vault / "Broken.md").write_bytes(b"\xff\xff")
    where = (str(small_vault), "--json")
    first = document(strata("index", *where)[1])
    assert document(strata("index", *where)[1])["embedded_chunks"] == 0
    again = document(strata("index", "--rebuild", *where)[1])
    assert (again["added"], again["embedded_chunks"]) == (first["notes"], first["embedded_chunks"])
    assert document(strata("index", "--retry", *where)[1])["failed"] == first["failed"]
    assert strata("index", "--retry", "--rebuild", *where)[0] == 2
