"""A pinned answer of a model: never asked for again, but what changed in its sources is told."""

from pathlib import Path

import pytest

from app.assistant import Assistant
from app.errors import NotFound
from app.pinned.answers import ShownAnswer
from chains.cancel import CancelToken
from tests.support.models.model_server import Answer, ModelServer
from tests.support.sessions.turns import ask, result_of

QUESTION = "How much does the barrel hold in summer, and which tomatoes ripen in July?"


@pytest.fixture
def pinned(
    reading: Assistant, small_vault: Path, server: ModelServer
) -> tuple[Assistant, ShownAnswer]:
    list(reading.index(CancelToken()))
    server.script(Answer("It holds 210 litres [1]. Matina [2]. Kompost [3]."))
    result = result_of(ask(reading, QUESTION))
    assert result.session is not None
    assert result.entry is not None
    return reading, reading.pinned.add_answer(result.session, result.entry)


def find_again(assistant: Assistant) -> ShownAnswer:
    list(assistant.index(CancelToken()))
    (shown,) = assistant.pinned.refresh()
    return shown


def test_the_sources_that_changed_are_told_with_their_lines_and_no_model_is_asked(
    pinned: tuple[Assistant, ShownAnswer], small_vault: Path, server: ModelServer
) -> None:
    assistant, added = pinned
    asked = len(server.bodies)
    assert (added.answer.kind, added.answer.answer and added.answer.answer.sources) == ("model", 3)
    assert find_again(assistant).changes.mark == ""
    watering = small_vault / "Watering.md"
    watering.write_text(watering.read_text().replace("210 litres", "180 litres"))
    shown = find_again(assistant)
    assert (shown.answer.summary, shown.changes.mark) == ("1 of its 3 sources changed.", "~1")
    assert "180 litres" in shown.answer.rows[0].text
    assert shown.answer.answer == added.answer.answer
    assert len(server.bodies) == asked


def test_a_renamed_source_has_not_changed_and_a_private_one_shows_no_line(
    pinned: tuple[Assistant, ShownAnswer], small_vault: Path
) -> None:
    assistant, _ = pinned
    (small_vault / "Watering.md").rename(small_vault / "garden/Water.md")
    assert find_again(assistant).changes.mark == ""
    tomatoes = small_vault / "garden/Tomatoes.md"
    tomatoes.write_text(f"---\nprivate: true\n---\n{tomatoes.read_text()}Secret line.\n")
    (row,) = find_again(assistant).answer.rows
    assert row.text == "garden/Tomatoes.md is gone, or may not be read any more."


def test_a_newer_answer_takes_the_place_of_the_pinned_one(
    pinned: tuple[Assistant, ShownAnswer], small_vault: Path, server: ModelServer
) -> None:
    assistant, added = pinned
    answer = added.answer.answer
    assert answer is not None
    (small_vault / "Watering.md").write_text("# Watering\n\nThe barrel holds 180 litres.\n")
    found = assistant.pinned.find_asked(added.answer.id)
    server.script(Answer("It holds 180 litres [1]."))
    events = assistant.edit(answer.session, found.user_entry, found.question, CancelToken())
    entry = result_of(list(events)).entry
    assert entry is not None
    shown = assistant.pinned.replace_answer(added.answer.id, answer.session, entry)
    assert shown.answer.answer is not None
    assert "180" in shown.answer.answer.text
    assert find_again(assistant).changes.mark == ""


def test_a_chat_that_is_gone_keeps_the_answer_and_says_so(
    pinned: tuple[Assistant, ShownAnswer],
) -> None:
    assistant, added = pinned
    assert added.answer.answer is not None
    assistant.sessions.bin.put(added.answer.answer.session)
    shown = find_again(assistant)
    assert shown.problem
    assert shown.answer.answer == added.answer.answer
    with pytest.raises(NotFound):
        assistant.pinned.find_asked("00000000")
