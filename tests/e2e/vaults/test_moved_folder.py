"""A folder of notes that was renamed, through the installed program: index and chats go along."""

from collections.abc import Callable
from pathlib import Path

from tests.support.processes.program import Program


def test_a_renamed_folder_embeds_nothing(program: Program, small_vault: Path) -> None:
    first = program.json("index", str(small_vault))
    there = small_vault.rename(small_vault.with_name("elsewhere"))
    again = program.json("index", str(there))
    assert (again["embedded_chunks"], again["added"], again["removed"]) == (0, 0, 0)
    assert (again["notes"], again["vault"]) == (first["notes"], str(there))


def test_a_chat_goes_on_where_its_folder_lies_now(
    program: Program, small_vault: Path, asking: Callable[[Program], Program]
) -> None:
    asked = asking(program)
    first = asked.json("ask", "How much does the barrel hold?", "--vault", str(small_vault))
    there = small_vault.rename(small_vault.with_name("elsewhere"))
    program.json("index", str(there))
    second = asked.json("ask", "And in winter?", "--session", first["session"])
    assert second["session"] == first["session"]
    assert second["citations"] or second["context"]["layers"]["L3"]["tokens"] > 0


def test_the_folder_of_the_settings_is_followed(program: Program, small_vault: Path) -> None:
    program.json("settings", "set", "vault.path", str(small_vault))
    program.json("index")
    there = small_vault.rename(small_vault.with_name("elsewhere"))
    program.json("index", str(there))
    assert program.json("search", "barrel")["hits"][0]["path"] == "Watering.md"
