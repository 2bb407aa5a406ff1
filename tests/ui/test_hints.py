"""The window words a way out by the labels of settings, and leaves commands out."""

import pytest

from context.fixes import Command, Fix, Option, Setting, make_hint
from ui.widgets.texts import word_hint


@pytest.mark.parametrize(
    ("hint", "worded"),
    [
        (None, ""),
        ("Try again.", "Try again."),
        ("Move chat.model and `strata` away.", "Move chat.model and `strata` away."),  # file names
        (Fix("`{}` takes full paths.", Option("--attach")), ""),
        (Fix("Name one with {}, or set {}.", Option("--vault DIR"), Setting("vault.path")), ""),
        (
            (
                Fix("Choose another {}.", Setting("embedding.model")),
                Fix("{} tests it.", Command("doctor")),
                Fix("See {} for {}.", Setting("chat.model"), "a.md"),
            ),
            'Choose another "Embedding model". See "Model" for a.md.',
        ),
    ],
)
def test_a_hint_in_the_window_names_labels_and_no_commands(hint: object, worded: str) -> None:
    assert word_hint(make_hint(hint)) == worded  # type: ignore[arg-type]
