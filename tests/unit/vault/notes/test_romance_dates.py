"""Dates relative to today in French and Spanish questions."""

from datetime import date

import pytest

from vault.notes.dates import find_date_spans

TODAY = date(2026, 11, 18)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "first", "after"),
    [
        ("Qu'est-ce que j'ai fait hier ?", "2026-11-17", "2026-11-18"),
        ("Quelles notes d'hier ?", "2026-11-17", "2026-11-18"),
        ("Qu'ai-je fait hier ?", "2026-11-17", "2026-11-18"),
        ("Où ai-je rangé la clé hier ?", "2026-11-17", "2026-11-18"),
        ("Je n’ai rien noté hier ?", "2026-11-17", "2026-11-18"),
        ("J’étais chez Anna hier", "2026-11-17", "2026-11-18"),
        ("les notes d'hier", "2026-11-17", "2026-11-18"),
        ("mes notes d’hier", "2026-11-17", "2026-11-18"),
        ("avant-hier", "2026-11-16", "2026-11-17"),
        ("aujourd’hui", "2026-11-18", "2026-11-19"),
        ("Les notes de la semaine dernière", "2026-11-09", "2026-11-16"),
        ("cette semaine", "2026-11-16", "2026-11-23"),
        ("le mois dernier", "2026-10-01", "2026-11-01"),
        ("l'année passée", "2025-01-01", "2026-01-01"),
        ("il y a trois jours", "2026-11-15", "2026-11-16"),
        ("les 3 derniers jours", "2026-11-16", "2026-11-19"),
        ("lundi dernier", "2026-11-16", "2026-11-17"),
        ("depuis lundi", "2026-11-16", "2026-11-19"),
        ("le week-end dernier", "2026-11-14", "2026-11-16"),
        ("la semaine prochaine", "2026-11-23", "2026-11-30"),
        ("les notes en octobre", "2026-10-01", "2026-11-01"),
        ("¿Qué hice la semana pasada?", "2026-11-09", "2026-11-16"),
        ("el mes pasado", "2026-10-01", "2026-11-01"),
        ("este mes", "2026-11-01", "2026-12-01"),
        ("hace dos días", "2026-11-16", "2026-11-17"),
        ("los últimos 7 días", "2026-11-12", "2026-11-19"),
        ("el lunes", "2026-11-16", "2026-11-17"),
        ("el viernes pasado", "2026-11-13", "2026-11-14"),
        ("desde el lunes", "2026-11-16", "2026-11-19"),
        ("anteayer", "2026-11-16", "2026-11-17"),
        ("el año pasado", "2025-01-01", "2026-01-01"),
        ("la próxima semana", "2026-11-23", "2026-11-30"),
        ("este fin de semana", "2026-11-21", "2026-11-23"),
    ],
)
def test_a_relative_date_is_read(question: str, first: str, after: str) -> None:
    spans = find_date_spans(question, TODAY)
    assert [(str(start), str(end)) for start, end in spans] == [(first, after)]


@pytest.mark.parametrize(
    "question",
    [
        "Was liegt hier im Schrank?",
        "Was steht hier über die Notes von Anna?",
        "Wo ist das hier, d. h. in Kiel?",
        "Welche Notes gibt es hier zu Docker?",
        "Was haben wir hier über AI notiert?",
        "Wer ist hier J. Meyer?",
        "What is in Hier, my notes?",
        "Is this an error?",
        "Mes notes",
        "une semaine",
        "los lunes",
    ],
)
def test_words_of_the_same_form_are_no_dates(question: str) -> None:
    assert find_date_spans(question, TODAY) == ()
