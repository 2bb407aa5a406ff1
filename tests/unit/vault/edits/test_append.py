"""A text that is appended is separated from the last block, unless it goes on with it."""

import pytest

from vault.edits.plan import ContentChange, plan_append


def append(before: str, text: str) -> str:
    """Return what stands between the text of a note and a text that is appended."""
    (change,) = plan_append("a.md", before.encode(), text).changes
    assert isinstance(change, ContentChange)
    return change.after.decode().removeprefix(before).removesuffix(f"{text}\n")


@pytest.mark.parametrize(
    ("before", "text", "between"),
    [
        ("A paragraph.\n", "More.", "\n"),
        ("A paragraph.", "More.", "\n\n"),
        ("# A heading\n", "More.", ""),
        ("- one\n", "- two", ""),
        ("```\nopen\n", "more code", ""),
        ("```\nclosed\n```\n", "More.", "\n"),
        ("````\nopen\n```\n", "more code", ""),
        ("~~~\nopen\n```\n", "more code", ""),
        ("````\nclosed\n`````\n", "More.", "\n"),
        ("```npm i```\n", "More.", "\n"),
        ("```npm i```  \n", "More.", ""),
        ("A line  \n", "goes on here", ""),
        ("A line  \n", "#tag goes on", ""),
        ("A line  \n", "> a quotation", "\n"),
        ("A line  \n", "# A heading", "\n"),
        ("A line  \n", "===", "\n"),
        ("A line  \n", "~~~\ncode\n~~~", "\n"),
        ("A line  \n", "~~struck~~", ""),
        ("A line  \n", "| a |\n|---|", "\n"),
        ("A line  \n", "-minus", ""),
    ],
)
def test_a_text_is_separated_unless_it_goes_on_with_the_last_block(
    before: str, text: str, between: str
) -> None:
    assert append(before, text) == between
