"""The texts that were repaired: what must not come back, and what stands in its place."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from app.cli import text
from app.config.secrets import name_key
from tests.support.syntax_trees import list_nodes, read_modules
from vault.indexing.progress import IndexReport
from vault.search.hits import SearchResult

ROOT = Path(__file__).resolve().parents[2]
GONE = (
    "found no answer",
    "Pins would take",
    "Who answers",
    "Who sums up",
    "Hooks of your own",
    "Model for meaning",
    "Order by a second model",
    "As Strata keeps it",
    "held back for counting",
    "limit unknown",
    "Why it was found",
    "To the composer",
    "Attach the note",
    "chat of its own",
    "as an outline",
    "kept by another Strata",
    "left out by a rule",
    "the connection broke off. What",
    "The folder {folder} may not be read",
    "it has {size",
    "Only the last answer",
    "Writing…",
    "Trying again in",
)
# The form of `/context` is that of protocol.md. An answer is being written once text has arrived.
ELSEWHERE = {
    "as an outline": "context/report/markdown.py",
    "Writing…": "ui/controllers/turns.py",
}


@cache
def strings() -> tuple[tuple[str, str], ...]:
    """Return every text in the code but docstrings, with its module."""
    return tuple(
        (path, found)
        for path, tree in read_modules().items()
        if not path.startswith("resources/")
        for found in _read(tree)
    )


def _read(tree: ast.Module) -> Iterator[str]:
    docs = {
        id(node.body[0].value)
        for node in list_nodes(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in list_nodes(tree):
        if isinstance(node, ast.JoinedStr):
            yield ast.unparse(node)
        elif isinstance(node, ast.Constant) and id(node) not in docs:
            yield str(node.value)


@pytest.mark.parametrize("phrase", GONE)
def test_an_old_text_is_gone(phrase: str) -> None:
    found = {file for file, said in strings() if phrase in said}
    assert found - {ELSEWHERE.get(phrase, "")} == set()


def test_a_key_is_named_by_its_service() -> None:
    assert name_key("openai") == "OpenAI key"
    assert name_key("http://127.0.0.1:8080") == "Key for http://127.0.0.1:8080"


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"path": ["Nowhere"]}, "No note matches the filter path:Nowhere."),
        (
            {"path": ["Nowhere"], "tag": ["a", "b"]},
            "No note matches the filters path:Nowhere tag:a tag:b.",
        ),
        ({"phrase": ["oak tree"]}, 'Nothing found for "oak". Try fewer words.'),
        ({}, 'Nothing found for "oak". Try fewer words.'),
    ],
)
def test_nothing_found_names_its_filters(filters: dict[str, list[str]], said: str) -> None:
    assert SearchResult("oak", (), 0.1, filters).explain_no_hits() == said


def test_notes_excluded_by_a_rule_are_named() -> None:
    excluded = tuple((f"drafts/{number}.md", "drafts/") for number in range(5))
    report = IndexReport("notes", notes=3, excluded=excluded)
    (line,) = (line for line in text.index_report(report) if "excluded" in line)
    named = "drafts/0.md (drafts/), drafts/1.md (drafts/), drafts/2.md (drafts/)"
    assert line == f"5 excluded by a rule: {named}, …"


def test_a_compaction_has_one_pair_of_figures() -> None:
    result = {
        "entry": "e",
        "before_tokens": 1301,
        "after_tokens": 220,
        "before_messages": 4,
        "after_messages": 3,
        "by": "outline",
        "summary": "",
    }
    assert list(text.compaction(result)) == [
        "Summarised: 1,301 → 220 tokens (outline, no model set)"
    ]
    gone = {"kind": "figure", "text": "18.4 kW", "line": "the pump has 18.4 kW", "entry": "m1"}
    exam = {"facts": 9, "in_request": 7, "one_call": 1, "findable": 0, "gone": [gone]}
    refused = {"warnings": ["It was cut. An outline stands in its place."], "exam": exam}
    assert list(text.compaction(result | refused)) == [
        "Summarised: 1,301 → 220 tokens (outline)",
        "It was cut. An outline stands in its place.",
        "7 in the request, 1 within reach, 1 gone, 0 changed",
        "- Gone: the pump has 18.4 kW",
    ]
