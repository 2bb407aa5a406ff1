"""Images as attachments, through the installed program: the bodies that each provider receives."""

import json
from base64 import b64decode
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.paths import Paths
from app.wiring import build
from chains.cancel import CancelToken
from chains.events import Warned
from tests.support.models.model_server import Answer, ModelServer
from tests.support.processes.program import Program, ended
from tests.support.processes.rpc import Rpc, next_event, respond, response
from tests.support.sessions.turns import ask as ask_assistant
from tests.support.sessions.turns import result_of
from tests.support.vaults.image_files import PLACE, decode, draw, take_photo
from vault.embedder import Embedder

SEES = ({"id": "eye", "capabilities": ["vision"]},)
BLIND = ({"id": "ear", "capabilities": ["tools"]},)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    file = tmp_path / "photo.jpg"
    file.write_bytes(take_photo(64, 32))
    return file


def options(server: ModelServer, model: str, path: str = "/v1") -> tuple[str, ...]:
    return ("--set", f"chat.apiBase={server.root}{path}", "--set", f"chat.model={model}")


def ask(program: Program, photo: Path, question: str = "What is red?", *argv: str) -> Any:
    return program.json("ask", question, "--mode", "chat", "--attach", str(photo), *argv)


def openai_image(body: Any) -> str:
    parts = body["messages"][-1]["content"]
    (url,) = (part["image_url"]["url"] for part in parts if part["type"] == "image_url")
    assert parts[-1] == {"type": "text", "text": "What is red?"}
    assert parts[0]["text"].endswith("[image, 32 × 64 pixels; it follows this text]\n</source>")
    return str(url).removeprefix("data:image/jpeg;base64,")


def anthropic_image(body: Any) -> str:
    parts = body["messages"][-1]["content"]
    (source,) = (part["source"] for part in parts if part["type"] == "image")
    assert (source["type"], source["media_type"]) == ("base64", "image/jpeg")
    return str(source["data"])


def gemini_image(body: Any) -> str:
    parts = body["contents"][-1]["parts"]
    (data,) = (part["inline_data"] for part in parts if "inline_data" in part)
    assert data["mime_type"] == "image/jpeg"
    return str(data["data"])


def ollama_image(body: Any) -> str:
    message = body["messages"][-1]
    assert message["content"].endswith("What is red?")
    (data,) = message["images"]
    return str(data)


@pytest.mark.parametrize(
    ("model", "path", "find"),
    [
        ("openai/eye", "/v1", openai_image),
        ("anthropic/claude-sonnet-4-5", "", anthropic_image),
        ("gemini/gemini-2.5-flash", "", gemini_image),
        ("ollama_chat/eye", "", ollama_image),
    ],
)
def test_each_provider_gets_the_pixels_and_not_the_place(
    program: Program, photo: Path, model: str, path: str, find: Callable[[Any], str]
) -> None:
    is_ollama = model.startswith("ollama")
    context = 32_768 if is_ollama else None
    server = ModelServer(
        Answer("The corner."), models=SEES, ollama_context=context, ollama_sees=is_ollama
    )
    with server:
        done = ask(Program(program.home, options(server, model, path)), photo)
        (body,) = server.bodies
        raw = b"".join(received.raw for received in server.received)
    assert done["answer"] == "The corner."
    data = b64decode(find(body))
    assert decode(data).height() == 64
    assert PLACE.encode() not in data
    assert PLACE.encode() not in raw
    (row,) = done["context"]["segments"]
    assert (row["kind"], row["layer"], row["state"]) == ("image", "L3", "full")
    assert row["tokens"] <= done["context"]["layers"]["L3"]["tokens"] <= done["context"]["budget"]
    assert row["tokens"] > 20


@pytest.mark.parametrize(
    ("model", "models", "said"),
    [
        ("openai/ear", BLIND, "The model openai/ear does not see images."),
        (
            "openai/new",
            ({"id": "new"},),
            "It is not known whether the model openai/new sees images; if it does, add it to "
            "chat.imageModels.",
        ),
        ("extractive", (), "No model is set, and only a model can look at an image."),
    ],
)
def test_a_model_that_does_not_see_images_gets_none(
    program: Program, photo: Path, model: str, models: Any, said: str
) -> None:
    with ModelServer(models=models) as server:
        over = Program(program.home, options(server, model))
        done = over.run("ask", "What?", "--mode", "chat", "--attach", str(photo), "--json")
        assert server.bodies == []
    assert done.code != 0
    assert done.error["code"] == "bad_request"
    assert done.error["message"] == f"{said} {photo.name} is not sent."
    assert "Choose a model that sees images, or detach the image." in done.error["hint"]


@pytest.mark.parametrize("listed", ["openai/new", "new"])
def test_a_model_that_the_user_says_sees_images_gets_them(
    program: Program, photo: Path, listed: str
) -> None:
    with ModelServer(Answer("The corner."), models=({"id": "new"},)) as server:
        place = options(server, "openai/new")
        over = Program(program.home, (*place, "--set", f'chat.imageModels=["{listed}"]'))
        done = ask(over, photo)
        (body,) = server.bodies
        (row,) = [one for one in over.json("models")["models"] if one["set"]]
    assert done["answer"] == "The corner."
    assert decode(b64decode(openai_image(body))).height() == 64
    assert row["vision"]


def test_an_image_stays_in_the_chat_after_a_restart_and_its_file_is_stored_once(
    program: Program, photo: Path
) -> None:
    with ModelServer(models=(*SEES, *BLIND)) as server:
        over = Program(program.home, options(server, "openai/eye"))
        first = ask(over, photo)
        photo.unlink()
        again = ("--mode", "chat", "--session", first["session"])
        second = over.json("ask", "And below?", *again)
        third = over.json("ask", "And above?", *again)
        bodies = server.bodies
        data = openai_image(bodies[0])
        (log,) = (program.home / "data" / "sessions").glob("*.jsonl")
        assert log.read_text("utf-8").count(data) == 1
        for body, done in zip(bodies[1:], (second, third), strict=True):
            assert json.dumps(body).count(data) == 1
            (row,) = done["context"]["segments"]
            assert (row["layer"], row["kind"], row["state"]) == ("L2", "image", "full")
        shown = over.json("context", "--session", first["session"], "--full")
        assert data in json.dumps(shown["request_body"])
        blind = over.json("ask", "And left?", *again, "--model", "openai/ear")
        assert data not in json.dumps(server.bodies[-1])
    assert len(bodies) == 3
    (row,) = blind["context"]["segments"]
    assert (row["state"], row["reason"]) == ("dropped", "unseen")


def test_images_over_their_budget_are_left_out_with_a_sentence(
    program: Program, tmp_path: Path
) -> None:
    names = []
    for number in range(4):
        (tmp_path / f"{number}.png").write_bytes(draw(900, 900 + number))
        names += ["--attach", str(tmp_path / f"{number}.png")]
    with ModelServer(models=SEES) as server:
        over = Program(program.home, options(server, "openai/eye"))
        small = ("--set", "autoCompactThreshold=8000")
        done = over.json("ask", "Which?", "--mode", "chat", *names, *small)
        sent = json.dumps(server.bodies[0]).count("image_url")
    context = done["context"]
    kept = [row for row in context["segments"] if row["state"] == "full"]
    assert 2 * len(kept) == sent
    assert 0 < len(kept) < 4
    assert context["used"] <= context["budget"]
    left = [
        warning for warning in done["warnings"] if "is left out, because the request" in warning
    ]
    assert len(left) + len(kept) == 4 or "are left out" in " ".join(done["warnings"])


def test_an_image_is_attached_over_rpc_and_named_by_the_export(
    program: Program, photo: Path
) -> None:
    with ModelServer(models=SEES) as server:
        over = Program(program.home, options(server, "openai/eye"))
        rpc = Rpc(over)
        done = rpc.turn("prompt", text="What is red?", mode="chat", attach=[str(photo)])
        shown = rpc.do("get_context", when="next", text="And?", attach=[str(photo)])
        rpc.close()
        assert openai_image(server.bodies[0])
    assert done["answer"] == "Understood."
    assert [row["kind"] for row in shown["context"]["segments"]] == ["image"]
    assert str(photo) in shown["markdown"] or "1 segment" in shown["markdown"]
    exported = over.run("sessions", "export", done["session"])
    assert f"Attached: {photo}" in exported.out


def test_an_excluded_image_and_one_of_the_web_are_never_sent(
    program: Program, tmp_path: Path
) -> None:
    vault = tmp_path / "notes"
    vault.mkdir()
    (vault / "hidden.png").write_bytes(draw(8, 8))
    exclude = ("--vault", str(vault), "--set", 'vault.exclude=["hidden.png"]')
    with ModelServer(models=SEES) as server:
        over = Program(program.home, (*exclude, *options(server, "openai/eye")))
        argv = ("ask", "What?", "--mode", "chat", "--json", "--attach")
        refused = over.run(*argv, "hidden.png")
        remote = over.run(*argv, f"{server.root}/x.png")
        assert server.bodies == []
    assert refused.error["code"] == "bad_request"
    assert "hidden.png is not given to a model" in refused.error["message"]
    assert remote.code != 0


def test_an_answer_about_an_image_is_not_regenerated_by_a_model_that_does_not_see_it(
    program: Program, photo: Path
) -> None:
    with ModelServer(models=(*SEES, *BLIND)) as server:
        child = Program(program.home, options(server, "openai/eye")).start("rpc")
        prompt = {"text": "What is red?", "mode": "chat", "attach": [str(photo)]}
        assert respond(child, type="prompt", **prompt)["success"]
        done = next_event(child, "turn_end")["data"]
        response(child, type="set_model", model="openai/ear")
        assert respond(child, type="regenerate", entry=done["entry"])["success"]
        error = next_event(child, "error")["data"]
        prompt = {"text": "And?", "attach": [str(photo)], "when": "next"}
        shown = response(child, type="get_context", **prompt)["context"]
        assert len(server.bodies) == 1
        ended(child)
    assert error["message"].startswith("The model openai/ear does not see images. ")
    rows = {row["layer"]: row for row in shown["segments"]}
    assert rows.keys() == {"L2", "L3"}  # the one of before, and the one attached now
    for row in rows.values():
        assert (row["state"], row["reason"]) == ("dropped", "unseen")
        assert row["original_tokens"] > 1_000
    assert [one["reason"] for one in shown["dropped"]] == ["unseen"] * 2
    assert shown["warnings"] == ["The model openai/ear does not see images."]


@pytest.fixture
def album(tmp_path: Path) -> Path:
    """A vault with a note that embeds a picture, and another note."""
    folder = tmp_path / "album"
    folder.mkdir()
    (folder / "hut.png").write_bytes(draw(32, 64))
    (folder / "Trip.md").write_text("# Trip\n\n![[hut.png|200]]\n\nTwo nights.\n", "utf-8")
    (folder / "Costs.md").write_text("# Costs\n\n40 francs a night.\n", "utf-8")
    return folder


@pytest.mark.parametrize(
    ("models", "images"), [(SEES, 1), (({"id": "eye", "capabilities": ["tools"]},), 0)]
)
def test_an_attached_note_brings_its_picture_to_a_model_that_sees(
    program: Program, album: Path, models: Any, images: int
) -> None:
    with ModelServer(Answer("Two [1]."), models=models) as server:
        vault = Program(program.home, (*options(server, "openai/eye"), "--vault", str(album)))
        notes = ("--attach", "Trip.md", "--attach", "Costs.md")
        done = vault.json("ask", "How many?", "--mode", "chat", *notes)
        (body,) = server.bodies
    content = body["messages"][-1]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    assert sum(part["type"] == "image_url" for part in parts) == images
    said = "The model openai/eye does not see images. 1 embedded picture left out."
    assert done["warnings"] == ([] if images else [said])
    numbers = [row for row in done["context"]["segments"] if row["layer"] == "L3"]
    assert [row["source"] for row in numbers if row["kind"] == "note"] == ["Trip.md", "Costs.md"]
    assert '<source n="2" title="Costs"' in parts[0]["text"]


def test_without_a_model_the_picture_of_an_attached_note_is_named_as_left_out(
    program: Program, album: Path
) -> None:
    ask = ("--vault", str(album), "ask", "How many nights?", "--model", "extractive")
    done = program.json(*ask, "--attach", "Trip.md", "--attach", "Costs.md")
    said = "No model is set, and only a model can look at an image. 1 embedded picture left out."
    assert done["warnings"] == [said]
    assert program.json(*ask, "--attach", "Costs.md")["warnings"] == []


def test_a_picture_that_does_not_fit_is_left_out_and_the_note_is_sent(
    program: Program, album: Path
) -> None:
    (album / "hut.png").write_bytes(draw(2_000, 2_000))
    with ModelServer(Answer("Two [1]."), models=SEES) as server:
        small = ("--set", "autoCompactThreshold=4000", "--set", "maxOutputTokens=1024")
        vault = Program(program.home, (*options(server, "openai/eye"), *small))
        trip = ("--vault", str(album), "--attach", "Trip.md", "--attach", "Costs.md")
        (album / "Costs.md").write_text("# Costs\n\n" + "40 francs a night. " * 100, "utf-8")
        done = vault.json("ask", "How many?", "--mode", "chat", *trip)
        (body,) = server.bodies
    assert isinstance(body["messages"][-1]["content"], str)
    assert "1 embedded picture left out to make room." in done["warnings"]


def test_a_picture_that_a_regenerated_answer_does_without_is_named(
    strata_home: Path, album: Path, embedder: Embedder
) -> None:
    asked: dict[str, Any] = {"mode": "chat", "model": "openai/eye", "attach": ("Trip.md",)}
    program = build(Paths.find(), {"chat.titles": False}, embedder=embedder)
    with ModelServer(Answer("Two [1]."), models=SEES) as server, closing(program) as assistant:
        assistant.settings.set("chat.apiBase", server.url)
        assistant.open_vault(album, remember=False)
        first = result_of(ask_assistant(assistant, "How many?", **asked))
        place = str(first.session), str(first.entry)
        events = list(assistant.regenerate(*place, CancelToken(), model="extractive"))
    said = "No model is set, and only a model can look at an image. 1 embedded picture left out."
    assert said in [event.message for event in events if isinstance(event, Warned)]
