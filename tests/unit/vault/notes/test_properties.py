import time

import pytest

from vault.notes.properties import (
    find_fault,
    is_marked_private,
    load_properties,
    read_text_properties,
    split_values,
)


def test_values_are_the_texts_that_were_written() -> None:
    front = "date: 2024-01-05\nat: 12:30\nn: 007\nok: yes\nlist:\n- a\n- 1\nflow: [x, 'y']\nnone:\n"
    assert load_properties(front) == {
        "date": "2024-01-05",
        "at": "12:30",
        "n": "007",
        "ok": "yes",
        "list": ["a", "1"],
        "flow": ["x", "y"],
        "none": "",
    }


@pytest.mark.parametrize(
    "front",
    [
        "a: &a [1, 1]\nb: *a",
        "[" * 60_000,
        "{a: " * 15_000,
        "- " * 30_000,
        "a: [" * 10_000 + "]" * 10_000,
        "".join(f"k{n}: [1, 2, 3]\n" for n in range(4_000)),
        "a: b: c",
        "- just\n- a list",
        "x" * 100_000,
    ],
    ids=["alias", "list", "mapping", "items", "mixed", "many", "broken", "no mapping", "long"],
)
def test_hostile_front_matter_counts_as_none_and_harms_nothing(front: str) -> None:
    began = time.thread_time()
    assert load_properties(front) == {}
    assert time.thread_time() - began < 2


def test_an_alias_bomb_is_refused_before_it_is_loaded() -> None:
    bomb = "a0: &a0 x\n" + "".join(f"a{i + 1}: &a{i + 1} [{f'*a{i},' * 9}]\n" for i in range(9))
    assert load_properties(bomb) == {}


@pytest.mark.parametrize(
    ("front", "fault"),
    [
        ("tags: [garden, plants\ntitle: Quince", "line 3: "),
        ("tags:\n\t- garden", "line 3: "),
        ("title: Soup: a love story", "line 2: "),
        ("date: {{date}}", "line 2: "),
        ("- a\n- b", "it has no lines"),
        ("a: &a [1]\nb: *a", "it has aliases"),
        ("# only a comment", ""),
        ("", ""),
        ("title: Quince", ""),
    ],
)
def test_front_matter_that_cannot_be_read_says_why(front: str, fault: str) -> None:
    found = find_fault(front)
    sentence = "Its front matter cannot be read, so its tags and properties are lost: "
    assert found.startswith(f"{sentence}{fault}") if fault else not found


@pytest.mark.parametrize(
    ("front", "line", "lost"),
    [
        ("tags: #a #b", 2, "#a #b"),
        ("title: Quince\ntags: fruit, #b", 3, "#b"),
        ("tags:\n  - a\n  - #b", 4, "#b"),
        ("tags:\n  - a #b", 3, "#b"),
        ("tags:\n  #a\n", 3, "#a"),
        ("Tags:   #a", 2, "#a"),
        ("colour: #ff0000\ntitle: x", 2, "#ff0000"),
        ("aliases:\n- #1 Start\n- One", 3, "#1 Start"),
        ("due: #2026-11-27", 2, "#2026-11-27"),
        ('tag: a #b\ntitle: "no #b c"', 2, "#b"),
        (f"tags: #{'word' * 20}", 2, f"#{'word' * 9}wo…"),
    ],
)
def test_a_value_that_yaml_takes_for_a_comment_is_named(front: str, line: int, lost: str) -> None:
    found = find_fault(front)
    assert found.startswith(f"Line {line} of its front matter: YAML takes “{lost}” for a comment")


@pytest.mark.parametrize(
    "front",
    [
        "tags: a # both of them",
        "rating: 5 #out of ten",
        "#tags: a\ntitle: Quince",
        "title: C# and F#",
        "tags: ['#a', \"#b\"]",
        "note: |\n  first\n  #a is kept",
        "tags: # none yet",
        "link: https://example.org/#part",
        "tags:\n  - a\n  #- b",
        "title: Quince\n#a\ntags: b",
    ],
)
def test_a_comment_that_is_meant_as_one_is_no_fault(front: str) -> None:
    assert find_fault(front) == ""


def test_a_tag_that_would_make_an_object_makes_none() -> None:
    loaded = load_properties("a: !!python/object/apply:os.system [ls]")
    assert loaded in ({}, {"a": ["ls"]})


@pytest.mark.parametrize(
    "front",
    [
        "private: true",
        "Private: Yes",
        "'private': on",
        "{private: true}",
        "private:: true",
        "private: true\nbroken: [",
        "broken: : [\ntags: [x, private]",
        "broken: : [\ntags:\n  - private",
        "broken: : [\ntags: x private y",
        "tags: &t [private]\nmore: *t",
        "title: x\ntags: #private",
        "title: x\ntags: #a #private #b",
        "title: x\ntags:\n  - #private/letters",
        "title: x\nprivate: #true",
    ],
)
def test_front_matter_keeps_its_note_private_also_where_it_is_broken(front: str) -> None:
    assert is_marked_private(front, load_properties(front))


@pytest.mark.parametrize(
    "front", ["private: false", "private: no\nbroken: [", "title: private", "A private matter"]
)
def test_front_matter_that_only_mentions_privacy_keeps_nothing_private(front: str) -> None:
    assert not is_marked_private(front, load_properties(front))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a, b", ("a", "b")),
        (["a b", " c ", "", {"d": "e"}], ("a b", "c")),
        ({"a": "b"}, ()),
        (None, ()),
    ],
)
def test_a_list_and_a_text_with_commas_are_the_same(value: object, words: tuple[str, ...]) -> None:
    assert split_values(value) == words


def test_tags_may_be_parted_by_blanks() -> None:
    assert split_values("a  b,c", splits_blanks=True) == ("a", "b", "c")


def test_texts_go_by_their_names_in_lower_case() -> None:
    front = {"Status": "open, soon", "Links": ["[[A]]", "b"], "empty": ""}
    assert read_text_properties(front) == {"status": ("open, soon",), "links": ("[[A]]", "b")}


@pytest.mark.parametrize(
    ("front", "properties"),
    [
        (
            "project: {name: Shed, state: open}",
            {"project.name": ("Shed",), "project.state": ("open",)},
        ),
        ("A:\n  B:\n    C: x\n  D: [y, z]\n", {"a.b.c": ("x",), "a.d": ("y", "z")}),
        (
            "by:\n  - name: Ada\n    of: Kiel\n  - name: Bo\n",
            {"by.name": ("Ada", "Bo"), "by.of": ("Kiel",)},
        ),
        ("a: {b: ''}\na.b: x", {"a.b": ("x",)}),
        ("people:\n  - [[Ada]]\n  - [[Bo|B]]\n", {"people": ("[[Ada]]", "[[Bo|B]]")}),
        ("lead: [[Ada Berg]]", {"lead": ("[[Ada Berg]]",)}),
        ('people: ["[[Ada]]", "[[Bo]]"]', {"people": ("[[Ada]]", "[[Bo]]")}),
        ("all: [[[Ada]], [[Bo, Cy]]]", {"all": ("[[Ada]]", "[[Bo, Cy]]")}),
    ],
)
def test_properties_within_others_and_links_without_quotes_are_read(
    front: str, properties: dict[str, tuple[str, ...]]
) -> None:
    assert read_text_properties(load_properties(front)) == properties
