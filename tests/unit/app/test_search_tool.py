"""The tool `search_notes` reads a query against the vault, as a question of the user is read."""

from pathlib import Path

import pytest

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.tools.vault_tools import run_vault_tool
from vault.vault import Vault

NOTES = {
    "Bread.md": "# Bread\n#recipe\nFlour and water.\n",
    "Soup.md": "---\ntags: [recipe]\nrating: 4\n---\n# Soup\nA soup of leeks.\n",
    "House/Roof.md": "# Roof\nThe roof leaks. See [[Soup]].\n",
}


@pytest.fixture
def vault(assistant: Assistant, tmp_path: Path) -> Vault:
    for path, text in NOTES.items():
        file = tmp_path / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assistant.open_vault(tmp_path / "vault", remember=False)
    library = assistant.library
    assert library is not None
    list(library.update(CancelToken()))
    return library.vault


@pytest.mark.parametrize(
    ("query", "said", "found"),
    [
        ("all notes with the tag #recipe", "2 notes with the tag #recipe", {"Bread", "Soup"}),
        ("How many notes are in House?", "1 note in the folder “House”", {"Roof"}),
        ("notes that link to Soup", "1 note with a link to “Soup”", {"Roof"}),
        ("Alle Notizen mit dem Tag #recipe", "2 notes with the tag #recipe", {"Bread", "Soup"}),
        ("toutes les notes dans House", "1 note in the folder “House”", {"Roof"}),
    ],
)
def test_a_query_for_a_list_is_listed_and_counted(
    vault: Vault, query: str, said: str, found: set[str]
) -> None:
    content = run_vault_tool(vault, "search_notes", {"query": query}).content
    assert content.startswith(said)
    assert {title for title in ("Bread", "Soup", "Roof") if f'title="{title}"' in content} == found


@pytest.mark.parametrize(
    "query", ["leeks", "recipe", "tag:recipe soup", "When does the roof leak?"]
)
def test_other_queries_are_searched(vault: Vault, query: str) -> None:
    content = run_vault_tool(vault, "search_notes", {"query": query}).content
    assert content.startswith("<source")


def test_a_list_without_notes_says_what_was_looked_for(vault: Vault) -> None:
    query = {"query": "list all notes with the tag #recipe in House"}
    content = run_vault_tool(vault, "search_notes", query).content
    assert content.startswith("No note ")
    assert "#recipe" in content
    assert "House" in content


def test_a_list_goes_on_at_an_offset(vault: Vault) -> None:
    query = {"query": "all notes with the tag #recipe", "k": 1}
    first = run_vault_tool(vault, "search_notes", query).content
    second = run_vault_tool(vault, "search_notes", {**query, "offset": 1}).content
    assert "offset 1 shows the next" in first
    assert ("Bread" in first, "Soup" in second, "offset" in second) == (True, True, False)
