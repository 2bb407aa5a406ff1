"""Properties that a question names in other words than the notes do, or by a unit alone."""

from typing import Final

import pytest

from tests.support.vaults.listed_notes import list_note_names
from tests.unit.vault.conftest import NotesIndexer
from vault.notes import keywords
from vault.questions import naming, vocabulary, words
from vault.search.conditions import Condition
from vault.vault import Vault

NOTES: Final = {
    "Coats/Leontes.md": "---\ntags: [costume]\ncost: 220\n---\n",
    "Coats/Perdita.md": "---\ntags: [costume]\ncost: 140\n---\n",
    "Tools/Lift.md": "---\ntags: [tool]\nprice: 7300 EUR\n---\n",
    "Tools/Steamer.md": "---\ntags: [tool]\nprice: 95 EUR\n---\n",
    "Tools/Lamp.md": "---\ntags: [tool]\nprice: 17 EUR\nwatts: 750\n---\n",
    "Food/Galettes.md": "---\ntags: [recipe]\ntemps: 40 min\n---\n",
    "Food/Pain.md": "---\ntags: [recipe, végétarien]\ntemps: 24 h\n---\n",
    "Boat/Engine.md": "---\ntags: [engine]\nhours: 1420\n---\n",
    "Loan.md": "---\nowed: 30 $\n---\n",
}


@pytest.fixture(scope="module")
def index(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(NOTES)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which tools cost more than 90 EUR?", ["Lift", "Steamer"]),
        ("Which costumes have a price under 200?", ["Perdita"]),
        ("Which tools are under 20 €?", ["Lamp"]),
        ("tools under 20€", ["Lamp"]),
        ("Which tools cost less than €100?", ["Lamp", "Steamer"]),
        ("List all tools between 50 and 100 €", ["Steamer"]),
        ("Which costumes are above 150 EUR?", ["Leontes"]),
        ("Which recipes take at most 1 hour?", ["Galettes"]),
        ("recipes over 60 minutes", ["Pain"]),
        ("Which engines have more than 1000 hours?", ["Engine"]),
        ("Welche Werkzeuge kosten mehr als 100 Euro?", ["Lift"]),
        ("Welche Wolken kosten mehr als 100 Euro?", None),  # nothing here is called so
        ("Quelles recettes prennent plus de 60 min ?", ["Pain"]),
        ("Quelles recettes sont végétariennes ?", ["Pain"]),
        ("Which tools have a rating above 3?", None),
    ],
)
def test_a_property_has_the_name_that_the_notes_give_it(
    index: Vault, question: str, names: list[str] | None
) -> None:
    assert list_note_names(index, question) == names


def test_a_limit_in_another_currency_is_not_compared(index: Vault) -> None:
    assert list_note_names(index, "Which tools cost less than $100?") is None
    reading = index.read_question("Which tools are under 20 €?")
    assert reading is not None
    assert reading.query == "tag:tool [price:<20 €]"


def test_a_sum_is_of_amounts_although_something_else_has_a_price(
    index_of_notes: NotesIndexer,
) -> None:
    bill = "---\ntags: [bill]\nclient: '[[Rose May]]'\namount: 35 EUR\n---\n"
    vault = index_of_notes(
        {
            "People/Rose May.md": "---\ntags: [person]\n---\n",
            "Bills/1.md": bill,
            "Bills/2.md": bill,
            "Saw.md": "---\nprice: 89\n---\n",
        }
    )
    reading = vault.read_question("How much do the bills of Rose add up to?")
    assert reading is not None
    assert (reading.operation, reading.query) == ("sum", "tag:bill [client:Rose May]")
    assert "amount" in reading.names


SIGNED: Final = {
    "Languages/C.md": "---\ntags: [language]\ngrade: A\n---\n",
    "Languages/C++.md": "---\ntags: [language, C++]\ngrade: A+\n---\n",
    "Languages/C#.md": "---\ntags: [language]\ngrade: A-\n---\n",
    "Languages/F#.md": "---\ntags: [language]\ngrade: B\n---\n[sharp](C%23.md) AT&T\n",
    "Languages/Net.md": "---\ntags: [platform]\naliases: [.NET]\n---\n[[C]] T\n",
    "Work/R&D.md": "---\ntags: [r&d]\n---\n",
    "Work/Plan.md": "More money for R & D.\n",
}


@pytest.fixture(scope="module")
def signed(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(SIGNED)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes link to C#?", ["F#"]),
        ("Which notes link to C?", ["Net"]),
        ("Which notes link to C++?", []),
        ("Which notes are tagged C++?", ["C++"]),
        ("Which notes are tagged C#?", []),
        ("Which notes are tagged R&D?", ["R&D"]),
        ("Which notes are tagged R & D?", ["R&D"]),
        ("Which notes mention AT&T?", ["F#"]),
        ("Which notes does .NET link to?", ["C"]),
        ("Which notes does net link to?", ["C"]),
        ("Which languages have the grade A+?", ["C++"]),
        ("Which languages have the grade A?", ["C"]),
        ("Which languages have the grade A-?", ["C#"]),
    ],
)
def test_signs_tell_names_apart(signed: Vault, question: str, names: list[str]) -> None:
    assert list_note_names(signed, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes have no links and no tags?", ["Plan"]),
        ("notes without tags and without links", ["Plan"]),
        ("Which notes have no tags and no tasks?", ["Plan"]),
    ],
)
def test_each_part_that_is_denied_counts(signed: Vault, question: str, names: list[str]) -> None:
    assert list_note_names(signed, question) == names


def test_blanks_around_an_ampersand_do_not_count(signed: Vault) -> None:
    reading = signed.read_question("Which notes mention R&D?")
    assert reading is not None
    told = signed.list_notes(reading.query, 10).describe_total()
    assert told.startswith("2 notes containing “R&D”;")


def test_none_is_said_of_the_name_that_was_written(signed: Vault) -> None:
    reading = signed.read_question("Which notes are tagged C#?")
    assert reading is not None
    assert "with the tag #C#" in signed.list_notes(reading.query, 10).describe_total()


MARKED: Final = {
    "C.md": "The lowest string. #string\n",
    "C#.md": "---\ntags: [language, c#]\n---\nA language, see [[Lathe]].\n",
    "Lathe.md": "---\ntags: [tool]\n---\nProgrammed in [[C#]].\n- [ ] Oil it\n",
    "Cello.md": "Tuned from [[C#|the string]] and [[G#]].\n- [ ] Tune it\n",
    "G.md": "A string. #string#\n",
    "Plain.md": "Nothing of these.\n",
}


@pytest.fixture(scope="module")
def marked(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(MARKED)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which notes link to C#?", ["Cello", "Lathe"]),
        ("Which notes link to [[C#]]?", ["Cello", "Lathe"]),
        ("Which notes link to [[C#|the language]]?", ["Cello", "Lathe"]),
        ("Which notes link to C?", []),
        ("Which notes link to [[C]]?", []),
        ("Which notes link to G?", ["Cello"]),
        ("Which notes does Lathe link to?", ["C#"]),
        ("Which notes does Cello link to?", ["C#", "G"]),
        ("notes tagged #c#", ["C#"]),
        ("#c#", ["C#"]),
        ("Welche Notizen haben das Tag #c#?", ["C#"]),
        ("notes tagged #string#", ["C", "G"]),
        ("notes tagged #language or #c#", ["C#"]),
        ("notes tagged #tool+", ["Lathe"]),
    ],
)
def test_a_sign_at_the_end_belongs_to_a_name_that_has_it(
    marked: Vault, question: str, names: list[str]
) -> None:
    assert list_note_names(marked, question) == names


def test_none_is_said_of_a_tag_with_its_signs(marked: Vault) -> None:
    reading = marked.read_question("notes tagged #c++")
    assert reading is not None
    assert "with the tag #c++" in marked.list_notes(reading.query, 10).describe_total()


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("notes that have links and tags", ["C#", "Lathe"]),
        ("notes with tags and links", ["C#", "Lathe"]),
        ("notes with links or tags", ["C", "C#", "Cello", "G", "Lathe"]),
        ("notes with tags but no links", ["C", "G"]),
        ("notes without links but with tags", ["C", "G"]),
        ("notes with the tag string but no links", ["C", "G"]),
        ("notes with links and the tag tool", ["Lathe"]),
        ("Notizen mit Links und Tags", ["C#", "Lathe"]),
        ("Notizen mit Tags, aber ohne Links", ["C", "G"]),
        ("notes avec des liens et des tags", ["C#", "Lathe"]),
        ("notes avec des tags mais sans liens", ["C", "G"]),
        ("notas con enlaces y etiquetas", ["C#", "Lathe"]),
        ("notas con etiquetas pero sin enlaces", ["C", "G"]),
        ("notes with tags but not links", ["C", "G"]),
        ("notes with tags except links", ["C", "G"]),
        ("Notizen mit Tags aber nicht mit Links", ["C", "G"]),
        ("notes avec des tags mais pas de liens", ["C", "G"]),
        ("notas con etiquetas pero no enlaces", ["C", "G"]),
        ("notes with links and tasks", ["Cello", "Lathe"]),
        ("notes without tags and without links", ["Plain"]),
        ("notes without tags and with links", ["Cello"]),
    ],
)
def test_each_part_that_is_joined_counts(marked: Vault, question: str, names: list[str]) -> None:
    assert list_note_names(marked, question) == names


@pytest.mark.parametrize(
    "question",
    [
        "notes with tags although no links",
        "notes with tags whereas no links",
        "notes with links, tags and tasks",
        "notes with links or tasks",
        "Notizen mit Links oder Aufgaben",
        "notes avec des liens ou des tâches",
        "notas con enlaces o tareas",
        "notes without tags and links",
        "notes without tags and tasks",
        "Notizen ohne Tags und Links",
        "notes sans tags et liens",
        "all notes but tools",
        "everything but tools",
    ],
)
def test_nothing_is_claimed_of_parts_that_are_not_clearly_joined(
    marked: Vault, question: str
) -> None:
    reading = marked.read_question(question)
    assert reading is None or reading.operation not in ("list", "count")


SPOKEN: Final = {
    "Books/Ulysses.md": "---\ntags: [book]\nstatus: abandoned\n---\nGiven up.\n",
    "Books/Circe.md": "---\ntags: [book]\nstatus: done\n---\nAn island.\n",
    "Books/Solaris.md": "---\ntags: [book]\nstatus: reading\n---\nAn ocean.\n",
    "Trips/Oslo.md": "---\ntags: [trip]\nstatus: cancelled\n---\nSnow.\n",
    "Trips/Rome.md": "---\ntags: [trip]\nstatus: planned\n---\nSun.\n",
    "Projekte/Zisterne.md": "---\ntags: [projekt]\nstatus: geplant\npriorität: hoch\n---\nTief.\n",
    "Projekte/Haus.md": "---\ntags: [projekt]\nstatus: fertig\npriorität: niedrig\n---\nHoch.\n",
    "Plantes/Basilic.md": "---\ntags: [plante]\nsanté: malade\n---\nTaches.\n",
    "Plantes/Menthe.md": "---\ntags: [plante]\nsanté: saine\n---\nVigoureuse.\n",
    "Food/Stew.md": "---\ntags: [recipe]\nheat: high\n---\nHot.\n",
}


@pytest.fixture(scope="module")
def spoken(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(SPOKEN)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which projects are finished?", ["Haus"]),
        ("finished projects", ["Haus"]),
        ("projects with high priority", ["Zisterne"]),
        ("projects with priority low", ["Haus"]),
        ("which plants are ill?", ["Basilic"]),
        ("Welche Bücher habe ich abgebrochen?", ["Ulysses"]),
        ("Welche Bücher habe ich nicht abgebrochen?", ["Circe", "Solaris"]),
        ("Bücher mit dem Status abgebrochen", ["Ulysses"]),
        ("abgeschlossene Bücher", ["Circe"]),
        ("Welche Reisen sind geplant?", ["Rome"]),
        ("Geplante Reisen", ["Rome"]),
        ("kranke Pflanzen", ["Basilic"]),
        ("Quels livres ai-je abandonnés ?", ["Ulysses"]),
        ("livres avec le statut terminé", ["Circe"]),
        ("Quels voyages sont annulés ?", ["Oslo"]),
        ("¿Qué libros he abandonado?", ["Ulysses"]),
        ("libros con estado leyendo", ["Solaris"]),
        ("¿Qué viajes están cancelados?", ["Oslo"]),
        ("fertige Projekte", ["Haus"]),
        ("Which books have I given up?", ["Ulysses"]),
        ("books I gave up", ["Ulysses"]),
    ],
)
def test_a_value_may_be_said_in_another_language(
    spoken: Vault, question: str, names: list[str]
) -> None:
    assert list_note_names(spoken, question) == names


@pytest.mark.parametrize(
    "question",
    [
        "Welche Bücher habe ich verliehen?",
        "livres prêtés",
        "tasks in progress",
        "tareas en curso",
    ],
)
def test_no_list_is_claimed_of_a_value_that_no_note_has(spoken: Vault, question: str) -> None:
    assert list_note_names(spoken, question) is None


SINGERS: Final = {
    "Singers/Agnès.md": "---\ntags: [singer]\nvoice: soprano\nfee: paid\n---\nConducts.\n",
    "Singers/Bryony.md": "---\ntags: [singer]\nvoice: alto\nfee: unpaid\n---\nBiscuits.\n",
    "Singers/Paul.md": "---\ntags: [singer]\nvoice: alto\nfee: exempt\n---\nScores.\n",
    "Pieces/Sleep.md": "---\ntags: [piece]\nminutes: 8\n---\nEight parts.\n",
    "Pieces/Locus.md": "---\ntags: [piece]\nminutes: 3\n---\nFour parts.\n",
}


@pytest.fixture(scope="module")
def singers(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(SINGERS)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("who has paid the fee?", ["Agnès"]),
        ("who has not paid the fee?", ["Bryony", "Paul"]),
        ("who is an alto?", ["Bryony", "Paul"]),
        ("wer ist Sopran?", None),
        ("qui est soprano ?", ["Agnès"]),
        ("how many pieces last longer than 5 minutes?", ["Sleep"]),
        ("Combien de morceaux durent plus de 5 minutes ?", ["Sleep"]),
    ],
)
def test_who_has_a_value_is_listed(singers: Vault, question: str, names: list[str] | None) -> None:
    assert list_note_names(singers, question) == names


STATED: Final = {
    "Books/Emma.md": "---\ntags: [book]\nstatus: read\n---\nMatchmaking.\n",
    "Books/Faust.md": "---\ntags: [book]\nstatus: reading\n---\nA pact.\n",
    "Books/Ilias.md": "---\ntags: [book]\nstatus: finished\n---\nGreeks.\n",
    "Food/Risotto.md": "---\ntags: [recipe]\ncolor: white\n---\nWhite wine.\n",
    "Food/Pea soup.md": "---\ntags: [recipe]\ncolor: green\n---\nPeas and white wine.\n",
    "Food/Steak.md": "---\ntags: [recipe]\ncolor: red\n---\nBeef.\n",
    "Plants/Fern.md": "---\ntags: [plant]\ndifficulty: medium\n---\nShade.\n",
    "Courses/Sewing.md": "---\ntags: [course]\nfee: 90 EUR\n---\nHems.\n",
    "Courses/Tango.md": "---\ntags: [course]\nfee: 60 EUR\n---\nSteps.\n",
    "Work/Roof.md": "---\ntags: [project]\npriority: high\n---\nTiles.\n",
    "Work/Cellar.md": "---\ntags: [project]\npriority: low\n---\nDamp.\n",
    "People/Ben.md": "---\ntags: [person]\nfee: open\nlanguage: german\n---\nRows.\n",
    "Animals/Rex.md": "---\ntags: [animal]\n---\nA German shepherd.\n",
}


@pytest.fixture(scope="module")
def stated(index_of_notes: NotesIndexer) -> Vault:
    return index_of_notes(STATED)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which books should I read?", None),
        ("books to read", None),
        ("Which books do I want to read?", None),
        ("Which books must be finished?", None),
        ("Welche Bücher soll ich lesen?", None),
        ("Which books have I read?", ["Emma"]),
        ("Which books are finished?", ["Ilias"]),
        ("Welche Bücher lese ich?", ["Faust"]),
    ],
)
def test_a_state_that_is_wished_is_not_one_that_notes_have(
    stated: Vault, question: str, names: list[str] | None
) -> None:
    assert list_note_names(stated, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which books did I finish?", ["Ilias"]),
        ("Which books have I finished?", ["Ilias"]),
        ("How many books did I read?", ["Emma"]),
        ("¿Qué libros terminé?", ["Ilias"]),
        ("¿Cuántos libros leí?", ["Emma"]),
        ("Which books did I not finish?", None),
        ("When did I finish Ilias?", None),
    ],
)
def test_a_state_can_be_said_as_what_was_done(
    stated: Vault, question: str, names: list[str] | None
) -> None:
    assert list_note_names(stated, question) == names


@pytest.mark.parametrize(
    "question",
    [
        "Which courses cost more than 80 EUR?",
        "Welche Kurse kosten mehr als 80 EUR?",
        "Quels cours coûtent plus de 80 EUR ?",
        "¿Qué cursos cuestan más de 80 EUR?",
    ],
)
def test_what_costs_something_may_have_a_fee(stated: Vault, question: str) -> None:
    assert list_note_names(stated, question) == ["Sewing"]


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("In which notes is Ben mentioned?", "Ben"),
        ("Which notes is Ben mentioned in?", "Ben"),
        ("In wie vielen Notizen wird Ben erwähnt?", "Ben"),
        ("Dans combien de notes Ben est-il mentionné ?", "Ben"),
        ("In how many notes is the base fee mentioned?", "base fee"),
        ("In which notes is the color of tiles mentioned?", "color of tiles"),
        ("In how many notes in Work is damp mentioned?", "folder:Work damp"),
        ("Which notes does Ben mention?", "linked-from:Ben"),
    ],
)
def test_a_passive_question_asks_for_the_notes_that_mention_something(
    stated: Vault, question: str, query: str
) -> None:
    reading = stated.read_question(question)
    assert reading is not None
    assert reading.operation in ("list", "count")
    assert reading.query == query


def test_no_note_is_claimed_where_something_is_mentioned_in_notes_of_a_day(stated: Vault) -> None:
    reading = stated.read_question("In which notes from October is Ben mentioned?")
    assert reading is None or "linked-from" not in reading.query


@pytest.mark.parametrize(
    ("question", "operation", "query"),
    [
        ("recipes with white wine", "one", "tag:recipe [color:white] wine"),
        ("white wine recipes", "one", "[color:white] tag:recipe wine"),
        ("white recipes", "list", "[color:white] tag:recipe"),
        ("Which recipes are white?", "list", "tag:recipe [color:white]"),
    ],
)
def test_a_state_of_something_else_makes_no_list(
    stated: Vault, question: str, operation: str, query: str
) -> None:
    reading = stated.read_question(question)
    assert reading is not None
    assert (reading.operation, reading.query) == (operation, query)


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("Which recipes rot?", "tag:recipe rot"),  # no colour in English
        ("Welche Rezepte sind rot?", "tag:recipe [color:red]"),
        ("livres lus", "tag:book [status:read]"),
        ("Which books am I reading?", "tag:book [status:reading]"),
        ("Welche Projekte haben Priorität hoch?", "tag:project [priority:high]"),
        ("Which projects have priority high?", "tag:project [priority:high]"),
        ("recettes rouges", "tag:recipe [color:red]"),
        ("Which plants are in the media?", "tag:plant media"),  # no Spanish level
        ("¿Qué plantas son de dificultad media?", "tag:plant [difficulty:medium]"),
    ],
)
def test_a_state_is_said_in_the_language_of_the_question(
    stated: Vault, question: str, query: str
) -> None:
    reading = stated.read_question(question)
    assert reading is not None
    assert reading.query == query


@pytest.mark.parametrize(
    "question",
    [
        "recipes except with white wine",
        "Which book is open?",
        "Which books are not open?",
        "German animals",
    ],
)
def test_nothing_is_claimed_of_a_value_that_only_others_can_have(
    stated: Vault, question: str
) -> None:
    assert stated.read_question(question) is None


def test_a_word_is_compared_with_few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, are_same_word = list[str](), words.are_same_word

    def compare(word: str, other: str) -> bool:
        compared.append(word)
        return are_same_word(word, other)

    monkeypatch.setattr(words, "are_same_word", compare)
    assert not words.list_named_states(["xylophone"])
    assert len(compared) < 10
    assert ("abandoned",) in words.list_named_states(["abgebrochene"])


def test_tags_and_folders_are_folded_once_for_all_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    names, folded, fold = vocabulary.VaultNames(), list[str](), keywords.fold
    for number in range(500):
        names.properties[f"Tomes/{number}.md"] = {"year": ["1999"]}
        names.tags[f"Tomes/{number}.md"].add("tome")

    def count(text: str) -> str:
        folded.append(text)
        return fold(text)

    for module in (naming, vocabulary):
        monkeypatch.setattr(module, "fold", count)
    kinds = [(Condition("tag", "tome"),), (Condition("folder", "Tomes"),)]
    assert naming.list_own_values(kinds, names) == {"year": {"1999"}}
    assert len(folded) < 10
