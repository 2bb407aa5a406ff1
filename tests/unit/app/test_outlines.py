"""Summaries of chats that no model has answered: outlines of what was asked and quoted."""

from pathlib import Path

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.events import AskResult, CompactionEnded
from tests.support.sessions.turns import ask, result_of

OPENING = "No model is set"


def answers(assistant: Assistant, *questions: str) -> list[AskResult]:
    results: list[AskResult] = []
    for question in questions:
        session = results[-1].session if results else None
        results.append(result_of(ask(assistant, question, session=session)))
    return results


def quotation(result: AskResult) -> str:
    """The first line that an answer quotes."""
    return next(line for line in result.answer.text.split("\n") if line.startswith("> "))[2:]


def summary_of(assistant: Assistant, session: str | None) -> str:
    assert session is not None
    *_, ended = assistant.compact(session, CancelToken())
    assert isinstance(ended, CompactionEnded)
    assert ended.result["by"] == "outline"
    return str(ended.result["summary"])


def test_an_outline_of_an_extractive_chat_keeps_the_quotations_and_no_opening_sentence(
    reading: Assistant,
) -> None:
    first, second, _ = answers(
        reading,
        "How much water does the rain barrel hold?",
        "Which tomato ripens first?",
        "And peas?",
    )
    assert first.answer.text.startswith(OPENING)
    summary = summary_of(reading, first.session)
    for said in (first, second):
        assert quotation(said) in summary
    assert OPENING not in summary


def test_many_turns_keep_the_beginning_of_a_quotation_each(reading: Assistant) -> None:
    reading.settings.set("autoCompactThreshold", 4_000)
    questions = ["How much water does the rain barrel hold" + "?" * n for n in range(1, 13)]
    results = answers(reading, *questions)
    summary = summary_of(reading, results[0].session)
    assert OPENING not in summary
    assert quotation(results[-2])[:20] in summary


def test_an_answer_that_names_notes_without_quoting_them_keeps_their_names(
    assistant: Assistant, tmp_path: Path
) -> None:
    folder = tmp_path / "Titles"
    folder.mkdir()
    (folder / "Rhubarb.md").write_text("# Rhubarb\n")
    assistant.open_vault(folder, remember=False)
    first, _ = answers(assistant, "What is in Rhubarb?", "And more rhubarb?")
    assert first.answer.text.endswith("- Rhubarb [1]")
    summary = summary_of(assistant, first.session)
    assert OPENING not in summary
    assert "answered: Rhubarb [1]" in summary
