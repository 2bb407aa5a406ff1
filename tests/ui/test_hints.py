"""The window words errors and ways out by the labels of settings, and leaves commands out."""

import ast

import pytest

from app.errors import ErrorInfo
from context.fixes import Command, Fix, Option, Setting, make_hint
from tests.support.syntax_trees import list_nodes, read_package
from ui.widgets.texts import word_error, word_hint


@pytest.mark.parametrize(
    ("hint", "worded"),
    [
        (None, ""),
        ("Try again.", "Try again."),
        ("Move chat.model and `strata` away.", "Move chat.model and `strata` away."),  # file names
        (Fix("`{}` takes full paths.", Option("--attach")), ""),
        (Fix("Name one with {}, or set {}.", Option("--vault DIR"), Setting("vault.path")), ""),
        (
            (
                Fix("Choose another {}.", Setting("embedding.model")),
                Fix("{} tests it.", Command("doctor")),
                Fix("See {} for {}.", Setting("chat.model"), "a.md"),
            ),
            'Choose another "Embedding model". See "Model" for a.md.',
        ),
    ],
)
def test_a_hint_in_the_window_names_labels_and_no_commands(hint: object, worded: str) -> None:
    assert word_hint(make_hint(hint)) == worded  # type: ignore[arg-type]


def test_an_error_in_the_window_names_labels_too() -> None:
    hint = make_hint(Fix("Set {}.", Setting("embedding.model")))
    info = ErrorInfo("offline", "The server of chat.apiBase is not reached.", hint)
    assert word_error(info) == (
        'The server of "Server address" is not reached. Set "Embedding model".'
    )
    assert word_error(ErrorInfo("busy", "Nothing is lost.")) == "Nothing is lost."


def test_no_view_puts_an_error_and_its_ways_out_together_by_hand() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, tree in read_package("ui").items()
        for node in list_nodes(tree)
        if isinstance(node, ast.JoinedStr | ast.Tuple | ast.Call)
        and {"info.message", "word_hint(info.hint)"} <= set(map(ast.unparse, _list_parts(node)))
    ]
    assert found == [], "word_error() and word_message() use the labels of settings"


def _list_parts(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that a text, a tuple or a call is made of directly."""
    parts = [
        child.value for child in ast.iter_child_nodes(node) if isinstance(child, ast.FormattedValue)
    ]
    return [*parts, *(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))]
