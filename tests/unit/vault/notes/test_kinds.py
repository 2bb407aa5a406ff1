import pytest

from vault.notes.kinds import find_page, format_page_heading


def test_the_page_is_read_from_the_heading_that_was_made_of_it() -> None:
    assert find_page("Manuals/Boiler.PDF", (format_page_heading(12), "Safety")) == 12


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("Boiler.pdf", ()),
        ("Boiler.pdf", ("Page twelve",)),
        ("Boiler.pdf", ("Safety", "Page 12")),
        ("Page turners.md", ("Page 12",)),
    ],
)
def test_a_note_and_a_title_of_its_own_have_no_page(path: str, heading: tuple[str, ...]) -> None:
    assert find_page(path, heading) is None
