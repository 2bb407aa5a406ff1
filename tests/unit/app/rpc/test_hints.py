"""What people are told names requests over RPC, and commands only where there is no request."""

import ast
import re
from collections.abc import Iterator

import pytest

from app.config.schema import schema
from app.rpc.fixes import word_fix, word_warning, word_warnings
from context.fixes import Command, Fix, Option, Setting
from tests.support.syntax_trees import list_nodes, read_modules

# Commands that the user still runs in a terminal: no request does the same.
_VALUES = {"Command", "Option", "Setting"}
_KEPT = {"backup", "doctor", "keys", "memory", "models", "rpc", "sessions"}


def _list_modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules whose texts are shown over RPC too."""
    for path, tree in read_modules().items():
        package, *others = path.split("/")
        if package not in {"ui", "resources"} and not {"cli", "rpc"} & set(others):
            yield others[-1], tree


def _read_texts(tree: ast.Module) -> Iterator[str]:
    """Yield the texts that name a command in backticks, and the commands of ways out."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    notes = {
        ast.get_docstring(n, clean=False) for n in list_nodes(tree) if isinstance(n, documented)
    }
    for node in list_nodes(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (p.value if isinstance(p, ast.Constant) else "NAME" for p in node.values)
            text = "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Command":
            yield str(Command(ast.literal_eval(node.args[0])))
            continue
        else:
            continue
        if "`strata " in text and text.count("`") > 1 and text not in notes:
            yield text


def test_each_command_that_is_named_has_a_request_or_is_run_in_a_terminal() -> None:
    texts = [(file, text) for file, tree in _list_modules() for text in _read_texts(tree)]
    assert len(texts) > 25
    for file, text in texts:
        worded = word_warning(text)
        left = re.findall(r"`strata ([a-z]+)", worded)
        assert set(left) <= _KEPT, (file, worded)


def test_a_way_out_names_settings_and_commands_by_values() -> None:
    named = re.compile(r"strata |--[a-z]|" + "|".join(map(re.escape, schema())))
    made = [
        (file, ast.unparse(text))
        for file, tree in _list_modules()
        for node in list_nodes(tree)
        if isinstance(node, ast.keyword) and node.arg == "hint"
        for text in _list_sentences(node.value)
    ]
    assert len(made) > 40
    assert [(file, text) for file, text in made if named.search(text)] == []


def _list_sentences(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the texts of a hint, but not those of the values in it."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        yield node
    elif not (isinstance(node, ast.Call) and ast.unparse(node.func) in _VALUES):
        for child in ast.iter_child_nodes(node):
            yield from _list_sentences(child)


@pytest.mark.parametrize(
    ("fix", "typed", "sent"),
    [
        (Fix("Try {again}."), "Try {again}.", "Try {again}."),
        (Fix("Lower {}.", Setting("chat.model")), "Lower chat.model.", "Lower chat.model."),
        (
            Fix("{} brings it back.", Command("sessions restore", ("7",))),
            "`strata sessions restore 7` brings it back.",
            "`restore_session{session: 7}` brings it back.",
        ),
        (
            Fix("{} removes it.", Command("memory forget", ("3",), "/a b")),
            "`strata memory forget 3 --project '/a b'` removes it.",
            "`forget_memory{number: 3, project: '/a b'}` removes it.",
        ),
        (
            Fix("{} shows {}.", Command("sessions show", ("{}",)), "{x}"),
            "`strata sessions show {}` shows {x}.",
            "`get_entries` shows {x}.",
        ),
        (
            Fix("{} names it.", Command("doctor")),
            "`strata doctor` names it.",
            "`strata doctor` names it.",
        ),
        (Fix("`{}` does it.", Option("--project DIR")), "`--project DIR` does it.", None),
        (
            Fix(
                "Name one with {}, or with {}.",
                Option("--vault DIR"),
                Command("settings set", ("vault.path", "DIR")),
            ),
            "Name one with --vault DIR, or with `strata settings set vault.path DIR`.",
            "Name one with `strata rpc --vault DIR`, or with "
            "`set_setting{key: vault.path, value: DIR}`.",
        ),
    ],
)
def test_a_way_out_is_worded_by_commands_or_by_requests(
    fix: Fix, typed: str, sent: str | None
) -> None:
    assert str(fix) == typed
    assert word_fix(fix) == (sent or "`new_session{project: DIR}` does it.")


@pytest.mark.parametrize(
    ("said", "adapted"),
    [
        ("one ` is no pair, `strata index", "one ` is no pair, `strata index"),
        ("one ` alone", "one ` alone"),
        ("`strata doctor` tells more", "`strata doctor` tells more"),
        ("`strata settings set a b c` sets it", "`set_setting{key: a, value: b c}` sets it"),
        ("`strata sessions show 1` lists 2 more.", "`get_entries` lists 2 more."),
        ("`strata indexing` is none", "`strata indexing` is none"),
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
    assert word_warnings(document) == {
        "warnings": [adapted],
        "context": {"warnings": [adapted], "used": 1},
    }
