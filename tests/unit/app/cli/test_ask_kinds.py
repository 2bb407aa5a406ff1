"""`strata ask` without a model: lists, counts and properties, and which kind of answer it is."""

import json
from collections.abc import Callable
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from typing import Any

import pytest

from app.cli.parser import run
from app.startup import Startup

NOTES = {
    "Garden/Plum tree.md": (
        "---\ntags: [garden, fruit]\ncreated: 2026-03-14\nheight: 3.2 m\n---\n# Plum tree\n\n"
        "Planted by the shed. It flowers in April.\n"
    ),
    "Garden/Beans.md": "---\ntags: [garden]\n---\n# Beans\n\nSown in rows. See [[Plum tree]].\n",
    "Garden/Hedge.md": "# Hedge\n\n#garden/hedge\n\nCut it in February.\n",
    "Workshop/Drill.md": ("---\ntags: [tools]\nprice: 139 EUR\nuses:\n  - wood\n  - stone\n---\n"),
    "Workshop/Saw.md": "# Saw\n\nThe blade is changed twice a year.\n\n- [ ] sharpen the saw\n",
}

Ask = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Ask a question over indexed notes, and return the document that is printed."""
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")

    def call(question: str) -> dict[str, Any]:
        written = BytesIO()
        said = TextIOWrapper(written, "utf-8", write_through=True)
        with redirect_stdout(said):
            run(["--vault", str(folder), "ask", question, "--json"], _no_window)
        found: dict[str, Any] = json.loads(written.getvalue())
        return found

    return call


def _no_window(_opening: Startup) -> int:
    raise AssertionError("no window was asked for")


@pytest.mark.parametrize(
    ("question", "begins", "kind", "query"),
    [
        (
            "List all notes with the tag #garden",
            "3 notes with the tag #garden; searched all 5 notes.",
            "list",
            "tag:garden",
        ),
        (
            "Which notes are in Workshop?",
            "2 notes in the folder “Workshop”; searched all 5 notes.",
            "list",
            "folder:Workshop",
        ),
        (
            "Which notes link to Plum tree?",
            "1 note with a link to “Plum tree”; searched all 5 notes.",
            "list",
            'link:"Plum tree"',
        ),
        (
            "How many open tasks are there?",
            "1 open task matches; searched all 5 notes.",
            "tasks",
            "task:open",
        ),
    ],
)
def test_a_list_names_its_filter(
    ask: Ask, question: str, begins: str, kind: str, query: str
) -> None:
    told = ask(question)
    assert told["answer"].startswith(begins)
    assert (told["kind"], told["filter"]["query"]) == (kind, query)


@pytest.mark.parametrize(
    ("question", "line", "path"),
    [
        ("What does the drill cost?", "price: 139 EUR", "Workshop/Drill.md"),
        ("How high is the plum tree?", "height: 3.2 m", "Garden/Plum tree.md"),
        ("What are the uses of the drill?", "wood", "Workshop/Drill.md"),
    ],
)
def test_a_property_is_an_answer(ask: Ask, question: str, line: str, path: str) -> None:
    told = ask(question)
    assert line in told["answer"]
    assert told["kind"] == "answer"
    assert [each["path"] for each in told["citations"]] == [path]
    assert "may not answer" not in told["answer"]


@pytest.mark.parametrize(
    ("question", "kind"),
    [("How often is the blade changed?", "answer"), ("Thanks!", "small_talk")],
)
def test_other_answers_say_their_kind(ask: Ask, question: str, kind: str) -> None:
    told = ask(question)
    assert (told["kind"], "filter" in told) == (kind, False)
