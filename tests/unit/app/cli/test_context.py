"""`strata context`: the last request and the next one."""

from pathlib import Path

import pytest

from tests.support.processes.command_line import Strata, document


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
    assert shown.keys() - {"request_body", "wire"} == result["context"].keys()
    assert shown.keys() == document(strata("context", "--next", "--full", "--json")[1]).keys()
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


def test_the_request_of_an_earlier_answer_is_shown(ask: Strata, strata: Strata) -> None:
    first = document(ask("First?", "--json")[1])
    document(ask("Second?", "--session", first["session"], "--json")[1])
    shown = document(strata("context", "--entry", first["entry"], "--full", "--json")[1])
    assert (shown["when"], shown["used"]) == ("last", first["context"]["used"])
    assert shown["request_body"]["messages"][-1]["content"] == "First?"
    code, out, _ = strata("context", "--entry", "ffffffff", "--json")
    assert (code, document(out)["error"]["code"]) == (1, "not_found")
    code, out, _ = strata("context", "--next", "--entry", first["entry"], "--json")
    assert (code, document(out)["error"]["code"]) == (1, "bad_request")


def test_an_answer_shows_its_request_as_it_was_today_and_what_differs_without_a_database(
    strata: Strata,
    strata_home: Path,
    small_vault: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    question = "How much water does the barrel hold?"
    result = document(strata("ask", question, "--vault", str(small_vault), "--json")[1])
    source = result["context"]["segments"][0]["source"]
    (strata_home / "state" / "state.db").unlink()
    note = small_vault / source
    note.write_text(note.read_text("utf-8") + "\nBeans also like marigolds.\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    entry = ("context", "--session", result["session"], "--entry", result["entry"])
    then = document(strata(*entry, "--at-the-time", "--full", "--json")[1])
    assert (then["when"], then["exact"], then["rebuilt"], then["sent"]) == (
        "at-the-time",
        True,
        False,
        False,
    )
    assert then["request_body"]["messages"]
    texts = [text["text"] for text in then["layers"] if text["source"] == source]
    assert texts
    assert not any("marigolds" in text for text in texts)
    now = document(strata(*entry, "--today", "--json")[1])
    assert any("marigolds" in text["text"] for text in now["layers"])
    found = document(strata(*entry, "--diff", "--json")[1])
    lines = [line for text in found["layers"] for line in text["diff"] if line["sign"]]
    assert {"sign": "+", "text": "Beans also like marigolds."} in lines
    shown = strata(*entry, "--diff")[1]
    assert "+ Beans also like marigolds." in shown
    assert strata(*entry, "--at-the-time")[1].startswith("As it was: ")
    code, out, _ = strata("context", "--entry", "ffffffff", "--diff", "--json")
    assert (code, document(out)["error"]["code"]) == (1, "not_found")


def test_what_is_kept_of_deleted_notes_is_told_and_purged(
    strata: Strata, small_vault: Path, strata_home: Path
) -> None:
    assert strata("passages")[1] == "No request of an answer is kept yet.\n"
    question = "How much water does the barrel hold?"
    strata("ask", question, "--vault", str(small_vault), "--json")
    (small_vault / "Watering.md").unlink()
    told = strata("passages")[1].splitlines()
    assert told[0].endswith("1 of these notes is deleted.")
    assert told[1] == "  deleted: Watering.md"
    found = document(strata("passages", "--purge", "--json")[1])
    assert (found["removed"], found["deleted"], found["requests"]) == (1, [], 1)
