"""The command line as a whole: usage, settings, broken pipes, bugs, signals."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from app.assistant import Assistant
from app.cli.interrupt import ExitStatus, Interruptible
from app.cli.output import Output
from app.cli.parser import build_parser, run
from tests.support.processes.command_line import Strata, document, no_window

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


def test_a_search_does_not_load_the_code_of_models_and_chats() -> None:
    script = "import sys\nimport app.cli.search\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = done.stdout.split()
    unused = ("chains.llm", "chains.models", "context.report", "context.history", "app.assistant")
    assert not [name for name in loaded if name.startswith(unused)]


def test_a_question_does_not_load_what_other_verbs_and_agents_need() -> None:
    script = "import sys\nimport app.cli.ask, app.cli.verbs\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    unused = {
        *("app.cli.sessions", "app.cli.settings", "app.config.model_setup", "app.sessions.mcp"),
        *("app.sessions.branches", "app.sessions.request_history", "app.sessions.titles"),
        *("chains.llm.http", "chains.mcp.client", "chains.model", "chains.turn.agent"),
        *("vault.edits.undo", "vault.indexing.indexer", "vault.indexing.watcher"),
        *("asyncio", "ssl", "urllib.request"),
    }
    assert not unused.intersection(done.stdout.split())


def test_the_version_imports_nothing_heavy() -> None:
    script = (
        "import os, sys\nfrom app.__main__ import main\nsys.argv = ['strata', '--version']\n"
        "os._exit = lambda code: None\nmain()\n"
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


@pytest.mark.parametrize(
    "argv", [["sessions", "show", "nothere"], ["context", "--session", "nothere"]]
)
def test_a_chat_that_is_not_there_is_said(strata: Strata, argv: list[str]) -> None:
    code, out, _ = strata(*argv, "--json")
    assert (code, document(out)["error"]["code"]) == (1, "session_missing")


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


def test_a_journal_of_edits_that_cannot_be_read_stops_only_undo(
    strata: Strata, strata_home: Path
) -> None:
    (strata_home / "state" / "edits" / "journal.jsonl").mkdir(parents=True)
    assert strata("sessions", "list")[0] == 0
    code, out, _ = strata("undo", "--json")
    assert (code, "journal" in document(out)["error"]["message"]) == (1, True)


def test_nobody_reading_is_quiet(strata_home: Path) -> None:
    script = "import sys\nfrom app.__main__ import main\nsys.exit(main())"
    listing = [sys.executable, "-c", script, "settings", "list"]
    with subprocess.Popen(listing, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


@pytest.mark.parametrize("verb", [("list",), ("get", "nothing")], ids=["result", "error"])
def test_a_full_disk_behind_standard_output_is_said(
    strata_home: Path, verb: tuple[str, ...]
) -> None:
    script = "import sys\nfrom app.__main__ import main\nsys.exit(main())"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", script, "settings", *verb, "--json"],
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


def test_a_verb_that_sigterm_cancels_exits_with_its_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ExitStatus(Output(is_json=False)) as status, Interruptible() as run_:
        signal.raise_signal(signal.SIGTERM)
        run_.cancel.raise_if_cancelled()
    assert status.code == 143
    assert capsys.readouterr().err == "strata: Stopped.\n"


def test_a_closed_terminal_cancels_and_may_say_so_twice() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        with Interruptible() as run_:
            assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGHUP)
            assert (run_.cancel.is_cancelled, run_.exit_code) == (True, 129)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_program_that_outlives_its_terminal_is_not_cancelled() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` does
    try:
        with Interruptible() as run_:
            signal.raise_signal(signal.SIGHUP)
            assert not run_.cancel.is_cancelled
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("is_json", [True, False])
def test_ctrl_c_while_the_program_is_being_loaded(
    is_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.parser.build_parser", interrupt)
    assert run(["ledger", *(["--json"] if is_json else [])], no_window) == 130
    out, err = capsys.readouterr()
    if is_json:
        assert document(out) == {"error": {"code": "cancelled", "message": "Stopped."}}
    else:
        assert (out, err) == ("", "strata: Stopped.\n")


@pytest.mark.parametrize("wrong", [("--set", "nope=1"), ("--vault", "/nowhere")])
def test_an_rpc_server_that_cannot_start_says_why_on_one_line(
    strata: Strata, wrong: tuple[str, str]
) -> None:
    code, out, err = strata("rpc", *wrong)
    (line,) = out.splitlines()
    assert (code, err, set(json.loads(line))) == (1, "", {"error"})
