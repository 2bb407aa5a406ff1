"""Answers from notes: what was sent, what was cited, and whether it holds."""

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program
from tests.support.processes.rpc import Rpc
from tests.support.sessions.recount import recount

TurnRunner = Callable[[Program], Program]
_SOURCE = re.compile(
    r'<source n="(?P<n>\d+)"[^>]* path="(?P<path>[^"]*)"[^>]*>\n(?P<text>.*?)\n</source>', re.DOTALL
)


def sources_in(body: dict[str, Any]) -> dict[int, tuple[str, str]]:
    """Return what a request held as sources: path and text by number."""
    content = body["messages"][-1]["content"]
    assert isinstance(content, list)
    return {
        int(found["n"]): (html.unescape(found["path"]), html.unescape(found["text"]))
        for found in _SOURCE.finditer(content[0]["text"])
    }


def number_of(body: dict[str, Any], words: str) -> int:
    """Return the number of the source that holds these words."""
    return next(n for n, (_, text) in sources_in(body).items() if words in text)


def test_an_answer_streams_and_its_citation_opens_the_right_lines(
    with_notes: Program, asking: TurnRunner, server: ModelServer
) -> None:
    quote = "The barrel behind the shed holds 210 litres."
    server.script(lambda body: Answer(f'"{quote}" [{number_of(body, quote)}]'))
    result = asking(with_notes).json("ask", "How much does the barrel hold?", "--no-index")
    (citation,) = result["citations"]
    assert (citation["path"], citation["quote"], citation["verified"]) == (
        "Watering.md",
        quote,
        True,
    )
    first, last = citation["lines"]
    note = Path(with_notes.options[1], citation["path"]).read_text("utf-8").splitlines()
    assert quote in "\n".join(note[first - 1 : last])
    assert result["unverified"] == []
    assert server.bodies[0]["stream"] is True


def test_a_wrong_number_a_paraphrase_and_an_invention_are_all_marked(
    with_notes: Program, asking: TurnRunner, server: ModelServer
) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        n = number_of(body, "before eight in the morning")
        return Answer(
            f'Early [42]. "One should irrigate at an early hour of the day" [{n}]. '
            'And "snails are the gardener\'s best friends in every season".'
        )

    server.script(answer)
    result = asking(with_notes).json("ask", "When do I water?", "--no-index")
    by_quote = {claim["quote"]: claim for claim in result["unverified"]}
    assert by_quote[None]["n"] == 42
    paraphrase = by_quote["One should irrigate at an early hour of the day"]
    assert paraphrase["n"] in sources_in(server.bodies[0])
    invention = by_quote["snails are the gardener's best friends in every season"]
    assert invention["n"] is None
    assert all(claim["reason"] for claim in result["unverified"])


def test_what_went_over_the_wire_is_what_the_report_counts(
    with_notes: Program, asking: TurnRunner, server: ModelServer
) -> None:
    server.script(Answer("In July [1]."), Answer("Every six weeks [1]."))
    first = asking(with_notes).json("ask", "When do tomatoes ripen?", "--no-index")
    asking(with_notes).json(
        *("ask", "Wann wird der Kompost umgesetzt? 🪱", "--no-index"),
        *("--session", first["session"]),
    )
    shown = with_notes.json("context", "--last", "--full", "--session", first["session"])
    body = server.bodies[1]
    counted = recount(body)
    layers = {name: layer["tokens"] for name, layer in shown["layers"].items()}
    assert layers == {**dict.fromkeys(("L2", "E", "W"), 0), **counted}
    assert shown["used"] == sum(counted.values()) <= shown["budget"]
    assert shown["fraction"] == shown["used"] / shown["budget"]
    assert shown["wire"] == body
    neutral = shown["request_body"]
    assert neutral["system"] == body["messages"][0]["content"]
    said = [part["text"] for part in neutral["messages"][-1]["content"]]
    assert said == [part["text"] for part in body["messages"][-1]["content"]]
    assert {segment["source"] for segment in shown["segments"]} == {
        path for path, _ in sources_in(body).values()
    }
    assert shown["prefix"]["changed"] is False
    assert shown["prefix"]["tokens_reused"] >= counted["L1"]
    log = (with_notes.home / "state" / "strata.log").read_text("utf-8")
    assert "strata ask" in log
    assert not any(word in log for word in ("tomato", "Kompost", "Matina", "July"))


def test_without_a_model_the_answer_is_quoted_and_every_quotation_holds(
    with_notes: Program,
) -> None:
    result = with_notes.json("ask", "Which tomato ripens first?", "--no-index")
    assert (result["model"], result["status"], result["usage"]) == ("extractive", "complete", None)
    assert result["citations"]
    for citation in result["citations"]:
        assert citation["verified"]
        first, last = citation["lines"]
        note = Path(with_notes.options[1], citation["path"]).read_text("utf-8").splitlines()
        assert citation["quote"] in "\n".join(note[first - 1 : last])


CHOIR = "# Choir\n\nRehearsals of the choir begin at twenty past seven.\n\n- Bring a pencil\n"


def test_without_a_model_every_door_has_the_section_and_its_lit_lines(
    program: Program, small_vault: Path
) -> None:
    (small_vault / "Choir.md").write_text(CHOIR, "utf-8")
    asked = Program(program.home, ("--vault", str(small_vault)))
    result = asked.json("ask", "When do rehearsals begin?")
    assert result["kind"] == "answer"
    first = result["sections"][0]
    assert (first["path"], first["lines"], first["lit"]) == ("Choir.md", [1, 5], [[3, 3]])
    assert first["text"] == CHOIR.strip()
    rpc = Rpc(asked)
    told = rpc.turn("prompt", text="When do rehearsals begin?")
    rpc.close()
    assert told["sections"] == result["sections"]
    for turn in (result, told):
        cited = turn["citations"][0]
        assert (cited["lines"], cited["verified"], cited["found_by"]) == ([3, 3], True, "strata")
    (entry,) = (
        entry
        for entry in asked.json("sessions", "show", result["session"])["entries"]
        if entry.get("role") == "assistant"
    )
    assert entry["sections"] == result["sections"]


def test_the_items_of_a_list_are_cited_as_strata_found_them(with_notes: Program) -> None:
    result = with_notes.json("ask", "List all notes about tomatoes", "--no-index")
    assert result["kind"] == "list"
    assert result["citations"]
    assert {cited["found_by"] for cited in result["citations"]} == {"strata"}
    assert all(cited["quote"] and cited["verified"] for cited in result["citations"])


def test_a_note_that_was_just_changed_is_in_the_answer(
    with_notes: Program, small_vault: Path, asking: TurnRunner, server: ModelServer
) -> None:
    (small_vault / "Hose.md").write_text("# Hose\n\nThe hose is 25 metres long.\n", "utf-8")
    asking(with_notes).json("ask", "How long is the hose?", "--vault", str(small_vault))
    assert any("25 metres" in text for _, text in sources_in(server.bodies[0]).values())


UNCITED = "This answer cites no note."


def test_an_answer_without_a_citation_has_its_warning_everywhere(
    with_notes: Program, asking: TurnRunner, server: ModelServer
) -> None:
    asked = asking(with_notes)
    server.script(Answer("I do not know."))
    question = ("ask", "How much does the barrel hold?", "--no-index")
    assert asked.json(*question)["warnings"] == [UNCITED]
    assert UNCITED in asked.run(*question).out
    rpc = Rpc(asked)
    assert rpc.turn("prompt", text=question[1])["warnings"] == [UNCITED]
    server.script(Answer("In July [1]."))
    assert rpc.turn("prompt", text="When do tomatoes ripen?")["warnings"] == []
    server.script(Answer("I do not know."))
    assert rpc.turn("prompt", text="Hello?", mode="chat")["warnings"] == []
    rpc.close()
    cited = with_notes.json("ask", "Which tomato ripens first?", "--no-index")
    assert cited["warnings"] == []


def test_what_is_carried_over_a_compaction_is_never_quoted(with_notes: Program) -> None:
    questions = (
        "Which tomato ripens first?",
        "How much does the barrel hold?",
        "When is the barrel emptied?",
    )
    few = ("--no-index", "--set", "retrieval.topK=1")
    session: tuple[str, ...] = ()
    for question in questions:
        told = with_notes.json("ask", question, *few, *session)
        session = ("--session", told["session"])
    assert with_notes.json("compact", *session)["by"] == "outline"
    carried = 0
    for question in ("And in Kompost?", *questions):
        told = with_notes.json("ask", question, *few, *session)
        carried += told["context"]["layers"]["L2"]["items"]
        assert told["context"]["compactions"]
        assert "Cited earlier" not in told["answer"]
        assert "[0]" not in told["answer"]
        assert all(citation["n"] > 0 for citation in told["citations"])
    assert told["citations"]
    assert carried > 0
