"""Answers without a model, asked for sources that the tests write."""

import re
from dataclasses import replace
from typing import Final

import pytest

from chains.cancel import CancelToken
from chains.extractive.model import ExtractiveModel
from chains.extractive.words import list_content_words
from chains.llm.port import ModelEnded, ModelQuoted, ModelText
from chains.models import ModelInfo
from chains.request.draft import draft_turn, prepare_turn
from chains.request.session import SessionView
from vault.quotes.sections import Support

SERVER = """## Power
The server draws 31 watts when it idles. A full backup raises that to 58 watts.

```
watts = 99
```

| what | watts |
| --- | --- |
| fan | 4 |"""


GARDEN = "Beans need warm soil, at least 10 °C. Water them in the morning:\n- peas are hardier"


def read_quotations(text):
    """Return the lines that an answer quotes."""
    return [line for line in text.split("\n") if line.startswith("> ")]


def find_lit(text):
    """Return the quoted lines of an answer that end with a citation: they are lit."""
    return [line for line in read_quotations(text) if re.search(r"\[\d+\](?: \|)?$", line)]


@pytest.fixture
def answer(ask):
    """Ask without a model, over given sources; return the answer's text."""

    def run(question, *sources, has_searched=True, support=None, **known):
        turn = ask(question, model="extractive", session=SessionView("chat1"))
        turn = replace(turn, model=ModelInfo("extractive", None))
        drafted = draft_turn(turn, sources if has_searched else None)
        request, _ = prepare_turn(drafted, "preview")
        if isinstance(support, float):
            support = Support(support, dict.fromkeys(list_content_words(question), 0.5))
        model = ExtractiveModel(question, has_searched=has_searched, support=support, **known)
        *pieces, ended = model.stream(request, CancelToken())
        quoted = pieces.pop()
        assert (type(quoted), ended) == (ModelQuoted, ModelEnded("complete", "stop"))
        assert all(isinstance(piece, ModelText) for piece in pieces)
        return "".join(piece.text for piece in pieces)

    return run


# Short sections are quoted whole.
LONG: Final = "\n\n" + "Much is said of the weather here. " * 12
