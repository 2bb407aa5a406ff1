"""Models get the results of bases and queries, not their source, and never a private note."""

from collections.abc import Iterator
from typing import cast

import pytest

from app.library.attachments import Attachments, WebPages
from app.library.image_reader import ImageReader
from chains.request.ask import Selection
from chains.tools.notes import NumberedSources, build_note_tools
from chains.web.client import WebClient
from context.layers import Segment
from tests.support.vaults.views import write_view_vault
from tests.unit.vault.views.conftest import NoEmbedder, update_words
from vault.scope import Scope
from vault.vault import Vault
from vault.views.blocks import read_with_results

TABLE = "| [[Books/Dune.md\\|Dune]] | 5 | [[Frank Herbert]] | sci-fi, epic |"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    root = write_view_vault(tmp_path_factory.mktemp("vault"))
    (root / "Outer.md").write_text("Before.\n\n![[Home]]\n", "utf-8")
    made = Vault(root, tmp_path_factory.mktemp("index"), (), NoEmbedder())
    update_words(made)
    yield made
    made.close()


def attach(vault: Vault, *paths: str, selection: Selection | None = None) -> list[Segment]:
    web = WebPages(cast("WebClient", None))
    attachments = Attachments(vault, web, cast("ImageReader", None))
    chosen = () if selection is None else (selection,)
    return list(attachments.segments(paths, chosen))


def read(vault: Vault, path: str, **lines: int) -> str:
    read_note = build_note_tools(vault, NumberedSources())[1]
    assert read_note.run is not None
    return read_note.run({"path": path, **lines})


def test_each_way_to_a_model_has_the_result_in_place_of_the_query(vault: Vault) -> None:
    home, inner = attach(vault, "Home.md")
    _, embedded, _ = attach(vault, "Outer.md")
    (base,) = attach(vault, "Bases/a tag.base")
    for text in (home.raw_content, embedded.raw_content, read(vault, "Home.md")):
        assert "[Result of the base in lines 5-14, found in the index now:]" in text
        assert TABLE in text
        assert "**Best**\n\n- [[Books/Dune.md|Dune]]" in text
        assert "- [ ] Finish Emma ([[Books/Emma.md|Emma]])" in text
        assert "No note matches: with the tag #nothing." in text
        assert "file.hasTag" not in text
        assert "TABLE x FROM #book GROUP BY status" in text  # which is not understood
        assert "Secret" not in text
    assert "My table" in inner.raw_content
    assert "Dune" in base.raw_content
    assert "file.hasTag" not in base.raw_content


def test_lines_keep_their_numbers_and_only_their_queries_are_computed(vault: Vault) -> None:
    written = (vault.root / "Home.md").read_text("utf-8").split("\n")
    todo = written.index("## To do") + 1
    (part,) = attach(vault, selection=Selection("Home.md", todo, todo + 4))
    lines = part.raw_content.split("\n")
    assert lines[:5] == ["## To do", "", "```dataview", "Its result is at the end.", "```"]
    assert part.lines == (todo, todo + 4)
    assert "Finish Emma" in part.raw_content
    assert "Dune | 5" not in part.raw_content
    text = read(vault, "Home.md", start=1, end=3)
    assert "Result of" not in text


def test_a_result_is_bounded_and_says_what_is_left_out(vault: Vault) -> None:
    note = vault.read_note("Home.md")
    whole, _ = read_with_results(vault, note)
    many = {f"Many/{number:03}.md": "#many\n" for number in range(70)}
    for path, text in many.items():
        (vault.root / path).parent.mkdir(exist_ok=True)
        (vault.root / path).write_text(text, "utf-8")
    (vault.root / "Many.md").write_text("```dataview\nLIST FROM #many\n```\n", "utf-8")
    update_words(vault)
    text, _ = read_with_results(vault, vault.read_note("Many.md"))
    assert text.endswith("And 20 more.")
    long = f"```dataview\nTABLE {', '.join(50 * ['file.path'])} FROM #many\n```\n"
    (vault.root / "Wide.md").write_text(3 * long, "utf-8")
    wide, _ = read_with_results(vault, vault.read_note("Wide.md"))
    assert "And 60 more." in wide
    assert wide.endswith("[The result of the query in lines 7-9 is too long to be shown here.]")
    assert read_with_results(vault, note)[0] == whole


def test_a_project_shows_only_its_own_notes(vault: Vault) -> None:
    books = vault.limit(Scope("Books"))
    (vault.root / "Books/List.md").write_text("```dataview\nLIST\n```\n", "utf-8")
    text, _ = read_with_results(books, vault.read_note("Books/List.md"))
    assert "Dune" in text
    assert "Textbook" not in text
