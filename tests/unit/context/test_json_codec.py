"""Values are written as JSON by their fields, and read back as they were."""

import importlib.util
import json
import pkgutil
from collections import UserList
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from random import Random
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

import app
import chains
import context
import vault
from app.pinned.answer import AnswerRow, ModelAnswer, PinnedAnswer
from context.errors import MalformedEntry
from context.json_codec import MalformedValue, Record, decode, encode
from context.layers import ImageData, Layer, Segment
from context.log.parse import SessionHeader
from context.offload import Offloaded
from context.report.layer_parts import LayerPart
from context.report.report import LayerUse, LeftOut, PinUse, Prefix, TrimSummary

READ_BACK = (
    *(AnswerRow, ModelAnswer, PinnedAnswer, ImageData, Segment, SessionHeader, Offloaded),
    *(LayerPart, LayerUse, LeftOut, PinUse, Prefix, TrimSummary),
)
TEXTS = ("", "n.md", "Zoë 日本語 🌱", "a\nb", "\x00\x1b[31m", "</tool> \u2028", "null", "x" * 300)


@dataclass(frozen=True)
class Leaf(Record):
    name: str
    at: datetime | None = None


@dataclass(frozen=True)
class Tree(Record):
    layer: Layer
    leaves: tuple[Leaf, ...] = ()
    seconds: float = 0.0
    note: str = ""
    kind: Literal["oak", "elm"] = "oak"
    sizes: Mapping[str, int] | None = None
    folder: Path | None = None
    tags: frozenset[str] = frozenset()
    others: Mapping[str, Any] | None = None

    json_shape = (
        "layer",
        "n = first.name if leaves",
        "leaves",
        "seconds to 1 digits",
        "note or null",
        "kind",
        "sizes unless null",
        "folder",
        "tags",
    )
    json_type = "tree"
    json_rest = "others"
    json_lenient = ("seconds",)

    @property
    def first(self) -> Leaf:
        return self.leaves[0]


TREE = {
    "type": "tree",
    "layer": "L1",
    "n": "a",
    "leaves": [{"name": "a", "at": "2026-05-01T00:00:00+00:00"}],
    "seconds": 1.2,
    "note": None,
    "kind": "elm",
    "folder": None,
    "tags": ["a", "b"],
}


IMAGE = Segment(
    "a1", Layer.L3, "image", "a.png", None, "v", "", image=ImageData("image/png", "AA==")
).to_dict()


def test_a_value_is_written_as_its_shape_says() -> None:
    leaf = Leaf("a", datetime(2026, 5, 1, tzinfo=UTC))
    tree = Tree(Layer.L1, (leaf,), 1.24, kind="elm", tags=frozenset("ba"), others={})
    assert list(tree.to_dict().items()) == list(TREE.items())
    assert "n" not in Tree(Layer.L1, others={}).to_dict()
    assert Tree.from_dict(TREE).to_dict() == TREE


def test_keys_of_a_later_version_are_kept() -> None:
    later = {**TREE, "added": {"x": [1]}}
    read = Tree.from_dict(later)
    assert (read.others or {})["added"] == {"x": [1]}
    assert read.to_dict() == later


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"type": "bush"}, "its type is not tree"),
        ({"layer": "L99"}, "L99"),
        ({"layer": []}, "Layer"),
        ({"leaves": {}}, "not a list"),
        ({"leaves": [{}]}, "'name' is missing"),
        ({"leaves": [{"name": True}]}, "not text"),
        ({"kind": "ash"}, "not one of oak, elm"),
        ({"kind": []}, "not one of oak, elm"),
        ({"sizes": {"a": True}}, "not a whole number"),
        ({"note": 3}, "not text"),
        ({"folder": 3}, "null"),
        ({"tags": "ab"}, "not a list"),
    ],
)
def test_a_malformed_field_is_refused(changed: Mapping[str, Any], said: str) -> None:
    with pytest.raises(MalformedValue, match=said):
        Tree.from_dict({**TREE, **changed})


@pytest.mark.parametrize("data", [None, [], "x", 3, {}])
def test_what_is_no_object_with_the_fields_is_refused(data: object) -> None:
    with pytest.raises(MalformedValue):
        Leaf.from_dict(data)
    with pytest.raises(MalformedEntry):  # as the class declares
        ImageData.from_dict(data)


def test_a_lenient_field_is_empty_where_it_is_malformed() -> None:
    assert Tree.from_dict({**TREE, "seconds": "soon"}).seconds == 0.0
    assert Segment.from_dict({**IMAGE, "image": "lost"}).image is None
    assert Segment.from_dict({**IMAGE, "version": {}}).version is None


@pytest.mark.parametrize("image", [{}, {"media_type": "image/png"}, {"media_type": 1, "data": ""}])
def test_an_object_in_a_lenient_field_is_not_read_without_what_it_holds(image: object) -> None:
    with pytest.raises(MalformedEntry):
        Segment.from_dict({**IMAGE, "image": image})


def test_a_list_of_any_kind_is_written_as_a_list() -> None:
    report = LeftOut(Layer.L4, UserList(["q", "a", "b"]), 2, 9, "room")
    assert report.to_dict()["entries"] == ["q", "a", "b"]
    assert encode(range(3)) == [0, 1, 2]


def test_a_value_without_a_form_in_json_is_refused() -> None:
    with pytest.raises(TypeError, match="JSON has no form for a bytes"):
        encode([b"x"])


def test_every_declaration_names_attributes_of_its_class() -> None:
    """A shape is text, so that nothing else finds a key whose attribute was renamed."""
    from context.json_codec import _list_keys

    declaring = [made for made in list_dataclasses() if hasattr(made, "json_shape")]
    assert len(declaring) > 20
    for made in declaring:
        names = {field.name for field in fields(made)} | set(dir(made))
        for key in _list_keys(made):
            assert {key.attribute.partition(".")[0]} - {""} <= names, (made, key.name)
        assert {*getattr(made, "json_lenient", ())} <= names


@pytest.mark.parametrize("made", READ_BACK, ids=lambda made: made.__name__)
def test_a_written_value_is_read_back_as_it_was(made: type[Any]) -> None:
    random = Random(made.__name__)
    for _ in range(60):
        value = make_value(made, random)
        written = json.loads(json.dumps(encode(value)))
        read = decode(made, written)
        assert encode(read) == written
        if made is not Segment:  # whose log entry leaves out what another one holds
            assert read == value


@pytest.mark.parametrize("made", READ_BACK, ids=lambda made: made.__name__)
def test_hostile_json_is_read_or_refused(made: type[Any]) -> None:
    random = Random(made.__name__)
    hostile = (None, True, -1, 10**400, float("nan"), "\ud800", [], [[]], {}, {"x": {}}, [None])
    refused = getattr(made, "json_error", MalformedValue)
    for _ in range(150):
        data = json.loads(json.dumps(encode(make_value(made, random))))
        data[random.choice([*data, "unknown"])] = random.choice(hostile)
        try:
            read = made.from_dict(data)
        except refused:
            continue
        assert isinstance(read, made)


def make_value(hint: Any, random: Random) -> Any:
    """Return a random value of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return make_value(random.choice(inner), random)
    if origin is Literal:
        return random.choice(inner)
    if origin is tuple:
        hints = inner[:1] * random.randrange(3) if ... in inner else inner
        return tuple(make_value(each, random) for each in hints)
    if origin is Sequence:
        return tuple(random.sample(TEXTS, 2))
    if origin is not None:
        return {text: make_value(inner[1], random) for text in random.sample(TEXTS, 2)}
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        names = [field.name for field in fields(hint)]
        return hint(**{name: make_value(hints[name], random) for name in names})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return random.choice(list(hint))
    plain: dict[Any, Any] = {
        str: random.choice(TEXTS),
        int: random.choice((0, 1, 7, 2**64)),
        bool: random.random() < 0.5,
        float: random.choice((0.0, 1.5, 1e308)),
        NoneType: None,
    }
    return plain.get(hint, {"x": [1, None]})


def list_dataclasses() -> Iterator[type[Any]]:
    """Yield every dataclass of a module with shapes, below the window."""
    for package in (app, chains, context, vault):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name.endswith(("__main__", "worker")):
                continue
            source = importlib.util.find_spec(found.name)
            if source is None or "json_shape" not in Path(source.origin or "").read_text("utf-8"):
                continue
            module = importlib.import_module(found.name)
            for value in vars(module).values():
                is_own = isinstance(value, type) and value.__module__ == found.name
                if is_own and is_dataclass(value):
                    yield value
