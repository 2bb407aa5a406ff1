"""A scripted model that judges notes: yes for those with planted words, which it quotes."""

import html
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.support.models.model_server import Answer, Body, Reply

PLANTED = "I promised my sister"
_NOTE = re.compile(r'<note n="(\d+)" name="([^"]*)">\n(.*?)\n</note>', re.DOTALL)


class ShownNote(NamedTuple):
    """A note as a request shows it."""

    number: int
    name: str
    text: str


def list_shown(body: Body) -> list[ShownNote]:
    """Return the notes of a request."""
    content = body["messages"][-1]["content"]
    text = content if isinstance(content, str) else "".join(part["text"] for part in content)
    return [
        ShownNote(int(number), html.unescape(name), html.unescape(shown))
        for number, name, shown in _NOTE.findall(text)
    ]


def judge_by_words(body: Body) -> Reply:
    """Give a verdict on each note: yes with the line of the planted words, otherwise no."""
    return answer_with([judge_note(note) for note in list_shown(body)])


def judge_note(note: ShownNote) -> dict[str, Any]:
    """Return the entry of a note in the reply."""
    lines = [line for line in note.text.split("\n") if PLANTED in line]
    if not lines:
        return {"n": note.number, "verdict": "no"}
    return {"n": note.number, "verdict": "yes", "quote": lines[0]}


def answer_with(entries: list[dict[str, Any]]) -> Answer:
    """Return the reply with these entries."""
    return Answer(json.dumps({"verdicts": entries}), chunk_chars=4_000)


def spoil(change: Callable[[list[dict[str, Any]]], Any], times: int = 1) -> Callable[[Body], Reply]:
    """Return a judge whose first replies are changed."""
    left = [times]

    def judge(body: Body) -> Reply:
        entries = [judge_note(note) for note in list_shown(body)]
        if left[0] <= 0:
            return answer_with(entries)
        left[0] -= 1
        changed = change(entries)
        return changed if isinstance(changed, Answer) else answer_with(changed)

    return judge
