"""A summary is mended and edited over RPC."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.support.models.model_server import ModelServer
from tests.support.sessions.summaries import script_lossy_chat
from tests.unit.app.rpc.test_server import Caller


@pytest.fixture
def caller(assistant: Assistant, server: ModelServer) -> Iterator[Caller]:
    caller = Caller(assistant)
    caller.ask("set_mode", mode="chat")
    yield caller
    caller.hang_up()


def test_a_summary_is_mended_edited_and_put_back(caller: Caller, server: ModelServer) -> None:
    script_lossy_chat(server, caller.turn)
    made = caller.ask("compact")
    chat = caller.ask("get_state")["session"]
    place, exam = {"session": chat, "entry": made["entry"]}, made["exam"]
    first, *_others = exam["gone"]
    kept = caller.ask("mend_summary", **place, keep=first["line"])
    assert kept["message"] == "Added to the summary."
    assert kept["summary"].endswith(f"- {first['line']}")
    assert kept["exam"]["in_request"] == exam["in_request"] + 1
    assert first not in kept["exam"]["gone"]
    struck = caller.ask("mend_summary", **place, take_out="31 kg")
    assert "31 kg" in str(kept["exam"]["new"])
    assert "31 kg" not in struck["summary"] + str(struck["exam"])
    assert struck["summary"].startswith("The barrel holds 210 litres.")
    assert caller.ask("mend_summary", **place, undo=True)["summary"] == kept["summary"]
    edited = caller.ask("edit_summary", **place, text="Nothing of it matters.")
    assert edited["summary"] == "Nothing of it matters."
    assert edited["exam"] is None  # what else the summary said is not known any more
    assert caller.ask("mend_summary", **place, undo=True)["exam"] == kept["exam"]
    undone = caller.ask("mend_summary", **place, undo=True)
    assert (undone["exam"], undone["can_undo"]) == (exam, False)

    def refuse(**fields: object) -> str:
        return str(caller.error("mend_summary", **place | fields)["message"])

    assert refuse(undo=True) == "This summary was not changed, so there is nothing to undo."
    assert refuse(keep="7 litres") == "No fact that is gone is named “7 litres”."
    assert refuse(take_out="") == "No fact that is changed is named “”."
    assert refuse(keep="x", undo=True) == "mend_summary takes one of keep, take_out and undo."
    assert refuse(entry="e0", keep="x") == f"The chat {chat} has no summary e0."
    assert caller.error("edit_summary", **place, text=" ")["message"] == "The summary is empty."


def test_what_a_summary_lost_is_searched_for_in_the_notes(
    caller: Caller, server: ModelServer, assistant: Assistant, small_vault: Path
) -> None:
    assistant.open_vault(small_vault, remember=False)
    list(assistant.index(CancelToken()))
    caller.ask("set_mode", mode="vault")
    script_lossy_chat(server, caller.turn)
    made = caller.ask("compact")
    lost = made["exam"]["gone"][0]
    (small_vault / "Pipes.md").write_text(f"# Cellar\n\n{lost['line']}.\n", "utf-8")
    list(assistant.index(CancelToken()))
    told = caller.ask("check_summary", entry=made["entry"])
    assert told["entry"] == made["entry"]
    assert [one["path"] for one in told["exam"]["found"]] == ["Pipes.md"]
    assert lost not in told["exam"]["gone"]
    error = caller.error("check_summary", entry="e0")
    assert error["code"] == "not_found"
