"""A single word is no question, whatever it means and whatever in the vault it names.

Only filters such as "#recipe", and words such as "todos" and "more", ask by themselves.
`read_question` relies on this to leave early, before it reads the names of the vault.
"""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from functools import partial
from itertools import combinations
from typing import get_args

import pytest

from resources import locate_resource
from vault.questions import reader
from vault.questions.vocabulary import Name, NameKind, VaultNames
from vault.questions.words import find_roles, split_words

_TODAY = date(2026, 11, 27)
_DAYS = ("today", "heute", "yesterday", "Friday", "2026", "2026-03", "2026..", "..2026-03", "Q3")
_OTHERS = ("#12", "[[Plan]]", '"restore"', "tag:", "-x", "12.03.2026", "2026年3月", "昨日")


def _list_phrases(table: Mapping[str, object]) -> Iterator[str]:
    for name, value in table.items():
        yield name
        if isinstance(value, dict):
            yield from _list_phrases(value)
        elif isinstance(value, list):
            yield from value


def _list_words() -> list[str]:
    """Return every single word that has a role, and other texts of one word."""
    found = {*_DAYS, *_OTHERS, "server"}
    for path in locate_resource("questions").glob("*.toml"):
        phrases = _list_phrases(tomllib.loads(path.read_text("utf-8")))
        found |= {phrase for phrase in phrases if len(split_words(phrase)) == 1}
    return sorted(found)


def _build_names(word: str, kinds: tuple[NameKind, ...]) -> VaultNames:
    """Build a vault in which one word is a name of each of some kinds."""
    names = VaultNames()
    for kind in kinds:
        names.add(word.strip('#[]"'), Name(kind, word, "size" if kind == "value" else ""))
    names.properties[word] = {word: ["1"], "size": ["2"], "price": ["3"]}
    names.dated.add(word)
    return names


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_single_word_asks_for_nothing_but_tasks_and_more(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_can_ask", lambda _text: True)  # the rest must hold it
    words = _list_words()
    assert len(words) > 500
    read = {
        (word, kinds): reading
        for word in words
        if not find_roles(word) & {"tasks", "more"}
        for kinds in combinations(get_args(NameKind), count)
        if (reading := reader.read_question(word, partial(_build_names, word, kinds), _TODAY))
    }
    assert not read


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("server", False),
        ("recipe", False),
        ("recipes 2026", True),
        ("todos", True),
        ("more", True),
        ("#recipe", True),
        ("#12", False),
        ("tag:recipe", True),
        ("house/recipe", False),
    ],
)
def test_the_names_of_the_vault_are_read_only_for_what_can_ask(text: str, is_read: bool) -> None:
    read = list[bool]()

    def read_names() -> VaultNames:
        read.append(True)
        return _build_names("recipes", ("tag",))

    reader.read_question(text, read_names, _TODAY)
    assert bool(read) == is_read


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("#recipes", "tag:recipes"),
        ("#recipes?", "tag:recipes"),
        ("#soups", "tag:soups"),
        ("-#recipes", "-tag:recipes"),
        ("tag:recipes", "tag:recipes"),
        ("tag:recipes?", "tag:recipes"),
        ("tag:recipes has:open-task", "tag:recipes has:open-task"),
        ("folder:House.", "folder:House"),
        ("tag recipes", "tag:recipes"),
        ("the tag recipes", "tag:recipes"),
        ("Schlagwort recipes", "tag:recipes"),
        ("étiquette recipes", "tag:recipes"),
        ("etiqueta recipes", "tag:recipes"),
        ("folder House", "folder:House"),
        ("Ordner House", "folder:House"),
        ("dossier House", "folder:House"),
        ("carpeta House?", "folder:House"),
    ],
)
def test_a_filter_alone_asks_for_what_fits_it(text: str, query: str) -> None:
    names = VaultNames()
    names.add("recipes", Name("tag", "recipes"))
    names.add("House", Name("folder", "House"))
    assert reader.read_question(text, lambda: names, _TODAY) == reader.Reading("list", query)


@pytest.mark.parametrize(
    "text",
    [
        "tag recipes soup",
        "tag mildew",
        "folder structure",
        "What is the tag recipes?",
        "How do I tag recipes?",
        "Why is folder House there?",
        'tag:recipes "to taste"',
        "tag:recipes basil",
        "recipes",
        "House",
    ],
)
def test_a_tag_or_folder_beside_something_else_claims_nothing(text: str) -> None:
    names = VaultNames()
    names.add("recipes", Name("tag", "recipes"))
    names.add("House", Name("folder", "House"))
    reading = reader.read_question(text, lambda: names, _TODAY)
    assert reading is None or reading.operation == "about"
