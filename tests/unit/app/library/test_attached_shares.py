"""Every kind of attachment at small and large budgets: what is cut or left out is said, once."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from app.assistant import Assistant
from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.request.ask import Ask, Selection
from tests.support.models.model_server import ModelServer
from tests.support.sessions.attached import assert_consistent, prose, rows, write_sized_notes
from tests.support.sessions.turns import result_of
from vault.embedder import Embedder

ALL = Selection("n1.md", 1, 400)
WAYS: dict[str, dict[str, Any]] = {
    "note": {"attach": ("n0.md",)},
    "notes": {"attach": ("n0.md", "small.md", "n2.md")},
    "selection": {"selections": (ALL,)},
    "short selection": {"selections": (Selection("n1.md", 1, 20),)},
    "folder": {"attach": ("Sub",)},
    "tag and text": {"attach": ("#tagged", "{outside}")},
    "all": {"attach": ("Sub", "n2.md", "small.md"), "selections": (ALL,)},
    "note and its lines": {"attach": ("n1.md",), "selections": (Selection("n1.md", 5, 9),)},
}


@pytest.fixture(scope="module")
def much(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Assistant]:
    """An assistant over notes of many sizes, indexed once: nothing here stores a chat."""
    root = tmp_path_factory.mktemp("much")
    notes = root / "notes"
    write_sized_notes(notes, large=[40_000] * 3, tagged=[9_000] * 5)
    (root / "outside.txt").write_text(prose(30, 60_000))
    paths = Paths.find({"STRATA_HOME": str(root / "home")})
    with ModelServer() as server, closing(build(paths, embedder=embedder)) as assistant:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.settings.set("chat.model", "gpt-4o")
        assistant.open_vault(notes, remember=False)
        list(assistant.index(CancelToken()))
        yield assistant


@pytest.mark.parametrize("threshold", [4_000, 8_000, 32_000])
@pytest.mark.parametrize("way", WAYS)
def test_whatever_is_cut_or_left_out_is_said_once_and_the_report_agrees(
    much: Assistant, way: str, threshold: int
) -> None:
    much.settings.set("autoCompactThreshold", threshold)
    attached = dict(WAYS[way])
    assert much.vault is not None
    outside = str(much.vault.with_name("outside.txt"))
    attached["attach"] = tuple(p.format(outside=outside) for p in attached.get("attach", ()))
    for mode in ("chat", "vault"):
        request = Ask("Where is the valve?", mode, dry_run=True, update_index=False, **attached)
        done = result_of(much.ask(request, CancelToken())).to_dict()
        assert_consistent(done, has_selection=way in ("selection", "all"))
        there = [row["source"] for row in rows(done["context"])]
        assert "small.md" in there or "small.md" not in attached["attach"]
        if way == "all":
            shown = [row for row in rows(done["context"]) if row["tokens"]]
            assert "small.md" in {row["source"] for row in shown}
