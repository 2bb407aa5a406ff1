"""Files of every kind that is read: indexed, searched, attached, read and cited like notes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program
from tests.support.vaults.documents import docx, paragraph, pdf
from tests.support.vaults.hostile_files import HOSTILE

TurnRunner = Callable[[Program], Program]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "paper.pdf").write_bytes(
        pdf(["Cover", "The heron nests in reeds.", "Its eggs are pale blue."], title="On herons")
    )
    (root / "scan.pdf").write_bytes(pdf([""]))
    (root / "locked.pdf").write_bytes(pdf(["x"], is_encrypted=True))
    (root / "letter.docx").write_bytes(
        docx(paragraph("Boats", "berschrift1") + paragraph("The dinghy lies at the jetty."))
    )
    (root / "page.html").write_text(
        "<title>Tides</title><script>evil()</script><h2>Spring</h2><p>The tide turns at noon.</p>"
    )
    (root / "old.txt").write_bytes("Le café ouvre à sept heures.\n".encode("cp1252"))
    (root / "wide.md").write_bytes("# Größe\n\nDer Pegel misst die Höhe.\n".encode("utf-16"))
    card = {"id": "a", "type": "text", "text": "The lock keeper is called Maud."}
    (root / "board.canvas").write_text(json.dumps({"nodes": [card], "edges": []}))
    (root / "same.html").write_text("plain words, twice")
    return root


@pytest.fixture
def kinds(program: Program, vault: Path) -> Program:
    return Program(program.home, ("--vault", str(vault)))


def test_each_kind_is_indexed_and_found_at_its_place(kinds: Program, vault: Path) -> None:
    report = kinds.json("index")
    assert report["notes"] == 7
    assert {item["path"]: item["reason"] for item in report["failed"]} == {
        "scan.pdf": "it has no text (scanned?)",
        "locked.pdf": "it is protected by a password",
    }
    for query, path, heading, lines in (
        ("where does the heron nest", "paper.pdf", ["Page 2"], [5, 7]),
        ("pale blue eggs", "paper.pdf", ["Page 3"], [9, 11]),
        ("dinghy at the jetty", "letter.docx", ["Boats"], [1, 3]),
        ("when does the tide turn", "page.html", ["Spring"], [1, 3]),
        ("café ouvre", "old.txt", [], [1, 1]),
        ("Pegel Höhe", "wide.md", ["Größe"], [1, 3]),
        ("lock keeper Maud", "board.canvas", [], [1, 1]),
    ):
        best = kinds.json("search", query)["hits"][0]
        assert (best["path"], best["heading"], best["lines"]) == (path, heading, lines)
    assert kinds.json("search", "evil")["hits"] == [] or "evil" not in json.dumps(
        [hit["text"] for hit in kinds.json("search", "evil")["hits"]]
    )
    again = kinds.json("index")
    assert (again["embedded_chunks"], again["changed"], len(again["failed"])) == (0, 0, 2)
    (vault / "same.html").rename(vault / "same.txt")
    moved = kinds.json("index")
    assert (moved["renamed"], moved["added"], moved["removed"]) == (0, 1, 1)


def test_a_pdf_is_attached_read_by_an_agent_and_cited_by_its_page(
    kinds: Program, asking: TurnRunner, server: ModelServer
) -> None:
    program = asking(kinds)
    server.script(Answer("It says “Its eggs are pale blue.” [1]."))
    asked = program.json("ask", "Which colour?", "--mode", "chat", "--attach", "paper.pdf")
    (citation,) = asked["citations"]
    assert (citation["path"], citation["verified"]) == ("paper.pdf", True)
    assert (citation["heading"], citation["lines"]) == (["Page 3"], [11, 11])
    call = ("c1", "read_note", json.dumps({"path": "paper.pdf", "start": 5, "end": 7}))
    server.script(Answer("", calls=(call,)), Answer("In reeds [1]."))
    read = program.json("ask", "Where?", "--mode", "agent")
    assert read["tools"][0]["status"] == "ok"
    assert "The heron nests in reeds." in json.dumps(server.bodies[-1]["messages"])


def test_a_file_that_gives_no_text_cannot_be_attached_and_says_why(kinds: Program) -> None:
    for path, reason in (("scan.pdf", "no text (scanned?)"), ("locked.pdf", "by a password")):
        refused = kinds.run("ask", "x", "--mode", "chat", "--attach", path, "--json")
        assert refused.code == 1
        assert reason in refused.error["message"]


def test_a_folder_is_attached_without_the_files_that_give_no_text(
    kinds: Program, asking: TurnRunner, server: ModelServer
) -> None:
    server.script(Answer("Much."))
    asking(kinds).json("ask", "What is here?", "--mode", "chat", "--attach", ".")
    sent = json.dumps(server.bodies[-1]["messages"], ensure_ascii=False)
    for words in ("pale blue", "dinghy", "tide turns", "café ouvre", "Pegel", "Maud"):
        assert words in sent


def test_files_that_swell_do_not_stop_the_index_of_the_others(
    program: Program, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    hostile = ("bomb.docx", "nested.docx", "nested.html", "swelling.pdf")
    for name in hostile:
        (notes / name).write_bytes(HOSTILE[name]())
    (notes / "z.md").write_text("# Barrel\n\nThe barrel holds 210 litres.\n")
    (notes / "zz.pdf").write_bytes(pdf(["The shed is behind the house."]))
    report = program.json("index", str(notes))
    assert report["notes"] == 2
    assert sorted(item["path"] for item in report["failed"]) == sorted(hostile)
    assert all(item["reason"] for item in report["failed"])
    found = program.json("search", "barrel", "--vault", str(notes))
    assert found["hits"][0]["path"] == "z.md"
