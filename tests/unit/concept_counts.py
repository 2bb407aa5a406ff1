"""Find concepts that stand in the product more than once."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tests.support.syntax_trees import list_nodes

SHARED_FIELDS = 4

Trees = Mapping[str, ast.Module]


@dataclass(frozen=True)
class ClassShape:
    """What a class declares.

    Attributes:
        name: its name.
        bases: the last names of its bases.
        fields: the names of its annotated attributes.
        members: the names of its methods and annotated attributes.
        is_dataclass: whether a decorator makes it a dataclass.
    """

    name: str
    bases: tuple[str, ...]
    fields: frozenset[str]
    members: frozenset[str]
    is_dataclass: bool


def find_similar_dataclasses(trees: Trees) -> list[str]:
    """Name the pairs of dataclasses that share four field names or more."""
    dataclasses = {shape.name: shape for shape in _list_classes(trees) if shape.is_dataclass}
    pairs = combinations(sorted(dataclasses), 2)
    return [
        f"{first}, {second}"
        for first, second in pairs
        if len(dataclasses[first].fields & dataclasses[second].fields) >= SHARED_FIELDS
    ]


def find_single_implementors(trees: Trees) -> list[str]:
    """Name the protocols whose members at most one other class of the product has."""
    classes = _list_classes(trees)
    return sorted(
        {
            protocol.name
            for protocol in classes
            if "Protocol" in protocol.bases
            and protocol.members
            and len(_list_implementors(protocol, classes)) <= 1
        }
    )


def find_lonely_bases(trees: Trees) -> list[str]:
    """Name the classes with one child that are never made themselves: one class in two parts."""
    classes = _list_classes(trees)
    children = defaultdict(list)
    for shape in classes:
        for base in shape.bases:
            children[base].append(shape.name)
    made = Counter(_list_called_names(trees))
    protocols = {shape.name for shape in classes if "Protocol" in shape.bases}
    own = {shape.name for shape in classes} - protocols
    return sorted(name for name in own if len(children[name]) == 1 and not made[name])


def _list_implementors(protocol: ClassShape, classes: Sequence[ClassShape]) -> list[str]:
    return [
        shape.name
        for shape in classes
        if shape.name != protocol.name and protocol.members <= shape.members
    ]


def _list_classes(trees: Trees) -> list[ClassShape]:
    nodes = (node for tree in trees.values() for node in list_nodes(tree))
    return [_describe(node) for node in nodes if isinstance(node, ast.ClassDef)]


def _describe(node: ast.ClassDef) -> ClassShape:
    fields = frozenset(_list_fields(node))
    methods = {child.name for child in node.body if isinstance(child, ast.FunctionDef)}
    bases = tuple(ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases)
    is_dataclass = any("dataclass" in ast.unparse(mark) for mark in node.decorator_list)
    return ClassShape(node.name, bases, fields, fields | methods, is_dataclass)


def _list_fields(node: ast.ClassDef) -> Iterator[str]:
    for child in node.body:
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            yield child.target.id


def _list_called_names(trees: Trees) -> Iterator[str]:
    for tree in trees.values():
        for node in list_nodes(tree):
            if isinstance(node, ast.Call):
                yield getattr(node.func, "id", getattr(node.func, "attr", ""))
