"""Queries that are too long, too deep or too large are named as not understood, and at once."""

import json
import tracemalloc
from time import process_time

import pytest

from tests.unit.vault.views.conftest import WordIndexer
from vault.vault import Vault
from vault.views.blocks import ViewBlock, compute_block
from vault.views.view import ComputedView

NOTES = {f"Note {number}.md": f"---\nrating: {number}\n---\n#a0 #b0\n" for number in range(3)}


@pytest.fixture(scope="module")
def vault(index_words: WordIndexer) -> Vault:
    return index_words(NOTES)


def compute(vault: Vault, kind: str, text: str) -> ComputedView | str:
    block = ViewBlock("base" if kind == "base" else "dataview", text, (1, 1))
    (view,) = compute_block(vault, block, "Note 0.md").views
    return view


PAIRS = [f"(#a{n} AND #b{n})" for n in range(22)]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dataview", f"LIST FROM {' OR '.join(PAIRS)}"),
        (
            "dataview",
            f"LIST FROM -({' AND '.join(PAIRS).replace(') AND', ') and')})".replace(
                " AND #", " OR #"
            ),
        ),
        ("dataview", f"LIST FROM {' or '.join(f'(-#a{n} && -#b{n})' for n in range(22))}"),
        ("dataview", f"LIST FROM {' OR '.join(f'#a{n}' for n in range(20_000))}"),
        ("dataview", f"LIST LIMIT {'9' * 5_000}"),
        ("dataview", f"TABLE {', '.join(['rating'] * 20_000)}"),
        ("dataview", f"LIST SORT {', '.join(['rating'] * 20_000)}"),
        ("dataview", f"LIST {'SORT rating ' * 20_000}"),
        ("dataview", f"LIST {'WHERE rating ' * 20_000}"),
        ("dataview", f"LIST FROM {'(' * 3_000}#a{')' * 3_000}"),
        ("dataview", f"LIST FROM {'-(' * 3_000}#a{')' * 3_000}"),
        ("dataview", f"LIST FROM {'(' * 3_000}"),
        ("dataview", f"LIST WHERE {'(' * 3_000}a{')' * 3_000}"),
        ("dataview", f"LIST WHERE {'!' * 3_000}a"),
        ("dataview", f"LIST WHERE {' AND '.join(['a'] * 3_000)}"),
        ("base", f"views: [{{type: list, limit: {'9' * 5_000}}}]"),
        ("base", f"views: [{{type: list, limit: '{'9' * 5_000}'}}]"),
        ("base", f"filters: {'{and: [' * 3_000}a{']}' * 3_000}"),
        ("base", f"filters: {{and: [{', '.join(['a > b'] * 5_000)}]}}"),
        ("base", f"filters: {{or: [{', '.join(['a > b'] * 5_000)}]}}"),
        ("base", f'filters: "{"(" * 3_000}a{")" * 3_000}"'),
        ("base", f'formulas: {{f: "{"(" * 3_000}a{")" * 3_000}"}}'),
    ],
    ids=range(22),
)
def test_a_query_that_is_too_large_is_named(vault: Vault, kind: str, text: str) -> None:
    view = compute(vault, kind, text)
    assert isinstance(view, str)
    assert "not understood" in view or "no valid YAML" in view


@pytest.mark.parametrize(
    ("kind", "text", "total"),
    [
        ("dataview", f"LIST WHERE rating > {'9' * 5_000}", 0),
        ("dataview", f"LIST WHERE {' AND '.join(['rating < 2'] * 120)}", 2),
        ("base", f"filters: rating < {'9' * 5_000}", 3),
        ("base", f"filters: {{and: [{', '.join(['rating < 2'] * 400)}]}}", 2),
        ("base", f"filters: {{or: [{', '.join(['rating + 1 > 2'] * 300)}]}}", 1),
        ("base", f"views: [{{type: list, sort: [{', '.join(['rating'] * 2_000)}]}}]", 3),
    ],
    ids=range(6),
)
def test_a_large_query_is_computed(vault: Vault, kind: str, text: str, total: int) -> None:
    view = compute(vault, kind, text)
    assert isinstance(view, ComputedView), view
    assert view.total == total


BLANKS = " " * 300_000


@pytest.mark.parametrize(
    "text",
    [
        f"LIST SORT a{BLANKS}b",
        f"LIST SORT a{BLANKS}desc b",
        f"TASK GROUP BY a{BLANKS}b",
        f"TABLE a{BLANKS}b",
        f"TABLE a{BLANKS}AS{BLANKS}b c",
        f'TABLE a AS "b{BLANKS}',
        f"TABLE {'a AS ' * 60_000}",
        "LIST WHERE " + '"\\' * 100_000,
        f"LIST FROM #a{BLANKS}$",
        f"LIST FROM {'[[' * 100_000}",
        f"LIST{BLANKS}WITHOUT{BLANKS}IT",
        f"LIST WHERE a{BLANKS}b",
        f"LIST LIMIT 1{BLANKS}x",
        "\n" * 100_000 + f"//{BLANKS}\nLIST ?",
        f"LIST WHERE {'group ' * 60_000}",
    ],
    ids=range(15),
)
def test_a_query_is_read_in_linear_time(vault: Vault, text: str) -> None:
    started = process_time()
    assert isinstance(compute(vault, "dataview", text), str)
    assert process_time() - started < 10  # it takes less than one, in quadratic time an hour


@pytest.mark.parametrize(
    "formulas",
    [
        {"j": f"'{'a' * 1_990}'.split('a').join('{'b' * 1_990}')"}
        | {"k": f"list({', '.join(['formula.j'] * 100)}).join('')"},
        {"j": f"'{'a' * 1_990}'.split('a')"}
        | {"l": f"list({', '.join(['formula.j'] * 100)})"}
        | {"k": f"list({', '.join(['formula.l'] * 18)})"},
        {"j": f"'{'a' * 1_990}'.split('a')"} | {"k": f"[{', '.join(['formula.j'] * 100)}]"},
        {"j": f"'{'ab' * 990}'.split('a')"}
        | {"k": f"[{', '.join(['formula.j'] * 100)}].join('{'b' * 1_990}')"},
        {"j": f"'{'a' * 1_990}'.split('a').join('{'b' * 1_990}').split('b')"}
        | {"k": f"list({', '.join(['formula.j'] * 100)}).unique().reverse()"},
    ],
    ids=range(5),
)
def test_a_formula_builds_no_text_or_list_that_is_very_long(
    vault: Vault, formulas: dict[str, str]
) -> None:
    view = {"type": "table", "order": ["formula.k"], "sort": [{"property": "formula.k"}]}
    text = json.dumps({"formulas": formulas, "views": [view]})
    tracemalloc.start()
    try:
        found = compute(vault, "base", text)
        most_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(found, ComputedView)
    assert found.total == len(NOTES)
    assert most_bytes < 100_000_000


DEEP = f"{'number(' * 35}file.size{')' * 35}"


def write_base(formulas: dict[str, str], *fields: str) -> str:
    return json.dumps({"formulas": formulas, "views": [{"type": "table", "order": fields}]})


@pytest.mark.parametrize(
    ("kind", "text", "is_named"),
    [
        ("dataview", f"LIST WHERE {DEEP} > 1", False),
        ("base", write_base({"a": DEEP}, "formula.a"), False),
        (
            "base",
            write_base({"a": DEEP, "b": DEEP.replace("file.size", "formula.a")}, "formula.b"),
            True,
        ),
        ("base", write_base({"a": "formula.b", "b": "formula.a"}, "formula.b"), True),
        (
            "base",
            json.dumps({"formulas": {"a": "formula.a + 1"}, "filters": "formula.a > 1"}),
            True,
        ),
        ("dataview", f"LIST {' + '.join(['rating'] * 200)}", False),
        ("dataview", f"LIST WHERE {' and '.join(f'rating > {n}' for n in range(100))}", False),
    ],
)
def test_what_is_too_deep_is_named_and_a_long_row_is_not_deep(
    vault: Vault, kind: str, text: str, is_named: bool
) -> None:
    found = compute(vault, kind, text)
    if is_named:
        assert found == "An expression so deep is not understood."
    else:
        assert isinstance(found, ComputedView), found


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that is reached sooner."""
    monkeypatch.setattr("vault.views.evaluate._MOST_STEPS", 200_000)


def test_a_view_that_takes_too_much_work_says_so(vault: Vault, few_steps: None) -> None:
    formulas = {"f0": "file.size"}
    for n in range(1, 25):
        formulas[f"f{n}"] = f"formula.f{n - 1} + formula.f{n - 1}"
    views = [{"name": "Sums", "order": ["formula.f24"]}, {"name": "Names", "order": ["file.name"]}]
    block = ViewBlock("base", json.dumps({"formulas": formulas, "views": views}), (1, 1))
    sums, others = compute_block(vault, block, "Note 0.md").views
    assert str(sums).startswith("Sums: This takes too much work")
    assert isinstance(others, ComputedView)
    assert others.total == len(NOTES)


LONG_LIST = f"list({', '.join(['formula.s'] * 90)})"
MANY_TEXTS = ", ".join(f'"z{n}"' for n in range(200))


@pytest.mark.parametrize(
    ("work", "columns"),
    [
        (f"formula.l.containsany({MANY_TEXTS})", 20),
        (f"formula.l.containsall({MANY_TEXTS})", 20),
        ("formula.l == formula.l", 40),
        ("formula.l.join(formula.s).contains(formula.s)", 40),
    ],
)
def test_a_view_of_few_long_steps_ends_soon(
    vault: Vault, few_steps: None, work: str, columns: int
) -> None:
    formulas = {"s": '"a"' + ' + "abcdefghij"' * 150, "l": LONG_LIST}
    formulas |= {f"t{n}": work for n in range(columns)}
    text = write_base(formulas, *(f"formula.t{n}" for n in range(columns)))
    assert str(compute(vault, "base", text)).startswith("This takes too much work")
