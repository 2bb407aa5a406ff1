"""A list beside attachments says how much of it was sent, and goes on behind that."""

import re
from pathlib import Path

import pytest

from app.assistant import Assistant
from chains.cancel import CancelToken
from tests.support.sessions.turns import ask, result_of

TASKS = 400
LINE = "Some more text about the beds and the beans in them, which is long.\n"


@pytest.fixture
def garden(assistant: Assistant, tmp_path: Path) -> Assistant:
    folder = tmp_path / "garden"
    folder.mkdir()
    tasks = "".join(f"- [ ] Water bed {number:03} with the can\n" for number in range(TASKS))
    (folder / "Tasks.md").write_text(f"# Tasks\n{tasks}")
    assistant.open_vault(folder, remember=False)
    list(assistant.index(CancelToken()))
    return assistant


def find_beds(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"Water bed (\d+)", text)]


# The attachments have room for the whole list, for a part of it, for none, and are cut themselves.
@pytest.mark.parametrize(("size", "most"), [(0, 400), (200_000, 399), (225_200, 5), (300_000, 399)])
def test_a_page_of_a_list_holds_what_it_says_and_the_next_skips_nothing(
    garden: Assistant, tmp_path: Path, size: int, most: int
) -> None:
    long = tmp_path / "Long.md"
    long.write_text(LINE * (size // len(LINE)))
    attach = (str(long),) if size else ()
    found = result_of(ask(garden, "list the open tasks", attach=attach, model="extractive"))
    shown, text = find_beds(found.answer.text), found.answer.text
    (last,) = map(int, re.findall(r"1 to (\d+) are listed here", text) or [len(shown)])
    assert shown == list(range(last))
    assert last <= most
    assert ("There is no room to list them" in text) == (not shown)
    if last < TASKS:
        more = result_of(ask(garden, "more", session=found.session, model="extractive"))
        assert find_beds(more.answer.text)[:1] == [last]
