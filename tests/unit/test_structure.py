"""The rules for folders, modules and names, with the violations that are still there as a list.

`structure_debts.json` holds those violations. It only shrinks: a new violation fails, and so does
one that is listed and no longer there. `python -m tests.unit.test_structure` writes it anew.
"""

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.syntax_trees import ROOT, list_nodes, read_modules
from tests.unit import concept_counts

DEBTS = Path(__file__).with_name("structure_debts.json")
MOST_MODULES_IN_A_FOLDER = 20
NOT_COUNTED = ("__init__.py", "conftest.py")
# 80 to 400 as a rule; up to 800 where a module is one concept.
LINES_OF_A_MODULE = range(80, 801)
LINES_OF_A_FUNCTION = 50
LINES_OF_A_PAGE = 40
# Words of the glossary and of the field: search, language models, Qt, files, programs.
WORDS = frozenset(Path(__file__).with_name("module_words.txt").read_text("utf-8").split())
# What public functions begin with. Predicates and conversions have the words below.
VERBS = frozenset(Path(__file__).with_name("function_verbs.txt").read_text("utf-8").split())
_PREDICATES = frozenset(["are", "can", "does", "goes", "has", "have", "is", "may", "should", "was"])
_CONVERSIONS = frozenset(["after", "as", "from", "main", "on", "to", "with", "without"])
_QT_OVERRIDES = frozenset(["data", "event", "flags"])
_PARTICIPLE = re.compile(r"[a-z]+(ed|ing)")
_VERBS = re.compile(
    "add|append|bind|build|embed|end|exceed|expand|extend|feed|find|fold|forward|hold|load|need|"
    "proceed|read|record|send|shed|shred|speed|spread|succeed|unfold|yield"
)
_REWRITES = re.compile(
    "endswith|find(all|iter)|(full)?match|r?partition|remove(pre|suf)fix|replace|search|r?split|"
    "startswith|subn?|translate"
)
_HINT = re.compile(r"\.hint\b(?!\()|\b(hints?|fix|ways_out)\b(?!\()|word_(hint|fix)\(")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules_but_faces() -> Iterator[str]:
    """Yield the paths of the modules that are not the face of a package."""
    return (path for path in read_modules() if not path.endswith("__init__.py"))


def find_crowded_folders() -> dict[str, int]:
    """Count the modules of each folder that has too many, those of tests included."""
    folders = Counter(Path(path).parent.as_posix() for path in modules_but_faces())
    tests = (file for file in (ROOT / "tests").rglob("*.py") if file.name not in NOT_COUNTED)
    folders.update(file.parent.relative_to(ROOT).as_posix() for file in tests)
    return {name: count for name, count in folders.items() if count > MOST_MODULES_IN_A_FOLDER}


def find_modules_of_unfit_size() -> dict[str, str]:
    """Name the modules that are too long or too short to stand alone."""
    lines = {path: (ROOT / path).read_text("utf-8").count("\n") for path in modules_but_faces()}
    unfit = {path: count for path, count in lines.items() if count not in LINES_OF_A_MODULE}
    return {path: "short" if count < 80 else "long" for path, count in unfit.items()}


def find_long_functions() -> dict[str, int]:
    """Count the functions of each module that are too long."""
    return _count_functions(lambda f: (f.end_lineno or 0) - f.lineno >= LINES_OF_A_FUNCTION)


def find_participles() -> dict[str, int]:
    """Count the functions of each module that are named by a participle instead of a verb."""
    return _count_functions(_is_named_by_a_participle)


def find_functions_without_a_verb() -> list[str]:
    """Name the public functions and methods that do not begin with a verb."""
    functions = (one for tree in read_modules().values() for one in _list_public_functions(tree))
    return sorted({one.name for one in functions if _lacks_a_verb(one)})


def find_getters_in_of() -> dict[str, int]:
    """Count the functions of each module whose name ends in `_of` in place of a verb."""
    return _count_functions(
        lambda f: f.name.endswith("_of") and not f.name.lstrip("_").startswith(("is_", "one_"))
    )


def find_shared_class_names() -> dict[str, list[str]]:
    """Name the modules of each public class whose name another class has too."""
    found = defaultdict(list)
    for path, tree in read_modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def find_private_module_names() -> list[str]:
    """Name the modules whose names hold a word that is not of the glossary or the field."""
    return [path for path in modules_but_faces() if not set(_words(path)) <= WORDS]


def find_imports_past_a_face() -> dict[str, list[str]]:
    """Name, by sub-package, the modules that others import without its face naming them public."""
    found = defaultdict(set)
    for path, tree in read_modules().items():
        for target in _imported(tree):
            package = target.rpartition("/")[0]
            is_within = path.startswith(f"{package}/") or package == Path(path).parent.as_posix()
            is_sub_package = "/" in package
            if is_sub_package and not is_within and Path(target).stem not in _public(package):
                found[package].add(Path(target).stem)
    return {package: sorted(names) for package, names in sorted(found.items())}


def find_import_circles() -> list[list[str]]:
    """Name the modules that import each other in a circle, also by way of others."""
    imports = {path: set(_imported(tree)) for path, tree in read_modules().items()}
    reached = {path: _reach(path, imports) for path in imports}
    circles = {
        tuple(sorted(other for other in reached[path] if path in reached[other]))
        for path in imports
        if path in reached[path]
    }
    return sorted(map(list, circles))


def find_incomplete_pages() -> dict[str, list[str]]:
    """Name, by package, the modules and sub-packages that its page does not mention."""
    found = {}
    for path, tree in read_modules().items():
        if path.endswith("/__init__.py") and not path.startswith("resources"):
            page, folder = ast.get_docstring(tree) or "", Path(path).parent
            names = {_child_name(other, folder) for other in read_modules()} - {""}
            absent = [name for name in names if not re.search(rf"\b{name}\b", page)]
            if absent:
                found[folder.as_posix()] = sorted(absent)
    return found


def find_imports_missing_on_pages() -> dict[str, list[str]]:
    """Name, by package, what it imports although its page does not list it."""
    found = defaultdict(set)
    for path, tree in read_modules().items():
        package = Path(path).parent.as_posix()
        covers = _covered_by_page(package)
        for name in _imported_names(tree):
            if not name.startswith(f"{package.replace('/', '.')}.") and not covers(name):
                found[package].add(name)
    return {package: sorted(names) for package, names in sorted(found.items())}


def find_long_pages() -> dict[str, int]:
    """Count the lines of each package page that has too many."""
    pages = {
        p: ast.get_docstring(t) or ""
        for p, t in read_modules().items()
        if p.endswith("__init__.py")
    }
    lines = {path: len(page.splitlines()) for path, page in pages.items()}
    return {path: count for path, count in lines.items() if count > LINES_OF_A_PAGE}


def find_rewritten_hints() -> list[str]:
    """Name the calls that search or change the text of a hint, and commands in its text.

    A hint names commands by values (`context.fixes`), which each interface words.
    """
    named = [
        f"{path}: {ast.unparse(node)}"
        for path, tree in read_modules().items()
        if not path.startswith("app/cli/")
        for node in list_nodes(tree)
        if isinstance(node, ast.keyword)
        and node.arg == "hint"
        and isinstance(node.value, ast.Constant | ast.JoinedStr)
        and re.search("`strata |--[a-z]", ast.unparse(node.value))
    ]
    return named + [
        f"{path}: {ast.unparse(node)}"
        for path, tree in read_modules().items()
        if path.startswith(("app/", "chains/", "context/", "ui/", "vault/"))
        for node in list_nodes(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _REWRITES.fullmatch(node.func.attr)
        and any(_HINT.search(ast.unparse(at)) for at in (node.func.value, *node.args))
    ]


def find_dicts_in_the_window() -> list[str]:
    """Name the modules of `ui` that read JSON. A report is read as a type, which mypy checks."""
    return sorted(
        {
            path
            for path, tree in read_modules().items()
            if path.startswith("ui/")
            for node in list_nodes(tree)
            if isinstance(node, ast.Subscript)
            and ast.unparse(node) in {"Mapping[str, Any]", "dict[str, Any]"}
        }
    )


def find_item_models() -> list[str]:
    """Name the item models of the window. Lists, tables and trees share `RowsModel`."""
    return sorted(
        f"{path}: {node.name if isinstance(node, ast.ClassDef) else ast.unparse(node)}"
        for path, tree in read_modules().items()
        if path.startswith("ui/")
        for node in list_nodes(tree)
        if (isinstance(node, ast.ClassDef) and any(map(_is_item_model, node.bases)))
        or (isinstance(node, ast.Call) and _is_item_model(node.func))
    )


def _is_item_model(node: ast.expr) -> bool:
    return bool(
        re.fullmatch(
            r"(\w+\.)*Q(\w*Item|\w*List|\w*Table|\w*Proxy|File\w+)Model", ast.unparse(node)
        )
    )


RULES: dict[str, Callable[[], object]] = {
    "crowded_folders": find_crowded_folders,
    "modules_of_unfit_size": find_modules_of_unfit_size,
    "long_functions": find_long_functions,
    "participles": find_participles,
    "functions_without_a_verb": find_functions_without_a_verb,
    "getters_in_of": find_getters_in_of,
    "shared_class_names": find_shared_class_names,
    "private_module_names": find_private_module_names,
    "imports_past_a_face": find_imports_past_a_face,
    "import_circles": find_import_circles,
    "incomplete_pages": find_incomplete_pages,
    "imports_missing_on_pages": find_imports_missing_on_pages,
    "long_pages": find_long_pages,
    "similar_dataclasses": lambda: concept_counts.find_similar_dataclasses(read_modules()),
    "single_implementors": lambda: concept_counts.find_single_implementors(read_modules()),
    "dicts_in_the_window": find_dicts_in_the_window,
    "rewritten_hints": find_rewritten_hints,
    "item_models": find_item_models,
    "lonely_bases": lambda: concept_counts.find_lonely_bases(read_modules()),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_holds_but_for_the_violations_that_are_listed(rule: str) -> None:
    listed = json.loads(DEBTS.read_text("utf-8"))[rule]
    found = json.loads(json.dumps(RULES[rule]()))
    if isinstance(found, list) and isinstance(listed, dict):  # exceptions with their reasons
        assert all(listed.values())
        listed = sorted(listed)
    assert found == listed, "mend what is new; take what is gone out of the list"


def _count_functions(is_found: Callable[[Function], bool]) -> dict[str, int]:
    counts = {
        path: sum(isinstance(n, Function) and is_found(n) for n in list_nodes(tree))
        for path, tree in read_modules().items()
    }
    return {path: count for path, count in counts.items() if count}


def _is_named_by_a_participle(function: Function) -> bool:
    decorators = {n.id for n in function.decorator_list if isinstance(n, ast.Name)}
    first = function.name.lstrip("_").split("_")[0]
    is_dunder = function.name.startswith("__")
    is_value = decorators & {"property", "cached_property"}
    return (
        not (is_value or is_dunder)
        and not _VERBS.fullmatch(first)
        and bool(_PARTICIPLE.fullmatch(first))
    )


def _list_public_functions(tree: ast.Module) -> Iterator[Function]:
    """Yield the functions of a module, and the methods of its classes, that others may call."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for body in (tree.body, *(node.body for node in classes)):
        for node in body:
            if isinstance(node, Function) and not node.name.startswith("_"):
                yield node


def _lacks_a_verb(function: Function) -> bool:
    """Return whether a name begins with no verb. Properties and overrides of Qt are no functions.

    A verb in the third person, such as `covers`, names a predicate.
    """
    marks = {ast.unparse(mark).split("(")[0].split(".")[-1] for mark in function.decorator_list}
    first = function.name.split("_")[0]
    imperatives = {first, first.removesuffix("s"), first.removesuffix("es"), f"{first[:-3]}y"}
    is_qt = function.name != function.name.lower() or function.name in _QT_OVERRIDES
    is_value = bool(marks & {"property", "cached_property", "setter", "contextmanager"})
    return not (is_qt or is_value or first in _PREDICATES | _CONVERSIONS or imperatives & VERBS)


@cache
def _covered_by_page(package: str) -> Callable[[str], bool]:
    """Return a function that decides whether a module may be imported, as a package's page says.

    "The modules of chains" and "the contract modules" (of context) do not include sub-packages.
    """
    page = " ".join((ast.get_docstring(read_modules()[f"{package}/__init__.py"]) or "").split())
    said = re.search(r"This package may import (.*?)\.(?:\s|$)", page)
    text = said[1] if said else ""
    text = re.sub(r"\bexcept `[\w.]+`(?: and `[\w.]+`)?", "", text)
    text = text.replace("the contract modules", "the modules of context")
    flat = set(re.findall(r"\bthe modules of (\w+)", text))
    names = set(re.findall(r"[\w.]+", re.sub(r"\bthe modules of \w+", "", text)))
    other = re.search(r"the same packages as `([\w.]+)`", text)
    covers_too = _covered_by_page(other[1].replace(".", "/")) if other else lambda _name: False

    def covers(name: str) -> bool:
        above = name.split(".")
        is_flat = above[0] in flat and f"{'/'.join(above)}.py" in read_modules() and len(above) == 2
        prefixes = {".".join(above[:count]) for count in range(1, len(above) + 1)}
        return is_flat or bool(prefixes & names) or covers_too(name)

    return covers


def _imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted names of our own modules and packages that a module imports from."""
    for node in list_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}".replace(".", "/") for alias in node.names}
            inner = {name for name in names if f"{name}.py" in read_modules()}
            for path in inner or {node.module.replace(".", "/")}:
                if {f"{path}.py", f"{path}/__init__.py"} & read_modules().keys():
                    yield path.replace("/", ".")


def _child_name(path: str, folder: Path) -> str:
    """Return the name of the module or sub-package of a folder that a path is, or empty."""
    file = Path(path)
    if file.name == "__init__.py":
        return file.parent.name if file.parent.parent == folder else ""
    return file.stem if file.parent == folder else ""


def _words(path: str) -> list[str]:
    return Path(path).stem.strip("_").split("_")


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield the paths of our own modules that a module imports."""
    for node in list_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                path = f"{name.replace('.', '/')}.py"
                if path in read_modules():
                    yield path


def _reach(start: str, imports: dict[str, set[str]]) -> set[str]:
    """Return the modules that a module imports, directly or not."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = imports.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


def _public(package: str) -> set[str]:
    """Return the modules that the face of a package lists in `__all__`."""
    for node in read_modules()[f"{package}/__init__.py"].body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


if __name__ == "__main__":
    found = {rule: find() for rule, find in RULES.items()}
    DEBTS.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", "utf-8")
