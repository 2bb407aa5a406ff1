"""The claims of an answer, from a turn to its stored chat: figures, and acts by content hashes."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.assistant import Assistant
from app.cli import text as cli_text
from app.sessions.transcript import AnswerItem, SummaryItem
from chains.cancel import CancelToken
from chains.claims.report import AnswerClaim, ClaimReport
from chains.events import AskResult
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of

WATERING = "Watering.md"
ONE_OF_TWO = "1 of 2 figures are somewhere in what was sent · 1 of 2 sentences has no source"


def calling(*edits: tuple[str, str]) -> Answer:
    given = [{"path": WATERING, "old": old, "new": new} for old, new in edits]
    calls = ((f"c{at}", "edit_note", json.dumps(one)) for at, one in enumerate(given))
    return Answer("", calls=tuple(calls))


def edit_watering(
    assistant: Assistant, server: ModelServer, said: str, *edits: tuple[str, str]
) -> AskResult:
    """Have an agent make edits one after the other, each approved, and then say something."""
    server.script(*map(calling, edits), Answer(said))
    assistant.agents.connect(None, "all")
    return result_of(ask(assistant, "Correct the barrel.", mode="agent"))


def stored(assistant: Assistant, result: AskResult) -> ClaimReport:
    assert result.session is not None
    item = assistant.history.transcript(result.session).items[-1]
    assert isinstance(item, AnswerItem)
    return item.answer.claims


def acts(claims: Sequence[AnswerClaim]) -> list[tuple[str, str]]:
    return [(claim.verdict, claim.reason) for claim in claims if claim.kind == "act"]


def test_figures_are_checked_against_what_was_sent_also_when_the_note_changes(
    reading: Assistant, server: ModelServer, small_vault: Path
) -> None:
    server.script(Answer("The barrel holds 210 litres. The pond holds 7,300 litres [1]."))
    result = result_of(ask(reading, "How much?", mode="chat", attach=(WATERING,)))
    shown = result.to_dict()["claims"]
    assert shown["summary"] == ONE_OF_TWO
    assert [claim["verdict"] for claim in shown["claims"]] == ["supported", "unsupported"]
    assert shown["claims"][0]["reason"].startswith("in Watering, line ")
    note = small_vault / WATERING
    note.write_text(note.read_text("utf-8").replace("210 litres", "300 litres"), "utf-8")
    assert stored(reading, result).to_dict() == shown
    assert result.session is not None
    (listed,) = reading.history.list_claims(result.session)
    assert listed == {"entry": result.entry, **shown}
    assert f"{ONE_OF_TWO}." in list(cli_text.sources(result))
    assert f"{ONE_OF_TWO}." in reading.history.export(result.session, "md")[1]


def test_an_answer_is_not_supported_by_a_later_summary_of_it(
    reading: Assistant, server: ModelServer
) -> None:
    filler = " ".join(f"Piece {n} is as wide as the others." for n in range(60))
    server.script(Answer(f"The pond holds 7,300 litres. Ask Piotr Nowak about it. {filler}"))
    first = result_of(ask(reading, "How much?", mode="chat", attach=(WATERING,)))
    assert first.session is not None
    server.script(Answer("Yes."), Answer("The pond holds 7,300 litres, says Piotr Nowak."))
    result_of(ask(reading, "Really?", mode="chat", session=first.session))
    list(reading.compact(first.session, CancelToken()))
    items = reading.history.transcript(first.session).items
    assert any(isinstance(item, SummaryItem) for item in items)
    shown = next(item for item in items if isinstance(item, AnswerItem))
    assert shown.answer.claims.to_dict() == first.to_dict()["claims"]
    server.script(Answer("It was 7,300 litres."))
    later = result_of(ask(reading, "How much was it?", mode="chat", session=first.session))
    assert later.to_dict()["claims"]["counts"]["supported"] == 1
    assert stored(reading, later).to_dict() == later.to_dict()["claims"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("The barrel holds 210 litres [1].", ["210 litres"]),
        ("The barrel holds 7,300 litres [1].", None),
        ("It is the blue one [1].", None),
    ],
)
def test_a_citation_says_what_of_its_sentence_the_passage_has(
    reading: Assistant, server: ModelServer, said: str, found: list[str] | None
) -> None:
    server.script(Answer(said))
    result = result_of(ask(reading, "How much?", mode="chat", attach=(WATERING,)))
    (cited,) = result.to_dict()["citations"]
    assert (cited["quote"], cited["verified"], cited.get("found")) == (None, False, found)


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ((), [("contradicted", "no note was changed")]),
        ((("not there", "x"),), [("contradicted", "no note was changed")]),
        ((("not there", "x"), ("210 litres", "300 litres")), [("supported", "changed: Watering")]),
        (
            (("210 litres", "300 litres"), ("300 litres", "210 litres")),
            [("contradicted", "no note was changed")],
        ),
    ],
)
def test_acts_are_checked_by_what_the_notes_are_at_the_end(
    reading: Assistant,
    server: ModelServer,
    edits: tuple[tuple[str, str], ...],
    told: list[tuple[str, str]],
) -> None:
    result = edit_watering(reading, server, "Done: I corrected Watering.", *edits)
    assert acts(result.answer.claims.claims) == told
    assert acts(stored(reading, result).claims) == told


def test_a_chat_without_a_record_of_changes_accuses_nobody(
    reading: Assistant, server: ModelServer
) -> None:
    result = edit_watering(reading, server, "Done: I corrected Watering.")
    chat = reading.sessions.file(result.session or "")
    lines = [line for line in chat.read_text("utf-8").splitlines() if "note_changes" not in line]
    chat.write_text("\n".join(lines) + "\n", "utf-8")
    assert acts(stored(reading, result).claims) == [("unchecked", "not known what was changed")]
