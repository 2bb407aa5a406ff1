"""No host but the one that a question is for: forty models, images, meaning, titles, model files.

The program runs behind a proxy that answers in place of every host and records what was asked for.
Each address is recorded too that the program or one of its workers looks up or connects to.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chains.gguf.file import make_name
from chains.gguf.process import is_installed
from tests.support.models.model_server import Answer, Body, Failure, ModelServer
from tests.support.models.tiny_model import ANSWER, write_model
from tests.support.processes.program import Program, ended
from tests.support.servers.trap_proxy import TrapProxy
from tests.support.vaults.image_files import draw

DRIVER = "tests.support.processes.watched_questions"
# Models of services, and the host that each question must reach.
SERVICES = {
    "anthropic/claude-sonnet-4-5": "api.anthropic.com",
    "claude-sonnet-4-5": "api.anthropic.com",
    "cerebras/llama3.1-8b": "api.cerebras.ai",
    "deepseek/deepseek-reasoner": "api.deepseek.com",
    "fireworks_ai/accounts/fireworks/models/llama-v3-70b": "api.fireworks.ai",
    "gemini/gemini-2.5-flash": "generativelanguage.googleapis.com",
    "gemini/gemma-3-27b-it": "generativelanguage.googleapis.com",
    "groq/llama-2-70b": "api.groq.com",
    "groq/llama-3.3-70b-versatile": "api.groq.com",
    "groq/openai/gpt-oss-120b": "api.groq.com",
    "huggingface/meta-llama/Llama-3-8B": "router.huggingface.co",
    "mistral/mistral-large-latest": "api.mistral.ai",
    "mistral/my-replicate-model": "api.mistral.ai",
    "gpt-4o-mini": "api.openai.com",
    "openai/ft:gpt-4o:me": "api.openai.com",
    "openai/Llama-3-8b": "api.openai.com",
    "openai/o3-mini": "api.openai.com",
    "openrouter/anthropic/claude-3.5-sonnet": "openrouter.ai",
    "openrouter/meta-llama/llama-3-70b-instruct": "openrouter.ai",
    "perplexity/llama-3-sonar": "api.perplexity.ai",
    "together_ai/meta-llama/Llama-3-8b-chat-hf": "api.together.ai",
    "together_ai/togethercomputer/llama-2-7b": "api.together.ai",
    "xai/grok-code-fast-1": "api.x.ai",
}
# Services whose protocol the scripted server does not speak, so that it refuses their requests.
FOREIGN = {
    "anthropic/claude-2.1": "api.anthropic.com",
    "cohere_chat/command-r-plus": "api.cohere.com",
    "replicate/meta/llama-2-70b-chat": "api.replicate.com",
}
# Services that are not asked without an account of theirs.
CLOSED = (
    "bedrock/meta.llama3-8b-instruct-v1:0",
    "sagemaker/meta-llama/llama-2",
    "vertex_ai/llama3",
)
# A service whose address litellm does not know. It would call OpenAI with the key of the service.
UNKNOWN = "ai21/jamba-large"
# Models of a server at `chat.apiBase`, and the path of its address.
OWN = {
    "Llama-3-8b": "/v1",
    "my-replicate-model": "/v1",
    "command-r": "/v1",
    "command-r-plus-08-2024": "/v1",
    "mistral-7b-instruct": "/v1",
    "gpt-4o": "/v1",
    "claude-instant-1": "/v1",
    "anthropic/claude-sonnet-4-5": "",
    "gemini/gemini-2.5-flash": "",
    "groq/llama-3-8b": "/v1",
    "hosted_vllm/meta-llama/Llama-2-7b": "/v1",
    "llamafile/replicate-llama-2": "/v1",
    "lm_studio/llama-3.2-3b": "/v1",
    "ollama/llama-2": "",
    "ollama/codellama": "",
    "ollama_chat/llama3:8b": "",
}
KEYS = (
    *(
        "AI21",
        "ANTHROPIC",
        "CEREBRAS",
        "COHERE",
        "COHERE_CHAT",
        "DEEPSEEK",
        "FIREWORKS_AI",
        "GEMINI",
    ),
    *("GROQ", "HF", "HUGGINGFACE", "MISTRAL", "OPENAI", "OPENROUTER", "PERPLEXITYAI", "REPLICATE"),
    *("TOGETHERAI", "XAI"),
)
HERE = "127.0.0.1"


class Questions:
    """A running program that asks one question after the other."""

    def __init__(self, child: "subprocess.Popen[bytes]", trap: TrapProxy, log: Path) -> None:
        self.child, self._trap, self._log = child, trap, log

    def ask(self, text: str = "What is rain?", mode: str = "chat", **wanted: Any) -> dict[str, Any]:
        """Ask a question; return its outcome with the hosts that were asked for during it."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self._trap.asked.clear()
        self.child.stdin.write(json.dumps({"text": text, "mode": mode, **wanted}).encode() + b"\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        assert line, ended(self.child).err
        return {**json.loads(line), "hosts": self._trap.hosts}

    def list_addresses(self) -> set[str]:
        """Return the addresses that the program and its workers contacted themselves."""
        return {line.split()[1] for line in self._log.read_text().splitlines()}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server that reports the use of tokens in one answer, and not in the next."""

    def reply(_body: Body) -> Answer:
        told = len(server.bodies) % 3
        return Answer("Water that falls.") if told else Answer("Water that falls.", usage=None)

    with ModelServer(reply, models=[{"id": "eye", "capabilities": ["vision"]}]) as server:
        yield server


@pytest.fixture
def trap(tmp_path: Path, server: ModelServer) -> Iterator[TrapProxy]:
    with TrapProxy(tmp_path, server.root) as trap:
        yield trap


@pytest.fixture
def questions(tmp_path: Path, small_vault: Path, trap: TrapProxy) -> Iterator[Questions]:
    log = tmp_path / "watched" / "addresses"
    log.parent.mkdir()
    keys = {f"{name}_API_KEY": f"key-of-{name}" for name in KEYS} | {"HF_TOKEN": "key-of-HF"}
    environ = {**keys, **trap.environ, "STRATA_HOME": str(tmp_path / "home")}
    program = Program(tmp_path / "home", environ=tuple(environ.items()), module=DRIVER)
    child = program.start(str(small_vault), str(log))
    yield Questions(child, trap, log)
    assert ended(child).code == 0


def at(server: ModelServer, model: str, path: str = "/v1", **more: Any) -> dict[str, Any]:
    """Return the settings for a model of the scripted server."""
    return {"chat.apiBase": f"{server.root}{path}", "chat.model": model, **more}


def find_port(address: str) -> int:
    return int(address.rpartition(":")[2])


def assert_only(questions: Questions, *ports: int) -> None:
    """Check that nothing was contacted but these ports of this computer."""
    expected = {HERE, *(f"{HERE}:{port}" for port in ports)}
    assert questions.list_addresses() <= expected


def test_a_question_reaches_the_host_of_its_model_and_no_other(
    questions: Questions, server: ModelServer, trap: TrapProxy
) -> None:
    for model, host in SERVICES.items():
        asked = questions.ask(settings={"chat.apiBase": "", "chat.model": model}, title=True)
        assert asked["hosts"] == {host}, model
        assert (asked["status"], asked["answer"]) == ("complete", "Water that falls."), model
        assert asked["title"], model
    server.script(Failure(400))
    for model, host in FOREIGN.items():
        asked = questions.ask(settings={"chat.apiBase": "", "chat.model": model})
        assert (asked["status"], asked["hosts"]) == ("bad_request", {host}), model
    for model in CLOSED:
        asked = questions.ask(settings={"chat.apiBase": "", "chat.model": model})
        assert (asked["status"] != "complete", asked["hosts"]) == (True, set()), model
    asked = questions.ask(settings={"chat.apiBase": "", "chat.model": UNKNOWN})
    assert (asked["status"], asked["hosts"]) == ("model_unavailable", set())
    server.script(Answer("Water that falls."), Answer("Water that falls.", usage=None))
    for model, path in OWN.items():
        asked = questions.ask(settings=at(server, model, path), title=True)
        assert (asked["status"], asked["hosts"]) == ("complete", set()), model
    assert len(SERVICES) + len(FOREIGN) + len(OWN) >= 40
    assert_only(questions, trap.port, find_port(server.root))


def test_offline_a_question_reaches_no_host_but_this_computer(
    questions: Questions, server: ModelServer
) -> None:
    for model in (*SERVICES, *FOREIGN, *CLOSED, UNKNOWN):
        settings = {"privacy.offline": True, "chat.apiBase": "", "chat.model": model}
        asked = questions.ask(settings=settings)
        assert (asked["status"], asked["hosts"]) == ("offline", set()), model
    for model, path in OWN.items():
        asked = questions.ask(settings=at(server, model, path), title=True)
        assert (asked["status"], asked["hosts"]) == ("complete", set()), model
    assert_only(questions, find_port(server.root))


def test_images_meaning_and_model_files_reach_no_other_host(
    questions: Questions, server: ModelServer, trap: TrapProxy, tmp_path: Path, small_vault: Path
) -> None:
    (small_vault / "photo.png").write_bytes(draw(64, 64, corner="red"))
    for is_offline in (False, True):
        more = {"privacy.offline": is_offline, "chat.imageModels": ["llama-3-eye"]}
        for model, path in (("llama-3-eye", "/v1"), ("gemini/gemini-2.5-flash", "")):
            asked = questions.ask(settings=at(server, model, path, **more), attach=["photo.png"])
            assert (asked["status"], asked["hosts"]) == ("complete", set()), model
        for mode in ("vault", "agent"):
            asked = questions.ask("How many litres?", mode, settings=at(server, "llama-2-7b"))
            assert (asked["status"], asked["hosts"]) == ("complete", set()), mode
    assert_only(questions, trap.port, find_port(server.root))
    before = questions.list_addresses()
    if is_installed():
        name = make_name(write_model(tmp_path / "llama-3.gguf"))
        asked = questions.ask("Does it work?", settings={"chat.apiBase": "", "chat.model": name})
        assert (asked["answer"], asked["hosts"]) == (ANSWER, set())
        (own,) = questions.list_addresses() - before
        assert own.startswith(f"{HERE}:")
