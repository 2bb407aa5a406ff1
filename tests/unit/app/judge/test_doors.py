"""Exhaustive answers at the command line and over RPC."""

import csv
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.cli.parser import run
from chains.cancel import CancelToken
from tests.conftest import write_notes
from tests.support.models.model_server import Answer, Body, ModelServer
from tests.support.models.note_judge import PLANTED, judge_by_words, list_shown
from tests.support.processes.command_line import Strata, document, no_window
from tests.unit.app.cli.test_sessions import Terminal
from tests.unit.app.pinned.test_doors import Conversation
from vault.errors import IndexBusy

NOTES = {
    **{f"Day {n:02}.md": f"# Day {n:02}\n\nNothing, part {n}.\n" for n in range(14)},
    "Yes.md": f"# Yes\n\n{PLANTED} \x1b[31ma chair.\n",
}
QUESTION = "What did I promise to my sister?"


@pytest.fixture
def strata(capsys: pytest.CaptureFixture[str]) -> Strata:
    """Run the command line in this process: exit code, standard output, standard error."""

    def call(*argv: str) -> tuple[int, str, str]:
        return (run(argv, no_window), *capsys.readouterr())

    return call


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(judge_by_words) as model:
        yield model


@pytest.fixture
def judge(strata: Strata, model: ModelServer) -> Strata:
    """Run the verb with the scripted judge."""

    def call(*argv: str) -> tuple[int, str, str]:
        return strata(
            *("judge", "--set", f"chat.apiBase={model.url}", "--set", "chat.model=gpt-4o", *argv)
        )

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "vault", NOTES)


def test_it_judges_first_notes_then_all(
    judge: Strata, model: ModelServer, folder: Path, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    _, out, err = judge(QUESTION, "--vault", str(folder), "--json")
    assert "15 notes for the model: about 2 calls" in err
    first = document(out)
    assert (first["is_complete"], first["counts"]["waiting"], first["calls"]) == (False, 5, 1)
    code, out, _ = judge(QUESTION, "--vault", str(folder), "--yes", "--csv", str(table))
    assert code == 0
    assert "15 of 15 judged: 15 by gpt-4o; 1 yes, 0 cannot tell." in out
    assert f"yes          Yes.md:3  “{PLANTED} \\x1b[31ma chair”" in out
    assert sum(len(list_shown(body)) for body in model.bodies) == 15
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    assert [row["note"] for row in rows if row["verdict"] == "yes"] == ["Yes.md"]
    assert len(rows) == 15


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("judge", QUESTION, "--first", "0"), "15 notes for the model"),
        (("pinned", "refresh"), "answers are found in what was indexed before"),
    ],
)
def test_it_goes_on_where_another_strata_keeps_the_index(
    strata: Strata,
    model: ModelServer,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    argv: tuple[str, ...],
    said: str,
) -> None:
    def refuse(*_args: object, **_fields: object) -> None:
        raise IndexBusy("Another Strata keeps this index up to date.")

    assert strata("index", "--vault", str(folder))[0] == 0
    monkeypatch.setattr("app.library.library.Library.update", refuse)
    options = ("--set", f"chat.apiBase={model.url}", "--set", "chat.model=gpt-4o")
    code, _, err = strata(argv[0], *options, *argv[1:], "--vault", str(folder))
    assert (code, "Another Strata" in err, said in err) == (0, True, True)


def test_stored_verdicts_are_listed_and_deleted(
    judge: Strata, strata: Strata, model: ModelServer, folder: Path
) -> None:
    for argv in (("--stored",), ("--forget",)):
        assert strata("judge", *argv) == (0, "No verdicts are stored.\n", "")
    judge(QUESTION, "--vault", str(folder), "--yes")
    judge("Another?", "--vault", str(folder), "--first", "1")
    listed = document(strata("judge", "--stored", "--json")[1])["questions"]
    assert sorted((one["question"], one["verdicts"]) for one in listed) == [
        ("Another?", 1),
        (QUESTION, 15),
    ]
    code, _, err = strata("judge", "Any other?", "--forget", "--yes")
    assert (code, "“Another?”, “What did I" in err) == (1, True)
    code, _, err = strata("judge", "--forget", "--yes", "--scope", "file:x", "--first", "0")
    assert (code, "--scope and --first cannot be given with --forget" in err) == (1, True)
    for options in ((), ("--json",)):
        code, _, err = strata("judge", "Another?", "--forget", *options)
        assert (code, "Nothing is deleted: 1 verdict. With --yes" in err) == (1, True)
    assert strata("judge", "another ?", "--forget", "--yes", "--model", "gpt-4")[0] == 1
    said = strata("judge", "another ?", "--forget", "--yes", "--model", "GPT-4o")[1]
    assert said == "1 verdict deleted.\n"
    code, out, err = strata("judge", "--forget")
    assert (code, "With --yes" in err) == (1, True)
    assert f"15 verdicts by gpt-4o: {QUESTION}" in out
    assert document(strata("judge", "--forget", "--yes", "--json")[1])["forgotten"] == 15
    assert strata("judge", "--stored")[1] == "No verdicts are stored.\n"
    code, _, err = strata("judge")
    assert (code, "There is no question" in err) == (1, True)


@pytest.mark.parametrize(("typed", "is_deleted"), [("n\n", False), ("", False), ("y\n", True)])
def test_in_a_terminal_the_user_is_asked_before_verdicts_are_deleted(
    judge: Strata,
    strata: Strata,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    is_deleted: bool,
) -> None:
    judge(QUESTION, "--vault", str(folder), "--yes")
    screen = Terminal()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdin", Terminal(typed))
        patched.setattr(sys, "stderr", screen)
        code = strata("judge", QUESTION, "--forget")[0]
    assert code == (0 if is_deleted else 1)
    assert "Delete 15 verdicts? " in screen.getvalue()
    left = document(strata("judge", "--stored", "--json")[1])["questions"]
    assert bool(left) is not is_deleted


def test_a_sample_is_judged_by_another_model_once_its_price_was_shown(
    judge: Strata, model: ModelServer, folder: Path
) -> None:
    asked = (QUESTION, "--vault", str(folder), "--sample-model", "gpt-4", "--sample", "6")
    _, out, err = judge(*asked, "--first", "20")
    assert "6 notes of a sample for gpt-4 to judge again." in out
    assert ("6 notes for the model" in err, "With --yes" in err) == (True, True)
    assert {body["model"] for body in model.bodies} == {"gpt-4o"}
    _, out, _ = judge(*asked, "--yes", "--no-index")
    assert "gpt-4 judged 6 of the 15 notes that gpt-4o judged, and agreed on 6: with 95 %" in out
    assert [body["model"] for body in model.bodies[2:]] == ["gpt-4"]


def test_without_a_model_it_says_what_a_model_is_needed_for(strata: Strata, folder: Path) -> None:
    told = document(strata("judge", QUESTION, "--vault", str(folder), "--json", "--yes")[1])
    assert told["coverage"].endswith("15 notes need a model, and no model is set.")
    whole = document(strata("judge", "file:Day", "--vault", str(folder), "--json")[1])
    assert (whole["counts"]["yes"], whole["counts"]["by_rule"], whole["calls"]) == (14, 15, 0)
    assert whole["cost"]["price"] == 0


def test_a_wrong_scope_is_refused(strata: Strata, folder: Path) -> None:
    wrong = ("--scope", "no filter", "--vault", str(folder), "--json")
    code, out, _ = strata("judge", "x", *wrong)
    assert code == 1
    assert document(out)["error"]["code"] == "bad_request"


def test_rpc_tells_the_progress_pauses_and_saves(
    assistant: Assistant, server: ModelServer, folder: Path
) -> None:
    is_asked, may_answer = threading.Event(), threading.Event()

    def wait_and_judge(body: Body) -> Answer:
        is_asked.set()
        may_answer.wait(60)
        return judge_by_words(body)

    server.script(wait_and_judge)
    assistant.open_vault(folder, remember=False)
    list(assistant.index(CancelToken()))

    def talk(client: Conversation) -> None:
        asked = {"question": QUESTION, "scope": "file:Day OR file:Yes"}
        assert client.do("get_judged", **asked)["cost"]["notes"] == 15
        client.send("judge", id="run", **asked)
        assert is_asked.wait(60)
        assert client.do("pause_judge", request="run") == {"paused": True}
        may_answer.set()
        while not client.wait_for_event("judge_progress")["is_paused"]:
            pass
        client.do("pause_judge", request="run", paused=False)
        done = client.wait_for(lambda line: line.get("id") == "run" and "success" in line)["data"]
        assert done["coverage"] == "15 of 15 judged: 15 by gpt-4o; 1 yes, 0 cannot tell."
        saved = client.do("save_judged", **asked, path="Judged")
        assert saved["path"] == "Judged.md"
        assert "[[Yes]]" in (folder / "Judged.md").read_text()
        (stored,) = client.do("list_judged")["questions"]
        assert (stored["question"], stored["verdicts"]) == (QUESTION, 15)
        assert client.do("forget_judged", question=QUESTION) == {
            "forgotten": 15,
            "failures": 0,
        }
        assert client.do("list_judged") == {"questions": []}

    Conversation(assistant).run(talk)
