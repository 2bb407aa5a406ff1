"""Comparisons of properties in questions: decimals, ranges, "not", and notes without one."""

from datetime import date
from typing import Final

import pytest

from tests.support.vaults.listed_notes import list_note_names
from tests.unit.vault.conftest import NotesIndexer
from vault.questions.tokens import find_spans
from vault.vault import Vault

TODAY: Final = date(2026, 11, 26)
RATINGS: Final = {"Dune": "5", "Emma": "4", "Solaris": "4.5", "Ulysses": "2", "Kim": "4,25"}
NOTES: Final = (
    {f"Books/{name}.md": f"---\nrating: {rating}\n---\n#book\n" for name, rating in RATINGS.items()}
    | {"Books/Unread.md": "---\npages: 310\n---\n#book\n"}
    | {
        "Bikes/Gravel.md": "---\nkind: bike\nweight: 9.8 kg\nprice: 1,400 EUR\n---\n#gear\n",
        "Bikes/City.md": "---\nkind: bike\nweight: 17 kg\nprice: 650 EUR\n---\n#gear\n",
        "Work/Backup.md": "---\nkind: server\n---\nPlain text about ratings.\n",
        "Trips/Lyon.md": "---\nstars: 5\ndays: 4\n---\n#trip\n",
        "Trips/Oslo.md": "---\ndays: 3\n---\n#trip\n",
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
        ("Which books have a rating higher than 4?", "Dune Kim Solaris"),
        ("Which books are rated higher than 4?", "Dune Kim Solaris"),
        ("Which books have a rating of at least 4.5?", "Dune Solaris"),
        ("List all books with rating 4.5", "Solaris"),
        ("How many books have a rating of 4.5 or more?", "Dune Solaris"),
        ("Which books have a rating below 4.25?", "Emma Ulysses"),
        ("Which gear weighs less than 10.5 kg?", "Gravel"),
        ("Which gear has a price of more than 1,000?", "Gravel"),
        ("Welche Bücher haben ein rating von mindestens 4,5?", "Dune Solaris"),
        ("Welche Bücher haben ein rating über 4?", "Dune Kim Solaris"),
        ("Quels livres ont un rating supérieur à 4,25 ?", "Dune Solaris"),
        ("Quels livres ont un rating inférieur ou égal à 4 ?", "Emma Ulysses"),
        ("¿Qué libros tienen un rating mayor que 4.25?", "Dune Solaris"),
        ("¿Qué libros tienen un rating de 4,5 o más?", "Dune Solaris"),
    ],
)
def test_a_decimal_is_one_number(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which books have a rating between 4 and 4.5?", "Emma Kim Solaris"),
        ("List the books with a rating from 2 to 4", "Emma Ulysses"),
        ("How many books have a rating of 2 to 4?", "Emma Ulysses"),
        ("List all books with rating 2-4", "Emma Ulysses"),
        ("Which trips took between 2 and 3 days?", "Oslo"),
        ("Welche Bücher haben ein rating zwischen 2 und 4?", "Emma Ulysses"),
        ("Welche Bücher haben ein rating von 2 bis 4?", "Emma Ulysses"),
        ("Quels livres ont un rating entre 2 et 4 ?", "Emma Ulysses"),
        ("¿Qué libros tienen un rating entre 2 y 4?", "Emma Ulysses"),
        ("Which trips have days below 5 and at least 4 stars?", "Lyon"),
        ("List all books with rating > 2 and < 5", "Emma Kim Solaris"),
        ("List all books with a rating above 2 and below 4.5", "Emma Kim"),
    ],
)
def test_a_range_has_both_ends(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("List all notes with rating not 5", "Emma Kim Solaris Ulysses"),
        ("List all notes with rating != 5", "Emma Kim Solaris Ulysses"),
        ("List all notes with rating ≠ 5", "Emma Kim Solaris Ulysses"),
        ("List the books whose rating is not 5", "Emma Kim Solaris Ulysses"),
        ("Which books have a rating other than 5?", "Emma Kim Solaris Ulysses"),
        ("Which books have a rating that is not above 4?", "Emma Ulysses"),
        ("List all notes with rating not > 4", "Emma Ulysses"),
        ("Which notes have a kind that is not bike?", "Backup"),
        ("Welche Bücher haben ein rating, das nicht 5 ist?", "Emma Kim Solaris Ulysses"),
        ("Welche Bücher haben ein rating ungleich 5?", "Emma Kim Solaris Ulysses"),
        ("Quels livres ont un rating différent de 5 ?", "Emma Kim Solaris Ulysses"),
        ("¿Qué libros tienen un rating distinto de 5?", "Emma Kim Solaris Ulysses"),
    ],
)
def test_another_value_is_one_that_the_note_has(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have the property kind?", "Backup City Gravel"),
        ("List all notes with the property stars", "Lyon"),
        ("How many notes have a kind?", "Backup City Gravel"),
        ("Which books have no rating?", "Unread"),
        ("List all books without a rating", "Unread"),
        ("List the trips without stars", "Oslo"),
        ("Which trips do not have stars?", "Oslo"),
        ("Which notes without the property kind are in Bikes?", ""),
        ("Welche Notizen haben die Eigenschaft kind?", "Backup City Gravel"),
        ("Welche Bücher haben kein rating?", "Unread"),
        ("Alle Bücher ohne rating", "Unread"),
        ("Quelles notes ont la propriété kind ?", "Backup City Gravel"),
        ("Quels voyages n'ont pas de stars ?", "Oslo"),
        ("¿Qué notas tienen la propiedad kind?", "Backup City Gravel"),
        ("¿Qué libros no tienen rating?", "Unread"),
    ],
)
def test_notes_have_a_property_or_lack_it(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("[rating:*]", "Dune Emma Kim Solaris Ulysses"),
        ("tag:book -[rating:*]", "Unread"),
        ("[rating:!=4.5]", "Dune Emma Kim Ulysses"),
        ("[rating:4.50]", "Solaris"),
        ("[weight:17]", "City"),
    ],
)
def test_filters_for_a_property(index: Vault, query: str, names: str) -> None:
    found = index.list_notes(query, 100)
    listed = sorted(hit.path.rpartition("/")[2].removesuffix(".md") for hit in found.hits)
    assert " ".join(listed) == names


YEARS: Final = {
    "Books/Kim.md": "---\npublished: 1901\nrating: 4\n---\n#book\n",
    "Books/Dune.md": "---\npublished: 1965\nrating: 5\n---\n#book\n",
    "Books/Emma.md": "---\npublished: 1815\nrating: 5\n---\n#book\n",
    "Books/Piranesi.md": "---\npublished: 2020\nrating: 5\n---\n#book\n",
    "Books/Lost.md": "---\nlent: 2026-05-01\npages: 1500\n---\n#book\n",
    "Books/Thick.md": "---\npages: 12000\n---\n#book\n",
    "Films/Alien.md": "---\nyear: 1979\n---\n#film\n",
}


@pytest.fixture(scope="module")
def dated(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(YEARS)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("books published before 1965", "Emma Kim"),
        ("Which books were published after 1965?", "Piranesi"),
        ("books published until 1965", "Dune Emma Kim"),
        ("books published by 1965", "Dune Emma Kim"),
        ("books published in 1965", "Dune"),
        ("books published in 2020", "Piranesi"),
        ("books published from 1901 to 1965", "Dune Kim"),
        ("books published between 1900 and 1970", "Dune Kim"),
        ("How many books were published before 1970?", "Dune Emma Kim"),
        ("books published before 1970 with a rating of 5", "Dune Emma"),
        ("Bücher mit published vor 1965", "Emma Kim"),
        ("livres avec published avant 1965", "Emma Kim"),
        ("libros con published antes de 1965", "Emma Kim"),
    ],
)
def test_a_word_before_a_year_limits_a_property_of_years(
    dated: Vault, question: str, names: str
) -> None:
    assert list_names(dated, question) == names


@pytest.mark.parametrize(
    "question",
    [
        "books published in May 1965",
        "books with pages before 2000",
        "books before 1965",
        "books published in the 1960s",
        "books published in the 20th century",
        "books published before the 90s",
        "Bücher mit published in den 1960ern",
        "books from 1901 to 1965",
        "books with a published year before 1900",
    ],
)
def test_nothing_is_claimed_of_days_that_no_property_holds(dated: Vault, question: str) -> None:
    assert list_names(dated, question) is None


FILMS: Final = {
    "Films/Stalker.md": "---\nyear: 1979\nrating: 5\n---\n#film\n",
    "Films/Paterson.md": "---\nyear: 2016\nrating: 4/5\n---\n#film\n",
    "Films/Parasite.md": "---\nyear: 2019\nrating: 5\n---\n#film\n",
    "Films/Tenet.md": "---\nyear: 2020\nrating: ★★☆☆☆\n---\n#film\n",
    "Trips/Oslo.md": "---\nstart: 2020-02-01\n---\n#trip\n",
    "Trips/Rome.md": "---\nstart: 2021-09-20\n---\n#trip\n",
    "Trips/Patagonia.md": "---\nstart: 2027-01-10\n---\n#trip\n",
    "Food/Soup.md": "---\nduration: 1 h 30 min\n---\n#recipe\n",
    "Food/Bread.md": "---\nduration: 26 hours\n---\n#recipe\n",
    "Food/Salad.md": "---\nduration: 15 min\n---\n#recipe\n",
    "Food/Cake.md": "---\nduration: 1h10\n---\n#recipe\n",
}


@pytest.fixture(scope="module")
def films(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(FILMS)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("films since 2019", "Parasite Tenet"),
        ("films from 1979", "Stalker"),
        ("How many films are of the year 1979?", "Stalker"),
        ("films between 2016 and 2019", "Parasite Paterson"),
        ("films from 2016 to 2019", "Parasite Paterson"),
        ("films before 2019 with rating 5", "Stalker"),
        ("Filme seit 2019", "Parasite Tenet"),
        ("Filme bis 2016", "Paterson Stalker"),
        ("Filme von 2016 bis 2019", "Parasite Paterson"),
        ("films jusqu'en 2016", "Paterson Stalker"),
        ("films entre 2016 et 2019", "Parasite Paterson"),
        ("películas desde 2019", "Parasite Tenet"),
        ("películas entre 2016 y 2019", "Parasite Paterson"),
        ("trips before 2027", "Oslo Rome"),
        ("trips between 2021 and 2027", "Patagonia Rome"),
        ("Reisen nach 2020", "Patagonia Rome"),
        ("voyages avant 2021", "Oslo"),
        ("viajes hasta 2021", "Oslo Rome"),
    ],
)
def test_a_bare_year_limits_the_years_or_days_of_notes(
    films: Vault, question: str, names: str
) -> None:
    assert list_names(films, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("5 star films", "Parasite Stalker"),
        ("my 4-star films", "Paterson"),
        ("films with two stars", "Tenet"),
        ("five-star films", "Parasite Stalker"),
        ("★★★★ films", "Paterson"),
        ("films with 4 stars or more", "Parasite Paterson Stalker"),
        ("films with more than 4 stars", "Parasite Stalker"),
        ("How many one star films are there?", ""),
        ("5-Sterne-Filme", "Parasite Stalker"),
        ("Filme mit vier Sternen", "Paterson"),
        ("les films à cinq étoiles", "Parasite Stalker"),
        ("películas de cuatro estrellas", "Paterson"),
        ("films of the year 2019 with 5 stars", "Parasite"),
    ],
)
def test_stars_are_a_rating(films: Vault, question: str, names: str) -> None:
    assert list_names(films, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("recipes with a duration above 2 hours", "Bread"),
        ("recipes with a duration above 1 hour", "Bread Cake Soup"),
        ("recipes under 80 minutes", "Cake Salad"),
        ("recipes with duration 90 min", "Soup"),
    ],
)
def test_an_amount_may_be_written_with_two_units(films: Vault, question: str, names: str) -> None:
    assert list_names(films, question) == names


@pytest.mark.parametrize(
    "question",
    ["list trips and films", "films with rating 4 and 5", "Filme und Reisen", "recipes and trips"],
)
def test_no_note_is_sought_that_is_two_things_at_once(films: Vault, question: str) -> None:
    assert list_names(films, question) is None


@pytest.mark.parametrize(
    ("question", "is_year"),
    [
        ("Welche Touren gehen bis 2000 Meter?", False),
        ("hikes up to 2000 metres", False),
        ("recettes jusqu'à 2000 kcal", False),
        ("essays until 2000 words", False),
        ("tanks up to 2000 litres", False),
        ("bikes until 2000 €", False),
        ("kilns up to 2000 °C", False),
        ("Flüge zwischen 1900 und 2000 Dollar", False),
        ("films since 2019 in English", True),
        ("films depuis 2019 an", True),
        ("Filme seit 2019 Tag Krimi", True),
    ],
)
def test_a_number_with_a_unit_is_no_year(question: str, *, is_year: bool) -> None:
    assert bool(find_spans(question, TODAY)) == is_year


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which gear has a kind of bike and a price below 700 EUR?", "City"),
        ("gear with a kind of bike and a weight above 10 kg", "City"),
        ("trips with days below 5 and stars of 5", "Lyon"),
        ("trips with a number of stars of 5 and days below 5", "Lyon"),
        ("Welches gear hat price 650 und weight unter 20 kg?", "City"),
    ],
)
def test_a_value_beside_a_limit_is_understood(index: Vault, question: str, names: str) -> None:
    assert list_names(index, question) == names
