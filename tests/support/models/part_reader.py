"""A scripted model that reads a large text in parts, and helpers to inspect its requests."""

import re

from tests.support.models.model_server import Answer, Body, Reply

ANSWER = 'The first line says "Day 0" [1].'


def shown(body: Body) -> str:
    """Return the text of a request's last message."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


def is_part(body: Body) -> bool:
    """Return whether a request contains a part of a text."""
    return shown(body).startswith("<part ")


def first_line(body: Body) -> int:
    """Return the line number at which a request's part begins."""
    return int(re.findall(r'lines="(\d+)', shown(body))[0])


def reads_parts(body: Body) -> Reply:
    """Answer for a part with a quote of its first line, and for notes with the first note."""
    text = shown(body)
    if is_part(body):
        number, line = re.findall(r"^(\d+): (.*)$", text, re.MULTILINE)[0]
        return Answer(f'{number}: It says "{line}" there.')
    if text.startswith("<notes "):
        return Answer(text.split("\n")[1])
    return Answer(ANSWER)


def days(lines: int) -> str:
    """Return a text with this number of lines."""
    told = (f"Day {n}: the barrel held {n} litres and nothing else." for n in range(lines))
    return "\n".join(told)
