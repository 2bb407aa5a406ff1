"""The rules for docstrings: they name things that exist, and say something of them.

Each word has one spelling.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Final

import pytest

from tests.support.syntax_trees import ROOT, list_nodes, read_modules
from tests.unit.test_structure import Function

FOLDERS = ("app", "chains", "context", "resources", "tests", "ui", "vault")
_CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
# Under `Args:`, `Attributes:` and `Signals:`, an item is a name, or several, and a colon.
_ITEM = re.compile(r"    ((?:\*{0,2}\w+)(?:, \*{0,2}\w+)*): ")
_SECTION = re.compile(r"^(Args|Attributes|Signals):\n((?:(?: {4}.*)?\n)*)", re.MULTILINE)
_LITTLE_WORDS: Final = ("the", "a", "an", "of", "its", "it", "to")
# The spellings that the texts of the interface do not use. SQLite writes "unrecognized token".
_OTHER_SPELLINGS = re.compile(r"\b(?!unrecog)\w*(?:summari|recogni)z\w*", re.IGNORECASE)


def test_each_documented_name_is_a_parameter_or_an_attribute() -> None:
    unknown = [
        f"{name} in {node.name}, line {node.lineno} of {path}"
        for path, tree in read_modules().items()
        for node in list_nodes(tree)
        if isinstance(node, ast.ClassDef | Function)
        for name in sorted(set(_list_documented(node)) - _list_names(node))
    ]
    assert not unknown, "the docstring names what does not exist"


def test_no_file_has_the_lines_of_an_unresolved_merge() -> None:
    folders = (ROOT / folder for folder in FOLDERS)
    files = [*ROOT.glob("*.md"), *(file for folder in folders for file in folder.rglob("*"))]
    texts = (file for file in files if file.suffix in {".py", ".md", ".toml"})
    found = [file.name for file in texts if _CONFLICT.search(file.read_bytes())]
    assert not found, "a merge was not resolved"


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_word_has_one_spelling(folder: str) -> None:
    found = {
        f"{word} in {file.relative_to(ROOT)}"
        for file in (ROOT / folder).rglob("*.py")
        for word in _OTHER_SPELLINGS.findall(file.read_text("utf-8"))
    }
    assert not found, "write summarise and recognise"


def test_a_name_that_does_not_exist_is_found() -> None:
    text = (
        '"""Do it.\n\n    Args:\n        a: one.\n        b, c: two,\n            three.\n    """'
    )
    (function,) = ast.parse(f"def act(a, *, c): {text}").body
    assert isinstance(function, ast.FunctionDef)
    assert set(_list_documented(function)) - _list_names(function) == {"b"}


def test_no_argument_is_described_by_its_own_name_alone() -> None:
    """As in `leaf: the leaf.`, which says nothing that name and type do not say."""
    empty = [
        f"{name} in {node.name}, line {node.lineno} of {path}"
        for path, tree in read_modules().items()
        for node in list_nodes(tree)
        if isinstance(node, ast.ClassDef | Function)
        for name, text in _list_arguments(ast.get_docstring(node) or "")
        if not _says_more(name, text)
    ]
    assert not empty, "leave the argument out, or say what its name and type do not say"


def test_a_description_that_says_nothing_is_found() -> None:
    page = (
        "Do it.\n\n    Args:\n        new_leaf: the leaf.\n        part: one\n            of it.\n"
    )
    found = list(_list_arguments(inspect.cleandoc(page)))
    assert found == [("new_leaf", "the leaf."), ("part", "one of it.")]
    assert [_says_more(name, text) for name, text in found] == [False, True]


def _list_arguments(page: str) -> Iterator[tuple[str, str]]:
    """Yield the name and description of each argument that a docstring describes."""
    for section in _SECTION.finditer(page + "\n"):
        if section[1] == "Args":
            for item in re.split(r"^    (?=\S)", section[2], flags=re.MULTILINE)[1:]:
                name, _, text = item.partition(": ")
                yield name, " ".join(text.split())


def _says_more(name: str, text: str) -> bool:
    words = re.findall("[a-z]+", text.lower())
    own = {*name.strip("*").split("_"), *_LITTLE_WORDS}
    return any(word not in own and word.removesuffix("s") not in own for word in words)


def _list_documented(node: ast.ClassDef | Function) -> Iterator[str]:
    """Yield the names under `Args:`, `Attributes:` and `Signals:` in a docstring."""
    page = (ast.get_docstring(node) or "") + "\n"
    for section in _SECTION.finditer(page):
        for line in section[2].splitlines():
            if line.strip() and not line.startswith(" " * 5):
                item = _ITEM.match(line)
                yield from item[1].replace("*", "").split(", ") if item else [line.strip()]


def _list_names(node: ast.ClassDef | Function) -> set[str]:
    if isinstance(node, ast.ClassDef):
        return _list_attributes(node)
    given = node.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {argument.arg for argument in named if argument is not None}


def _list_attributes(node: ast.ClassDef) -> set[str]:
    """Return the fields, properties, methods and instance variables of a class and its bases."""
    names: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, Function):
            names.add(part.name)
            names |= _list_names(part) if part.name == "__init__" else set()
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            names.add(part.attr)
    bases = [_classes().get(ast.unparse(base)) for base in node.bases]
    return names.union(*(_list_attributes(base) for base in bases if base is not None))


@cache
def _classes() -> dict[str, ast.ClassDef]:
    """Return the classes by name. The names of public classes are unique."""
    nodes = (node for tree in read_modules().values() for node in list_nodes(tree))
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
