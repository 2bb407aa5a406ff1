"""Numbers in questions keep their sign and unit, and the limits of a range hold for one value."""

from typing import Final

import pytest

from tests.support.vaults.listed_notes import list_note_names
from tests.unit.vault.conftest import NotesIndexer
from vault.vault import Vault

GAINS: Final = {"Loss": "-5", "Win": "5", "Dip": "-5.5", "Minus": "−7 EUR"}
WEIGHTS: Final = {"Heavy": "5 kg", "Light": "2 kg", "Tiny": "500 g", "Ton": "1 t"}
NOTES: Final = (
    {f"Gains/{name}.md": f"---\ngain: {gain}\n---\n" for name, gain in GAINS.items()}
    | {f"Weights/{name}.md": f"---\nweight: {each}\n---\n" for name, each in WEIGHTS.items()}
    | {
        "Lists/Apart.md": "---\nscore: [2, 10]\ndays: [2025-05-01, 2027-05-01]\n---\n",
        "Lists/Near.md": "---\nscore: [1, 4]\ndays: [2026-05-01]\n---\n",
        "Lists/Eight.md": "---\nscore: 8\n---\n",
        "Times/Film.md": "---\nduration: 90 min\nfee: 5 boxes\n---\n",
        "Times/Nap.md": "---\nduration: 0.5 h\nfee: 3 EUR\n---\n",
        "Times/Walk.md": "---\nduration: 45\nfee: 7 EUR\n---\n",
        "Plain/A.md": "---\ngpa: 3.875\nlat: 52.520\nfuel: 1.859 EUR\nruns: 1,400\n---\n",
        "Plain/B.md": "---\ngpa: 3.512\nlat: 48.137\nfuel: 2 EUR\nruns: 3\n---\n",
        "Units/Kettle.md": "---\npower: 2000 W\ndone: 80%\nbag: 150 lb\nwait: 30 m\n---\n",
        "Units/Clock.md": "---\npower: 0.5 kW\ndone: 20 percent\nbag: 10 kg\nwait: 9 min\n---\n",
        "Units/Disk.md": "---\nsize: 5 GiB\nwidth: 6 in\nlength: 150 p.\nstock: 5 crates\n---\n",
        "Shop/Saw.md": "---\ntags: [tool]\nprice: 15 €\ndate: 2026-03-04\n---\n",
        "Shop/Drill.md": "---\ntags: [tool]\nprice: 45 €\ndate: 2026-03-05\n---\n",
        "Shop/Hammer.md": "---\ntags: [tool]\nprice: 12 €\ndate: 2025-03-05\n---\n",
        "Films/Alien.md": "---\nlasting: 117\nminuten: 40\n---\n",
        "Films/Heat.md": "---\nlasting: 170\nminuten: 50\n---\n",
        "Units/Log.md": "weight2:: 80.5, in the morning\n",
    }
)


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


def list_names(index: Vault, question: str) -> str | None:
    """Return the names that a question lists in one text, or None if it lists nothing."""
    names = list_note_names(index, question)
    return None if names is None else " ".join(names)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have a gain of 5?", "Win"),
        ("Which notes have a gain of -5?", "Loss"),
        ("Which notes have a gain of −5?", "Loss"),
        ("Which notes have a gain above -5.2?", "Loss Win"),
        ("Which notes have gain > -5.2?", "Loss Win"),
        ("Which notes have gain>-5.2?", "Loss Win"),
        ("List all notes with gain: -5", "Loss"),
        ("Which notes have a gain of -7 EUR?", "Minus"),
        ("Which notes have a gain of 7 EUR?", ""),
        ("Which notes have a gain between -6 and -4?", "Dip Loss"),
        ("Which notes have a gain other than -5?", "Dip Minus Win"),
        ("Welche Notizen haben einen gain unter -5,2?", "Dip Minus"),
        ("List all notes with score 2-4", "Apart Near"),
        ("List all notes with score 2 - 4", "Apart Near"),
    ],
)
def test_a_minus_belongs_to_its_number(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have a weight above 3 kg?", "Heavy Ton"),
        ("Which notes have a weight below 3 kg?", "Light Tiny"),
        ("Which notes have a weight of at most 2000 g?", "Light Tiny"),
        ("Which notes have a weight of 0.5 kg?", "Tiny"),
        ("Which notes have a weight between 400 g and 2 kg?", "Light Tiny"),
        ("Which notes have a weight between 1 and 5 kg?", "Heavy Light"),
        ("Which notes have a duration of more than 1 hour?", "Film Walk"),
        ("Which notes have minuten above 45 min?", "Heat"),
        ("Which notes have a lasting above 150?", "Heat"),
        ("Welche Notizen haben ein weight über 3 kg?", "Heavy Ton"),
        ("¿Qué notas tienen un weight mayor que 3 kilos?", "Heavy Ton"),
    ],
)
def test_amounts_are_compared_with_their_units(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    "question",
    [
        "Which notes have a fee above 4 EUR?",
        "Which notes have a fee above 4?",
        "Which notes have a weight above 3?",
        "Which notes have a weight above 3 EUR?",
        "Which notes have a score of 3 and 8?",
        "Which notes have a score above 3 and 8?",
        "Which notes have a lasting above 2 hours?",
        "Welche Notizen haben ein lasting unter 3 Stunden?",
        "Which notes have minuten above 2 hours?",
    ],
)
def test_what_cannot_be_compared_claims_nothing(index: Vault, question: str) -> None:
    assert list_names(index, question) is None


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have a score between 3 and 5?", "Near"),
        ("Which notes have a score above 3 and below 5?", "Near"),
        ("Which notes have days in 2026?", "Near"),
        ("Which notes have a score from 9 to 12?", "Apart"),
        ("Welche Notizen haben einen score zwischen 3 und 5?", "Near"),
    ],
)
def test_the_limits_of_a_range_hold_for_one_value(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have a score other than 3 and 8?", "Apart Near"),
        ("Which notes have a score other than 4 or 8?", "Apart"),
        ("Which notes have a score other than 2, 4 and 9?", "Eight"),
        ("Which notes have a score that is not 4 or 8?", "Apart"),
        ("Which notes have a score of 4 or 8?", "Eight Near"),
        ("Welche Notizen haben einen score ungleich 4 und 8?", "Apart"),
    ],
)
def test_each_number_behind_a_property_counts(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("[gpa:>=4]", ""),
        ("[gpa:>3.75]", "A"),
        ("[gpa:>3.750]", "A"),
        ("[lat:>60]", ""),
        ("[lat:>52.125]", "A"),
        ("folder:Plain -[gpa:>=4]", "A B"),
        ("[gpa:!=3875]", "A B"),
        ("[gpa:!=3.8750]", "B"),
        ("[fuel:>100]", "A"),
        ("folder:Plain -[fuel:>100]", "A B"),
        ("folder:Plain -[fuel:>1 <3]", "A"),
        ("[fuel:>2 <100]", ""),
        ("[fuel:!=1859]", "A B"),
        ("folder:Plain -[fuel:!=1859]", "A"),
        ("[weight2:>80]", "Log"),
        ("[power:>1 kW]", "Kettle"),
        ("[power:<0.001 MW]", "Clock"),
        ("[done:>50 percent]", "Kettle"),
        ("[done:<50 %]", "Clock"),
        ("[done:80 pour cent]", "Kettle"),
        ("[bag:150 pounds]", "Kettle"),
        ("[wait:>20 min]", "Kettle"),
        ("[wait:<10 m]", "Clock"),
        ("[size:>5 GB]", "Disk"),
        ("[size:>4 disks]", "Disk"),
        ("[width:>5 inches]", "Disk"),
        ("[length:>100 pages]", "Disk"),
        ("[stock:5 boxes]", "Disk"),
        ("[bag:>1 min]", ""),
        ("[bag:!=150 pounds]", "Clock"),
    ],
)
def test_filters_compare_plain_numbers_and_units(index: Vault, query: str, names: str) -> None:
    found = index.list_notes(query, 100)
    listed = sorted(hit.path.rpartition("/")[2].removesuffix(".md") for hit in found.hits)
    assert " ".join(listed) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have a gpa of at least 4?", ""),
        ("Which notes have a gpa above 3.75?", "A"),
        ("Which notes have a fuel above 100?", None),
        ("Which notes have a fuel above 1?", "A B"),
        ("Which notes have a fuel of 1859?", None),
        ("Which notes have runs above 2?", None),
        ("Which notes have runs below 2000?", "A B"),
        ("Which notes have a power above 1 kW?", "Kettle"),
        ("Which notes have a bag of 150 pounds?", "Kettle"),
        ("Which notes have a wait above 20 minutes?", "Kettle"),
        ("Which notes have a stock of 5 boxes?", None),
        ("Which notes have a stock other than 5 boxes?", None),
        ("Which notes have a stock of 5 crates?", "Disk"),
        ("Which notes have a weight of 5 EUR?", ""),
    ],
)
def test_what_is_claimed_of_amounts_is_certain(
    index: Vault, question: str, names: str | None
) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("tools under 20 €", "Hammer Saw"),
        ("tools under 20 € in 2026", "Saw"),
        ("tools under 20€ in 2026", "Saw"),
        ("tools in 2026 under 20 €", "Saw"),
        ("tools between 10 € and 20 € in March 2025", "Hammer"),
        ("tools above 20 € on 5 March 2026", "Drill"),
        ("tools with price 15 € in 2026", "Saw"),
        ("tools price under 20 in 2026", "Saw"),
        ("tools below 20 € since January 2026", "Saw"),
    ],
)
def test_an_amount_stays_one_beside_a_date(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have a duration above an hour?", "Film Walk"),
        ("Which notes have a duration of less than an hour?", "Nap"),
        ("Which notes have a duration of at least one hour?", "Film Walk"),
        ("¿Qué notas tienen un weight de más de un kilo?", "Heavy Light Ton"),
        ("Welche Notizen haben eine duration über einer Stunde?", "Film Walk"),
        ("Quelles notes ont une duration de plus d'une heure ?", "Film Walk"),
        ("Quelles notes ont un weight de moins d'un kilogramme ?", "Tiny"),
        ("¿Qué notas tienen una duration de menos de dos horas?", "Film Nap"),
    ],
)
def test_a_limit_can_be_written_as_a_word(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names
