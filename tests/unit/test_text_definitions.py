"""What a fence, a heading, front matter, a comment, a sentence and a stem are is said once."""

import ast
import functools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.carry_forward import compact_by_section, update_fence
from tests.support.syntax_trees import list_nodes, read_modules
from vault.notes.text.markdown_text import read_text

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "chains", "context", "ui", "vault")
WINDOW = {f"ui/markdown/{name}.py" for name in ("inline", "parser", "reader")}
CARRIED = "context/carry_forward.py"  # reads texts of which it knows nothing else
DOCUMENTS = int(os.environ.get("SOAK_DOCUMENTS", "100"))


@functools.cache
def list_texts() -> list[tuple[str, str]]:
    """Return the path of a module and a text in its code, for all texts but docstrings."""
    return list(find_texts())


def find_texts() -> Iterator[tuple[str, str]]:
    for path, tree in read_modules().items():
        if path.startswith("resources/"):
            continue
        docstrings = {
            ast.get_docstring(node, clean=False)
            for node in list_nodes(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        }
        for node in list_nodes(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and node.value not in docstrings:
                yield path, node.value


def is_pattern(text: str) -> bool:
    return re.search(r"[\\^({|\[]", text) is not None


def is_fence(text: str) -> bool:
    return is_pattern(text) and re.search(r"`\{3|```|~~~|\[`~\]", text) is not None


def is_heading(text: str) -> bool:
    return re.search(r"#\{1,\d?\}", text) is not None


def is_comment(text: str) -> bool:
    return "%%" in text or "<!--" in text


def is_front_matter(text: str) -> bool:
    return text == "---" or (is_pattern(text) and re.search(r"\^\\?A?---", text) is not None)


def is_markup_remover(text: str) -> bool:
    """Return whether a text is a pattern of several kinds of markup within a line."""
    return is_pattern(text) and sum(mark in text for mark in ("~~", "==", "`", r"\*\*")) > 2


def is_word(text: str) -> bool:
    return re.fullmatch(r"\[\^\\W_\](?:\+|\{2,\})", text) is not None


def is_sentence_end(text: str) -> bool:
    return re.search(r"\[[.?!…]{3}[^|]{0,40}\\s|\[\.!\?\]$|<=\[[.?!]{3}", text) is not None


# The modules that may have a pattern for each of the concepts, by concept.
DEFINITIONS: dict[str, tuple[Callable[[str], bool], set[str]]] = {
    "fence": (is_fence, {CARRIED, "vault/notes/text/scan.py"}),
    "heading": (is_heading, {CARRIED, "vault/notes/text/inline.py"}),
    "comment": (
        is_comment,
        {
            "vault/notes/text/inline.py",
            "vault/notes/text/lines.py",
            "app/pinned/block.py",  # writes its marks as comments, and finds them
        },
    ),
    "front matter": (
        is_front_matter,
        {
            "vault/notes/text/lines.py",
            "app/sessions/export.py",  # writes it
            "vault/views/blocks.py",  # writes the line below the head of a table
            "ui/panels/pinned.py",  # reads the head of a diff
        },
    ),
    "markup": (
        is_markup_remover,
        {
            "vault/notes/text/markup.py",
            "vault/notes/text/inline.py",  # headings, as they are stored in every catalog
        },
    ),
    "word": (is_word, {"vault/notes/keywords.py"}),
    "sentence end": (
        is_sentence_end,
        {
            CARRIED,
            # Divides what models and other programs wrote, JSON too, to leave quotations out.
            "context/history/quotes.py",
            "vault/notes/text/sentences.py",
        },
    ),
}


@pytest.mark.parametrize("concept", DEFINITIONS)
def test_a_concept_of_texts_is_defined_in_one_module(concept: str) -> None:
    is_definition, known = DEFINITIONS[concept]
    assert {path for path, text in list_texts() if is_definition(text)} == known


@pytest.mark.parametrize(
    ("library", "known"),
    [
        (
            "markdown_it",
            {
                "vault/notes/text/document.py",
                "vault/notes/text/lines.py",
                *WINDOW,  # draws answers and the parts of notes
            },
        ),
        ("snowballstemmer", {"vault/notes/text/stems.py"}),
        ("pathspec", {"vault/exclude/rules.py"}),
    ],
)
def test_a_library_for_texts_is_imported_in_one_place(library: str, known: set[str]) -> None:
    pattern = re.compile(rf"^\s*(?:from|import) {library}\b", re.MULTILINE)
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    found = {file for file in files if pattern.search(file.read_text("utf-8"))}
    assert {file.relative_to(ROOT).as_posix() for file in found} == known


LINES = st.sampled_from(
    [
        *("text here.", "# One", "## Two ##", "#tag", "# ", "####### seven", "   # three", ""),
        *("```", "````", "``` sh", "```npm i```", "   ```", "~~~", "~~~~", "~~~ x", ""),
    ]
)


@settings(max_examples=DOCUMENTS, deadline=None)
@given(st.lists(LINES, max_size=30))
def test_the_reader_of_carried_texts_agrees_on_fences_and_headings(lines: list[str]) -> None:
    text = read_text("\n".join(lines))
    fence = ""
    for at, line in enumerate(lines):
        before, fence = fence, update_fence(line, fence)
        assert not line or bool(before or fence) == text.is_code(at)
    headings = [lines[at] for at, _ in text.list_headings()]
    body = "long words " * 60
    shortened = compact_by_section("\n".join(f"{line}\n{body}" for line in ("", *headings)), 20, 99)
    assert [line for line in shortened.split("\n") if line in headings] == headings
