"""A model that is asked to read a large text part by part, and what it was shown."""

import re

from tests.support.model_server import Answer, Body, Reply

ANSWER = 'The first line says "Day 0" [1].'


def shown(body: Body) -> str:
    """Return the text of the last message of a request."""
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


def is_part(body: Body) -> bool:
    """Return whether a request shows a part of a text."""
    return shown(body).startswith("<part ")


def first_line(body: Body) -> int:
    """Return the number of the first line of a part."""
    return int(re.findall(r'lines="(\d+)', shown(body))[0])


def reads_parts(body: Body) -> Reply:
    """Quote the first line of a part, keep the first of some notes, else give the answer."""
    text = shown(body)
    if is_part(body):
        number, line = re.findall(r"^(\d+): (.*)$", text, re.MULTILINE)[0]
        return Answer(f'{number}: It says "{line}" there.')
    if text.startswith("<notes "):
        return Answer(text.split("\n")[1])
    return Answer(ANSWER)


def days(lines: int) -> str:
    """Return a text of so many lines."""
    told = (f"Day {n}: the barrel held {n} litres and nothing else." for n in range(lines))
    return "\n".join(told)
