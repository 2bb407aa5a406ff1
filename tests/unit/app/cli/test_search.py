"""`strata search` and `strata related`: pages, reasons, neighbours."""

import argparse
import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from app.cli.parser import run
from app.cli.search import open_notes
from app.library.library import Library
from app.library.open_vault import OpenVault
from app.paths import Paths
from app.startup import Startup
from vault.embedder import Embedder
from vault.errors import EmbedderFailed

NOTES = {
    "Tomatoes.md": "# Tomatoes\n\n#bed Water tomatoes early; see [[Beans]].\n",
    "Beans.md": "# Beans\n\n#bed Sow beans in May.\n",
    "Leeks.md": "# Leeks\n\n#bed Leeks stay out in winter.\n",
    "Tax.md": "# Tax\n\nThe return is due in July.\n",
}

Strata = Callable[..., tuple[int, str, str]]


def no_window(_opening: Startup) -> int:
    raise AssertionError("no window was asked for")


@pytest.fixture
def strata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Strata:
    """Run the command line over indexed notes: exit code, standard output, standard error."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")

    def call(*argv: str) -> tuple[int, str, str]:
        code = run(["--vault", str(folder), *argv], no_window)
        return (code, *capsys.readouterr())

    call("index")
    return call


def document(strata: Strata, *argv: str) -> Any:
    return json.loads(strata(*argv, "--json")[1])


def test_a_list_goes_on_where_its_page_ends(strata: Strata) -> None:
    first = document(strata, "search", "tag:bed", "--all", "-k", "2")
    rest = document(strata, "search", "tag:bed", "--all", "-k", "2", "--offset", "2")
    assert (first["total"], first["next"], rest["total"], rest["next"]) == (3, 2, 3, None)
    assert [hit["path"] for page in (first, rest) for hit in page["hits"]] == [
        "Beans.md",
        "Leeks.md",
        "Tomatoes.md",
    ]


def test_a_list_says_how_much_of_it_is_shown_and_how_to_go_on(strata: Strata) -> None:
    _, out, _ = strata("search", "tag:bed", "--all", "-k", "2")
    assert out.splitlines() == [
        "Beans.md:3  Beans: #bed Sow beans in May.",
        "Leeks.md:3  Leeks: #bed Leeks stay out in winter.",
        "3 notes with the tag #bed; searched all 4 notes.",
        "1 to 2 of them are listed here.",
        "Go on with --offset 2.",
    ]
    assert "No note fits" in strata("search", "tag:none", "--all")[1]


@pytest.mark.parametrize(
    "question", ["List all notes tagged #bed", "How many notes are tagged #bed?"]
)
def test_a_question_for_every_note_is_counted_and_listed(strata: Strata, question: str) -> None:
    _, out, _ = strata("search", question)
    *listed, said = out.splitlines()
    assert [line.partition(".md")[0] for line in listed] == ["Beans", "Leeks", "Tomatoes"]
    assert said == "3 notes with the tag #bed; searched all 4 notes."
    found = document(strata, "search", question)
    assert (found["total"], found["searched"], len(found["hits"])) == (3, 4, 3)


def test_a_count_of_notes_of_which_none_holds_all_words_says_so(strata: Strata) -> None:
    _, out, _ = strata("search", "How many notes mention beans and tax?")
    assert out.splitlines()[-1] == (
        "No note holds all of the words, and 3 hold the most; searched all 4 notes."
    )


def test_a_list_ends_where_relevance_does_and_k_is_an_upper_bound(strata: Strata) -> None:
    found = document(strata, "search", "tomatoes beans", "-k", "4")
    assert {hit["path"] for hit in found["hits"]} == {"Tomatoes.md", "Beans.md"}
    assert len(document(strata, "search", "bed", "-k", "2")["hits"]) == 2


def test_why_a_note_is_missing_stands_beside_the_hits(strata: Strata) -> None:
    argv = ("search", "tomatoes", "-k", "1", "--why-not", "Tax.md")
    found = document(strata, *argv)
    assert [hit["path"] for hit in found["hits"]] == ["Tomatoes.md"]
    assert found["why_not"]["path"] == "Tax.md"
    assert found["why_not"]["reason"] in strata(*argv)[1]
    assert "why_not" not in document(strata, "search", "tomatoes")


def test_related_notes_are_named_with_whether_they_are_linked(strata: Strata) -> None:
    found = document(strata, "related", "Tomatoes.md", "-k", "2")
    keys = {"path", "title", "score", "is_linked", "is_link_target", "tags", "why"}
    assert keys <= set(found["notes"][0])
    assert ("Beans.md", True) in {(note["path"], note["is_linked"]) for note in found["notes"]}
    assert "Beans.md  Beans  linked" in strata("related", "Tomatoes.md")[1]


def test_a_sentence_says_why_a_note_is_related(strata: Strata, small_vault: Path) -> None:
    (small_vault / "Beans.md").write_text("---\ntags: [bed]\n---\n# Beans\n\nBeans climb.\n")
    (small_vault / "Leeks.md").write_text("# Leeks\n\n#bed Leeks stand beside [[Beans]].\n")
    (small_vault / "Ink.md").write_text("# Ink\n\n")  # without a text, so without a meaning
    (small_vault / "Pen.md").write_text("[[Ink]] for the pen.\n")
    (small_vault / "Ink.md").write_text("[[Pen]]\n")
    strata("index", str(small_vault))

    def why(path: str, other: str) -> str:
        notes = document(strata, "related", path, "-k", "9")["notes"]
        (found,) = (note for note in notes if note["path"] == other)
        assert f"      {found['why']}\n" in strata("related", path, "-k", "9")[1]
        return str(found["why"])

    said = why("Leeks.md", "Beans.md")
    share = re.match(r"It is (\d+) % alike in meaning, ", said)
    assert share is not None
    assert said.endswith("is linked from this note and has the tag #bed too.")
    assert why("Beans.md", "Leeks.md").endswith("links to this note and has the tag #bed too.")
    both = why("Pen.md", "Ink.md")
    assert both.endswith("is linked from this note and links to this note.")


def test_a_note_that_is_not_indexed_has_no_related_ones(strata: Strata) -> None:
    code, out, _ = strata("related", "None.md", "--json")
    error = json.loads(out)["error"]
    assert (code, error["code"]) == (1, "not_found")
    assert "None.md" in error["message"]


def test_a_project_outside_of_the_vault_is_opened_once_for_all_searches(
    tmp_path: Path, small_vault: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    open_library = OpenVault.open_library

    def count(vault: OpenVault, folder: Path) -> Library:
        opened.append(folder)
        return open_library(vault, folder)

    monkeypatch.setattr(OpenVault, "open_library", count)
    (tmp_path / "project").mkdir()
    args = argparse.Namespace(overrides={}, vault=str(small_vault))
    with ExitStack() as stack:
        notes = open_notes(Paths.find(), args, stack, embedder)
        for _ in range(2):
            notes.open_project(str(tmp_path / "project")).list_notes("tag:bed", 10)
    assert opened.count(tmp_path / "project") == 1


def test_a_search_that_could_not_use_meaning_says_so(
    strata: Strata, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert document(strata, "search", "winter")["by"] == ["words", "meaning"]
    assert "words only" not in "".join(strata("search", "winter")[1:])

    def fail(_embedder: Embedder, _text: str) -> None:
        raise EmbedderFailed("The embedding model cannot be used.")

    monkeypatch.setattr(Embedder, "begin_query", fail)
    found = document(strata, "search", "winter")
    assert (found["hits"][0]["path"], found["by"]) == ("Leeks.md", ["words"])
    code, out, err = strata("search", "winter")
    assert code == 0
    assert out.splitlines()[-1] == "Searched by words only."
    assert "Searched by words only. The embedding model cannot be used." in err
    answer = document(strata, "ask", "What stays out in winter?", "--model", "extractive")
    assert answer["by"] == ["words"]
    assert document(strata, "search", "tag:bed", "--all")["by"] == []


def test_an_answer_says_how_its_notes_were_found(strata: Strata) -> None:
    answer = document(strata, "ask", "What stays out in winter?", "--model", "extractive")
    assert answer["by"] == ["words", "meaning"]
    chat = document(strata, "ask", "What stays out?", "--model", "extractive", "--mode", "chat")
    assert "by" not in chat
