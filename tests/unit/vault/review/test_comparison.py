"""Two notes are shown side by side, with the words lit in which they differ."""

from vault.review.comparison import ComparedRow, compare_texts


def show(rows: tuple[ComparedRow, ...]) -> list[str]:
    """Write rows as text, with what is lit in brackets."""

    def write(row: ComparedRow) -> str:
        if row.folded:
            return f"… {row.folded}"
        sides = (
            "".join(f"[{text}]" if lit else text for text, lit in side.parts) if side else "-"
            for side in (row.first, row.second)
        )
        return " | ".join(sides)

    return [write(row) for row in rows]


def test_only_the_words_that_differ_are_lit() -> None:
    rows = compare_texts("# A\n\nIt is 4 °C warm.\nSame.\n", "# A\n\nIt is 7 °C warm.\nSame.\n")
    assert show(rows) == [
        "# A | # A",
        " | ",
        "It is [4] °C warm. | It is [7] °C warm.",
        "Same. | Same.",
    ]
    assert [row.is_different for row in rows] == [False, False, True, False]


def test_a_figure_is_lit_as_a_whole() -> None:
    rows = compare_texts("It cost 2,480.50 € at 02:30.\n", "It cost 2,900.50 € at 02:45.\n")
    assert show(rows) == ["It cost [2,480.50] € at [02:30]. | It cost [2,900.50] € at [02:45]."]


def test_lines_that_one_note_lacks_have_no_line_beside_them() -> None:
    assert show(compare_texts("a\nc\n", "a\nb b\nc\n")) == ["a | a", "- | [b b]", "c | c"]


def test_equal_lines_far_from_a_difference_are_folded() -> None:
    same = "\n".join(f"line {n}" for n in range(20))
    rows = compare_texts(f"{same}\nx\n", f"{same}\ny\n")
    assert show(rows) == ["… 17", *(f"line {n} | line {n}" for n in (17, 18, 19)), "[x] | [y]"]


def test_two_lines_of_different_notes_are_beside_each_other() -> None:
    rows = compare_texts("# A\nIt is 4 °C.\n", "# B\nText\n\nIt is 7 °C.\nEnd\n", (2, 4))
    assert show(rows) == [
        "- | # B",
        "- | Text",
        "# A | ",
        "It is [4] °C. | It is [7] °C.",
        "- | End",
    ]


def test_equal_notes_have_no_difference_and_nothing_is_folded() -> None:
    text = "\n".join("abcdefghij")
    assert not any(row.is_different or row.folded for row in compare_texts(text, text))
