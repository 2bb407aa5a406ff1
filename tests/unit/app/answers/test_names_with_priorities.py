"""A word for a priority that is a part of a name is no filter."""

from typing import Final

import pytest

from tests.unit.app.answers.conftest import Asking

NOTES: Final = {
    "Important Project.md": "# Important Project\n\n- [ ] Take out the trash\n- [ ] Wash the car\n",
    "High street/Shops.md": "# Shops\n\n- [ ] Buy a lamp\n- [x] Buy bread ⏫\n",
    "Dringende Post.md": "# Dringende Post\n\n- [ ] Brief an die Bank\n",
    "Other.md": "# Other\n\n- [ ] Paint the door ⏫\n",
}


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Which tasks are in the Important Project?", "Take out the trash"),
        ("List the open tasks of Important Project", "Wash the car"),
        ("Which open tasks are in the folder High street?", "Buy a lamp"),
        ("Welche Aufgaben stehen in Dringende Post?", "Brief an die Bank"),
    ],
)
def test_the_tasks_of_what_is_named_are_listed(answer: Asking, question: str, shown: str) -> None:
    found = answer(question)
    assert shown in found.text
    assert "priority" not in found.text
    assert "Paint the door" not in found.text


def test_a_priority_beside_such_a_name_is_one(answer: Asking) -> None:
    assert "Paint the door" in answer("Which urgent tasks are open?").text
