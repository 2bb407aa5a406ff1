"""Whether a question asks for notes without something."""

import pytest

from vault.questions.words import asks_to_exclude


@pytest.mark.parametrize(
    "question",
    [
        "Which notes are not about tasks?",
        "Which pages do not mention rain?",
        "Which notes mention rain but not snow?",
        "notes without pictures",
        "Welche Notizen handeln nicht von Regen?",
        "Notizen über Regen, aber nicht über Schnee",
        "alle Notizen außer denen über Regen",
        "Quelles notes ne parlent pas de pluie ?",
        "toutes les notes sauf celles sur la pluie",
        "¿Qué notas no tratan de lluvia?",
        "todas las notas excepto las de lluvia",
    ],
)
def test_notes_without_something_are_asked_for(question: str) -> None:
    assert asks_to_exclude(question)


@pytest.mark.parametrize(
    "question",
    [
        "Which note says why the pump does not start?",
        "Which notes are about rain?",
        "Why does the pump not start?",
        "Welche Notiz sagt, warum die Pumpe nicht startet?",
        "Which soups have no onions?",
    ],
)
def test_a_note_with_the_words_is_asked_for(question: str) -> None:
    assert not asks_to_exclude(question)
