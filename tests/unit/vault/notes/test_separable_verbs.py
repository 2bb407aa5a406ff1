"""German verbs and the particles that stand apart from them."""

import pytest

from vault.notes.separable_verbs import join_separated


@pytest.mark.parametrize(
    ("question", "joined"),
    [
        ("Wann fängt die Sitzung an?", "Wann anfangen die Sitzung an?"),
        ("Wie viele Leute nahmen teil?", "Wie viele Leute teilnehmen teil?"),
        ("Wer stellte den Plan vor?", "Wer vorgestellt den Plan vor?"),
        ("Findet das Fest am Montag statt?", "stattfinden das Fest am Montag statt?"),
    ],
)
def test_a_verb_is_joined_with_the_particle_at_the_end(question: str, joined: str) -> None:
    assert join_separated(question) == joined


@pytest.mark.parametrize(
    "text",
    [
        *("What is it for, an?", "Wann beginnt die Sitzung?", "", "an", "Was haben wir vor?"),
        *("Wann ist der Kurs?", "Der Zug kommt an, und wer holt ihn ab, sagt Ida", "aus an auf ab"),
    ],
)
def test_other_questions_stay_as_they_are(text: str) -> None:
    assert join_separated(text) == text
