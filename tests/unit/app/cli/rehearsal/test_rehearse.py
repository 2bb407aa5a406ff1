"""`strata rehearse`: the parts and the price, an answer without some of them, and each source."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.command_line import Strata, document

BARREL = "The barrel behind the shed holds 210 litres."
BEDS = "The barrel waters the north bed of beans."


@pytest.fixture
def asked(
    strata: Strata, model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The result of a question to a model that says what is in its sources."""

    def say(body: dict[str, Any]) -> Answer:
        said = str(body["messages"][-1])
        return Answer(" ".join(fact for fact in (BARREL, BEDS) if fact in said) or "Nothing.")

    vault = tmp_path / "notes"
    vault.mkdir()
    (vault / "Barrel.md").write_text(f"# Barrel\n{BARREL}\n")
    (vault / "Beds.md").write_text(f"# Beds\n{BEDS}\n")
    strata("settings", "set", "chat.apiBase", model.url)
    strata("settings", "set", "chat.model", "gpt-4o")
    model.script(say)
    monkeypatch.chdir(tmp_path)
    return document(strata("ask", "What of the barrel?", "--vault", str(vault), "--json")[1])


def test_the_parts_and_the_price_are_shown_and_nothing_is_sent(
    strata: Strata, model: ModelServer, asked: dict[str, Any]
) -> None:
    seen = len(model.received)
    code, out, _ = strata("rehearse", asked["entry"])
    assert code == 0
    assert "L3      turn context" in out
    assert "[1] B" in out
    assert "Asking again: 1 call of gpt-4o (this computer)" in out
    found = document(strata("rehearse", "--json")[1])
    assert {"1", "2", "L1", "L3", "L1.1"} <= {part["key"] for part in found["parts"]}
    assert (found["asked"], found["cost"]["calls"]) == (False, 1)
    code, out, err = strata("rehearse", asked["entry"], "--each")
    assert (code, out) == (1, "")
    assert "up to 5 calls of gpt-4o" in err
    assert "Nothing was sent." in err
    assert len(model.received) == seen


def test_an_answer_without_a_source_says_which_sentence_fell(
    strata: Strata, model: ModelServer, asked: dict[str, Any]
) -> None:
    shown = document(strata("rehearse", "--json")[1])["parts"]
    key = next(part["key"] for part in shown if part["source"] == "Beds.md")
    argv = ("rehearse", asked["entry"], "--without", key, "--yes")
    found = document(strata(*argv, "--json")[1])
    assert (found["left_out"], found["text"], found["known"]) == ([key], BARREL, False)
    difference = found["difference"]
    assert (difference["gone"], difference["new"], difference["same"]) == ([BEDS], [], 1)
    assert (difference["gone_starts"], difference["reworded"]) == ([len(BARREL) + 1], [])
    seen = len(model.received)
    code, out, _ = strata(*argv)
    assert code == 0
    assert f"- {BEDS}" in out
    assert "nothing was sent" in out
    assert len(model.received) == seen


def test_each_source_is_ranked_and_asked_only_once(
    strata: Strata, model: ModelServer, asked: dict[str, Any]
) -> None:
    found = document(strata("rehearse", "--each", "--yes", "--json")[1])
    assert sorted(one["names"][0] for one in found["table"]["ranking"]) == ["Barrel.md", "Beds.md"]
    assert (found["sent"], found["table"]["noise"], found["table"]["complete"]) == (4, 0, True)
    seen = len(model.received)
    code, out, _ = strata("rehearse", "--each")
    assert code == 0
    assert "Asked twice unchanged, all 2 sentences were the same." in out
    assert "Which source carried which sentence:" in out
    assert len(model.received) == seen


@pytest.mark.parametrize(
    ("argv", "code", "sentence"),
    [
        (["--without", "9"], "bad_request", "no part 9"),
        (["ffffffff", "--each"], "not_found", "no entry ffffffff"),
    ],
)
def test_what_does_not_exist_is_said(
    strata: Strata, asked: dict[str, Any], argv: list[str], code: str, sentence: str
) -> None:
    exit_code, out, _ = strata("rehearse", *argv, "--yes", "--json")
    error = document(out)["error"]
    assert (exit_code, error["code"]) == (1, code)
    assert sentence in error["message"]


def test_an_answer_without_a_model_is_refused(strata: Strata, asked: dict[str, Any]) -> None:
    strata("ask", "And now?", "--model", "extractive", "--session", asked["session"])
    error = document(strata("rehearse", "--json")[1])["error"]
    assert error["message"] == "No model wrote this answer, so there is nothing to ask again."
