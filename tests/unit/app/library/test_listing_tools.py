"""The tools that list, over real notes: what they find, and what they keep from models."""

import json
import os
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from chains.cancel import CancelToken
from chains.llm.port import RequestedCall
from chains.tools.listing_tools import build_listing_tools
from chains.tools.registry import ToolOutcome, ToolRegistry
from vault.notes.note import read_note
from vault.search.grep import BadPattern, find_lines

NOW = datetime(2026, 11, 22, 21, 30, tzinfo=timezone(timedelta(hours=1)))


LINKS = [
    "Links in Beans.md:",
    "Plans/May.md, line 5",
    "Gone (no such note), line 6",
    "Links to Beans.md:",
    "Plans/May.md, line 3",
]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    notes = {
        "Beans.md": "---\ntags: [garden, food]\n---\n\nSow in [[Plans/May|May]].\nSee [[Gone]].\n",
        "Plans/May.md": "# May\nBeans go first. #garden\n[Beans](../Beans.md) and `[[Beans]]`.\n",
        "Secret.md": "---\nprivate: true\ntags: [hush]\n---\nBeans of the safe. [[Beans]]\n",
        "Hidden/Excluded.md": "Beans elsewhere. [[Beans]] #hush\n",
    }
    for path, text in notes.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture
def tools(assistant: Assistant, vault: Path) -> ToolRegistry:
    assistant.settings.set("vault.exclude", ["Hidden/"])
    assistant.open_vault(vault, remember=False)
    list(assistant.index(CancelToken()))
    assert assistant.library is not None
    return ToolRegistry(build_listing_tools(assistant.library.vault, lambda: NOW))


def run(tools: ToolRegistry, name: str, **arguments: Any) -> ToolOutcome:
    return tools.run(RequestedCall("c1", name, json.dumps(arguments)))


def test_lines_and_links_are_found_on_disk(tools: ToolRegistry, vault: Path) -> None:
    assert run(tools, "get_links", path="Beans.md").content.splitlines() == LINKS
    assert run(tools, "grep_notes", pattern="beans? go|sow").content.splitlines() == [
        "Beans.md:5: Sow in [[Plans/May|May]].",
        "Plans/May.md:2: Beans go first. #garden",
    ]
    assert run(tools, "grep_notes", pattern="Beans", path="Plans/").content.count("\n") == 1
    assert run(tools, "grep_notes", pattern="sOw").content == "No line matches."
    (vault / "Beans.md").write_text("Nothing is sown.\n")
    assert "sown" in run(tools, "grep_notes", pattern="sow").content


def test_tags_are_counted_and_the_time_is_told_with_its_day(tools: ToolRegistry) -> None:
    assert run(tools, "current_time").content == "Sunday, 2026-11-22 21:30 +0100"
    listed = run(tools, "list_tags").content.splitlines()
    assert listed == ["#garden (2 notes)", "#food (1 note)"]


def test_recent_notes_come_first(tools: ToolRegistry, vault: Path) -> None:
    for path, hours in (("Beans.md", 3), ("Plans/May.md", 1), ("Secret.md", 0)):
        at = (NOW - timedelta(hours=hours)).timestamp()
        os.utime(vault / path, (at, at))
    assert run(tools, "recent_notes").content.splitlines() == [
        "2026-11-22 20:30 Plans/May.md",
        "2026-11-22 18:30 Beans.md",
    ]
    assert run(tools, "recent_notes", limit=1).content == "2026-11-22 20:30 Plans/May.md"
    old = (NOW - timedelta(days=30)).timestamp()
    for path in ("Beans.md", "Plans/May.md"):
        os.utime(vault / path, (old, old))
    assert run(tools, "recent_notes").content == "No note changed."


def test_what_is_kept_from_models_is_in_no_list(tools: ToolRegistry, vault: Path) -> None:
    (vault / "Plans/May.md").write_text("---\nprivate: true\n---\nBeans, #garden, [[Beans]]\n")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("grep_notes", {"pattern": "Beans|hush"}),
        ("get_links", {"path": "Beans.md"}),
        ("list_tags", {}),
        ("recent_notes", {"days": 36_500}),
    ]
    found = "\n".join(run(tools, name, **arguments).content for name, arguments in calls)
    for path in ("Secret.md", "Hidden/Excluded.md", "Hidden", "../notes"):
        for name, more in (("grep_notes", {"pattern": "a"}), ("get_links", {})):
            outcome = run(tools, name, path=path, **more)
            assert outcome.is_error
            assert "safe" not in outcome.content
    for word in ("Secret", "Excluded", "safe", "hush", "elsewhere", "Plans/May.md"):
        assert word not in found
    assert "#garden (1 note)" in found


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("(a+)+$", "repeats what is repeated"), ("a{9999999}", "1,000 times"), ("[", "not a regular")],
)
def test_a_pattern_that_is_not_safe_is_refused(tmp_path: Path, pattern: str, said: str) -> None:
    with pytest.raises(BadPattern, match=said):
        find_lines(tmp_path, (), partial(read_note, tmp_path), pattern, 100)
