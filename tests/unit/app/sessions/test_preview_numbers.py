"""The preview of a request shows the figures of the request that follows it."""

from pathlib import Path
from typing import Any

import pytest

from app.assistant import Assistant
from chains.request.ask import Selection
from tests.support.models.model_server import ModelServer
from tests.support.sessions.attached import rows, write_sized_notes
from tests.support.sessions.turns import ask, result_of

TEXT = "Where is the river pump valve?"
CASES: dict[str, dict[str, Any]] = {
    "note": {"attach": ("small.md",)},
    "note and its lines": {"attach": ("small.md",), "selections": (Selection("small.md", 3, 3),)},
    "folder": {"attach": ("Sub",)},
    "two large notes": {"attach": ("n0.md", "n1.md")},
    "large and small": {"attach": ("n0.md", "small.md", "Sub/s0.md"), "selections": ()},
    "empty": {"attach": ("empty.md", "small.md")},
}


@pytest.fixture
def notes(assistant: Assistant, server: ModelServer, tmp_path: Path) -> Path:
    folder = tmp_path / "previewed"
    write_sized_notes(folder, large=[90_000] * 2, tagged=[2_000] * 2)
    (folder / "empty.md").write_text("\n")
    assistant.open_vault(folder, remember=False)
    assistant.settings.set("autoCompactThreshold", 16_000)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_a_preview_has_the_figures_of_the_request_that_follows(
    assistant: Assistant, notes: Path, case: str
) -> None:
    first = result_of(ask(assistant, "Hello?", mode="chat"))
    shown = assistant.preview(first.session, TEXT, "chat", **CASES[case])
    asked = {"mode": "chat", "session": first.session, "dry_run": True}
    sent = result_of(ask(assistant, TEXT, **asked, **CASES[case]))
    before = {name: layer["tokens"] for name, layer in shown["layers"].items()}
    after = {name: layer["tokens"] for name, layer in sent.context["layers"].items()}
    is_searched = any(row["state"] == "shrunk" for row in rows(sent.context))
    if not is_searched:
        assert (before, shown["warnings"]) == (after, sent.context["warnings"])
        return
    estimated, real = before.pop("L3"), after.pop("L3")
    assert before == after
    assert abs(estimated - real) <= 0.05 * shown["budget"]
    said, told = ([w.partition(": ")[0] for w in ws] for ws in (shown["warnings"], sent.warnings))
    assert said == told != []


def test_an_empty_note_is_named_and_not_sent(assistant: Assistant, notes: Path) -> None:
    result = result_of(ask(assistant, TEXT, mode="chat", attach=("empty.md",)))
    assert result.warnings == ("empty.md is empty, so there is nothing of it to send.",)
    assert rows(result.context) == []
