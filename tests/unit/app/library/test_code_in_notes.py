"""What looks like a code fence, or hides one, misleads neither answers, citations nor results."""

from pathlib import Path

import pytest

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.models import EXTRACTIVE
from tests.support.sessions.turns import ask, result_of

VALUES = "\n".join(f"value_{number} = compute({number}, 'some words')" for number in range(60))
NOTES = {
    "Deployment": "# Deployment\n\n```npm i```\n\nThe server is backed up every Friday at 18:00.\n",
    "Office": "# Office\n\nThe server room is cleaned on Monday.\n",
    "Router": "# Router\n\n```\n~~~\nhidden = 'The router is restarted at noon.'\n```\n\n"
    "## Times\n\nThe router is restarted every Sunday at 04:00.\n",
    "Mail": "# Mail\n\n````\n```\nThe mail server runs on port 2525.\n```\n````\n\n## Real\n\n"
    "The mail server runs on port 587 with a certificate.\n",
    "Alarm": f"# Alarm\n\n```python\n{VALUES}\n# No heading\nprint('an hour')\n```\n\n"
    "The alarm rings at 07:15 on weekdays.\n",
    "Printer": "# Printer\n\n> ```\n> # no heading\n> ```\n"
    "> The toner is changed by Boris in May.\n",
    "Heating": "# Heating\n\n%%\n## Secret\nThe heating is serviced in March.\n%%\n\n"
    "<!--\nThe heating is serviced in June.\n-->\n\nThe heating is serviced in October.\n",
    "Camera": "Camera\n======\n\nLenses\n------\n\nThe wide lens is kept in the blue bag.\n",
    "Compiler": "# C#\n\n## Why F# #\n\nThe compiler is installed on the grey notebook.\n",
    "Insurance": "---\ntitle: Insurance\n# comment: no heading\n---\n\n"
    "The insurance of the house ends in May.\n",
}


@pytest.fixture
def noted(assistant: Assistant, tmp_path: Path) -> Assistant:
    for name, text in NOTES.items():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    assistant.open_vault(tmp_path, remember=False)
    for _ in assistant.index(CancelToken()):
        pass
    return assistant


CASES = [
    ("When is the server backed up?", "Friday at 18:00", 5, ("Deployment",)),
    ("When is the router restarted?", "Sunday at 04:00", 10, ("Router", "Times")),
    ("Which port does the mail server run on?", "port 587", 11, ("Mail", "Real")),
    ("When does the alarm ring?", "rings at 07:15", 68, ("Alarm",)),
    ("Who changes the toner?", "by Boris", 6, ("Printer",)),
    ("When is the heating serviced?", "in October", 12, ("Heating",)),
    ("Where is the wide lens kept?", "blue bag", 7, ("Camera", "Lenses")),
    ("Where is the compiler installed?", "grey notebook", 5, ("C#", "Why F#")),
    ("When does the insurance of the house end?", "in May", 6, ()),
]


def test_answers_quote_and_cite_the_lines_that_are_shown(noted: Assistant) -> None:
    for question, words, last, heading in CASES:
        result = result_of(ask(noted, question, model=EXTRACTIVE))
        quoted = [line for line in result.answer.text.splitlines() if line.startswith("> ")]
        assert any(words in line for line in quoted), result.answer.text
        (cited,) = [each for each in result.answer.checked.citations if words in (each.quote or "")]
        assert cited.heading == heading
        assert cited.verified
        assert cited.lines is not None
        assert cited.lines[1] == last
        assert not any(word in result.answer.text for word in ("March", "June"))  # in comments


def test_results_show_the_lines_that_are_shown(noted: Assistant) -> None:
    for question, words, *_ in CASES:
        assert words in noted.search(question).hits[0].text
