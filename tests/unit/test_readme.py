"""The README tells the truth about what a test can check."""

from tests.support.readme import README, settings_table, table_in_readme


def test_the_table_of_settings_is_that_of_the_schema() -> None:
    assert table_in_readme() == settings_table()


def test_the_picture_is_there() -> None:
    text = README.read_text("utf-8")
    picture = text.partition("](")[2].partition(")")[0]
    assert (README.parent / picture).read_bytes().startswith(b"\x89PNG")
