"""What is private or excluded reaches no index, no chat and no model, by whatever way."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc
from tests.support.vaults.documents import docx, paragraph, pdf

TurnRunner = Callable[[Program], Program]

SECRET = "plumtree gooseberry-"
HIDDEN = {
    "Journal/may.md": ("vault.exclude: Journal/", b"The %s1"),
    "front.md": ("private: the note says so", b"---\nprivate: true\n---\nThe %s2"),
    "broken.md": ("private: the note says so", b"---\na: [\ntags: [private]\n---\nThe %s3"),
    "tagged.md": ("private: the note says so", b"The %s4 #private"),
    "comment.md": ("private: the note says so", b"The %s5 %%%%#private%%%%"),
    "plain.txt": ("private: the note says so", b"The %s6 #private/family"),
    "page.html": ("private: the note says so", b"<p>The %s7 #private</p>"),
    "Old/deep/x.md": ("Obsidian's excluded files: Old/", b"The %s8"),
    "notes-2019.md": (r"Obsidian's excluded files: /-\d{4}/", b"The %s9"),
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """One open note among many that are kept out, each of which holds the secret word."""
    root = tmp_path / "vault"
    for path, (_, text) in HIDDEN.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text % SECRET.encode())
    (root / "paper.pdf").write_bytes(pdf([f"The {SECRET}10 #private"]))
    (root / "letter.docx").write_bytes(docx(paragraph(f"The {SECRET}11 #private")))
    (root / "wide.md").write_bytes(f"The {SECRET}12 #private".encode("utf-16"))
    (root / "open.md").write_text("# Open\n\nThe plumtree stands by the gate.\n")
    (root / ".obsidian").mkdir()
    filters = {"userIgnoreFilters": ["Old/", r"/-\d{4}/"]}
    (root / ".obsidian/app.json").write_text(json.dumps(filters))
    return root


@pytest.fixture
def private(program: Program, vault: Path) -> Program:
    exclude = ("--set", 'vault.exclude=["Journal/"]')
    return Program(program.home, ("--vault", str(vault), *exclude))


def hidden_paths(vault: Path) -> list[str]:
    """Return every file of the folder that is to be kept out."""
    found = (path.relative_to(vault).as_posix() for path in vault.rglob("*.*") if path.is_file())
    return sorted(path for path in found if path not in ("open.md", ".obsidian/app.json"))


def assert_nothing_leaked(server: ModelServer, vault: Path) -> None:
    """Check that no request held the secret, or so much as the name of what holds it."""
    for body in server.bodies:
        sent = [m for m in body["messages"] if m["role"] in ("user", "tool")]
        text = json.dumps(sent)
        assert "gooseberry" not in text
        assert [path for path in hidden_paths(vault) if f"{path}:" in text] == []


def test_the_index_says_what_is_kept_out_and_by_which_rule(private: Program, vault: Path) -> None:
    report = private.json("index")
    assert (report["notes"], report["failed"]) == (1, [])
    told = {item["path"]: item["rule"] for item in report["excluded"]}
    expected = {path: rule for path, (rule, _) in HIDDEN.items() if "/" not in path}
    assert expected.items() <= told.items()
    assert told["Journal"] == "vault.exclude: Journal/"
    assert told["Old"] == "Obsidian's excluded files: Old/"
    assert {"paper.pdf", "letter.docx", "wide.md"} <= told.keys()
    hits = private.json("search", "plumtree gooseberry", "-k", "50")["hits"]
    assert [hit["path"] for hit in hits] == ["open.md"]


def test_no_question_carries_it_and_no_file_of_ours_holds_it(
    private: Program, asking: TurnRunner, server: ModelServer, vault: Path
) -> None:
    server.script(Answer("By the gate [1]."))
    asking(private).json("ask", "Where does the plumtree stand?")
    assert "by the gate" in json.dumps(server.bodies[-1]["messages"])
    assert_nothing_leaked(server, vault)
    ours = [path for path in private.home.rglob("*") if path.is_file()]
    assert [path for path in ours if b"gooseberry" in path.read_bytes()] == []


def test_it_cannot_be_attached_by_name_and_is_not_in_its_folder(
    private: Program, asking: TurnRunner, server: ModelServer, vault: Path
) -> None:
    program = asking(private)
    server.script(Answer("By the gate."))
    for path in hidden_paths(vault):
        refused = program.run("ask", "x", "--mode", "chat", "--attach", path, "--json")
        assert refused.code == 1, path
        assert "not given to a model" in refused.error["message"], path
    assert server.bodies == []
    program.json("ask", "x", "--mode", "chat", "--attach", ".")
    assert "by the gate" in json.dumps(server.bodies[-1]["messages"])
    assert_nothing_leaked(server, vault)


def test_an_agents_tools_neither_list_nor_read_nor_find_it(
    private: Program, asking: TurnRunner, server: ModelServer, vault: Path
) -> None:
    calls = [("list_folder", {}), ("list_folder", {"path": "Journal"})]
    calls += [("search_notes", {"query": "plumtree gooseberry", "k": 20})]
    calls += [("read_note", {"path": path}) for path in hidden_paths(vault)]
    made = tuple(
        (f"c{number}", name, json.dumps(arguments))
        for number, (name, arguments) in enumerate(calls)
    )
    server.script(Answer("", calls=made), Answer("By the gate."))
    result = asking(private).json("ask", "Look around.", "--mode", "agent")
    assert [tool["status"] for tool in result["tools"]] == [
        *("ok", "error", "ok"),
        *("error" for _ in hidden_paths(vault)),
    ]
    assert "open.md: Open" in json.dumps(server.bodies[-1]["messages"])
    assert_nothing_leaked(server, vault)


def test_a_note_made_private_after_it_was_indexed_is_kept_out_at_once(
    private: Program, asking: TurnRunner, server: ModelServer, vault: Path
) -> None:
    for name in ("turned", "moved", "filtered"):
        (vault / f"{name}.md").write_text(f"# Turned {name}\n\nThe plumtree, round.\n")
    assert private.json("index")["notes"] == 4
    (vault / "turned.md").write_text(f"# Turned turned\n\nThe {SECRET}13 #private\n")
    (vault / ".obsidian/app.json").write_text(
        '{"userIgnoreFilters": ["Old/", "filtered.md", "/-\\\\d{4}/"]}'
    )
    stale = asking(
        Program(private.home, (*private.options, "--set", 'vault.exclude=["moved.md", "Journal/"]'))
    )
    hits = stale.json("search", "plumtree", "-k", "50")["hits"]
    assert [hit["path"] for hit in hits] == ["open.md"]
    made = (
        ("c1", "list_folder", "{}"),
        ("c2", "search_notes", json.dumps({"query": "plumtree", "k": 20})),
    )
    server.script(Answer("", calls=made), Answer("By the gate."))
    stale.json("ask", "Look around.", "--mode", "agent", "--no-index")
    listed = json.dumps(server.bodies[-1]["messages"])
    assert "open.md: Open" in listed
    assert [n for n in ("turned.md", "moved.md", "filtered.md") if n in listed] == []
    assert_nothing_leaked(server, vault)


def test_an_agent_reads_notes_and_no_file_that_may_hold_keys(
    program: Program, asking: TurnRunner, server: ModelServer, vault: Path
) -> None:
    held = (".env", ".netrc", "key.pem", "id_rsa", "conf.toml", "sub/.notes.md", "innocent.md")
    (vault / "sub").mkdir()
    for path in held[:-1]:
        (vault / path).write_text(f"The {SECRET}keys")
    (vault / "innocent.md").symlink_to(".env")
    names = (*held, "open.md")
    made = tuple(
        (f"c{number}", "read_note", json.dumps({"path": path})) for number, path in enumerate(names)
    )
    made += (("l", "list_folder", json.dumps({"path": "sub"})),)
    server.script(Answer("", calls=made), Answer("By the gate."))
    ours = Program(program.home, ("--vault", str(vault)))
    result = asking(ours).json("ask", "Look around.", "--mode", "agent")
    assert [tool["status"] for tool in result["tools"]] == [*["error"] * 7, "ok", "error"]
    assert f"{SECRET}keys" not in json.dumps(server.bodies)


def test_a_link_or_a_hidden_file_is_not_sent_by_its_name(
    program: Program, asking: TurnRunner, server: ModelServer, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text(f"The {SECRET}outside")
    (vault / "link.txt").symlink_to(tmp_path / "outside.txt")
    (vault / ".env").write_text("KEY=1")
    server.script(Answer("Noted."))
    asked = asking(Program(program.home, ("--vault", str(vault))))
    for path in ("link.txt", ".env"):
        refused = asked.run("ask", "x", "--mode", "chat", "--attach", path, "--json")
        assert (refused.code, refused.error["code"]) == (1, "bad_request")
        assert ("full path" if path == "link.txt" else "hidden:") in refused.error["hint"]
    whole = str(vault / ".env")
    assert asked.run("ask", "x", "--mode", "chat", "--attach", whole, "--json").code == 1
    assert server.bodies == []
    asked.json("ask", "x", "--mode", "chat", "--attach", f"hidden:{whole}")
    assert "KEY=1" in json.dumps(server.bodies)
    assert str(vault) not in json.dumps(server.bodies)


def test_a_link_or_a_hidden_file_is_not_sent_over_rpc(
    program: Program, asking: TurnRunner, server: ModelServer, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.txt").write_text(f"The {SECRET}outside")
    (vault / "link.txt").symlink_to(tmp_path / "outside.txt")
    (vault / ".env").write_text(f"The {SECRET}key")
    server.script(Answer("Noted."))
    rpc = Rpc(asking(Program(program.home, ("--vault", str(vault)))))
    for path in ("link.txt", ".env"):
        refused = rpc.refuse("prompt", text="x", mode="chat", attach=[path])
        assert refused["code"] == "bad_request"
        assert ("full path" if path == "link.txt" else "hidden:") in refused["hint"]
    seen = rpc.refuse("get_context", when="next", text="x", attach=["link.txt"])
    assert seen["code"] == "bad_request"
    (vault / "swapped.md").write_text("A note.")
    assert rpc.turn("prompt", text="x", mode="chat", attach=["swapped.md"])["status"] == "complete"
    (vault / "swapped.md").unlink()
    (vault / "swapped.md").symlink_to(tmp_path / "outside.txt")
    assert rpc.turn("prompt", text="And?", mode="chat")["status"] == "complete"
    rpc.close()
    assert "A note." in json.dumps(server.bodies[0])
    assert SECRET not in json.dumps(server.bodies)
