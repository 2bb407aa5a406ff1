"""What people are told names requests over RPC, and commands only where there is no request."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import app
import chains
import context
import vault
from app.rpc.wire import adapt_hint, adapt_warnings

# Commands that the user still runs in a terminal: no request does the same.
_KEPT = {"backup", "doctor", "keys", "memory", "models", "rpc", "sessions"}


def _list_texts() -> Iterator[tuple[str, str]]:
    """Yield the texts in the program that name a command or an option in backticks."""
    for package in (app, chains, context, vault):
        folder = Path(next(iter(package.__path__)))
        for file in folder.rglob("*.py"):
            if "cli" in file.parts or "rpc" in file.parts:
                continue
            yield from ((file.name, text) for text in _read_texts(ast.parse(file.read_text())))


def _read_texts(tree: ast.Module) -> Iterator[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    notes = {ast.get_docstring(n, clean=False) for n in ast.walk(tree) if isinstance(n, documented)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "NAME" for p in node.values)
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if "`strata " in text and text.count("`") > 1 and text not in notes:
            yield text


def test_each_command_that_is_named_has_a_request_or_is_run_in_a_terminal() -> None:
    texts = list(_list_texts())
    assert len(texts) > 15
    for file, text in texts:
        adapted = adapt_hint(text) or ""
        left = re.findall(r"`strata ([a-z]+)", adapted)
        assert set(left) <= _KEPT, (file, adapted)


@pytest.mark.parametrize(
    ("said", "adapted"),
    [
        ("read it with `strata instructions show`", "read it with `instructions{action: show}`"),
        (
            "`strata instructions accept --project '/a b'`",
            "`instructions{action: accept, project: '/a b'}`",
        ),
        ("12 of 60 notes; `strata index` does the rest", "12 of 60 notes; `index` does the rest"),
    ],
)
def test_a_warning_names_a_request(said: str, adapted: str) -> None:
    document = {"warnings": [said], "context": {"warnings": (said,), "used": 1}}
    assert adapt_warnings(document) == {
        "warnings": [adapted],
        "context": {"warnings": [adapted], "used": 1},
    }
