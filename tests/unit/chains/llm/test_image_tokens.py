"""Pictures: size from the header, tokens by the provider's rule, form on the wire."""

from base64 import b64encode
from dataclasses import replace

import pytest

from chains.cancel import CancelToken
from chains.llm.image_tokens import count_image, find_image_rule, read_size
from chains.model import LiteLLMModel
from chains.models import look_up_model
from chains.request.draft import draft_turn, prepare_turn
from chains.request.session import SessionView
from chains.tokenizer import load_counter
from context.messages import ImagePart, Message, TextPart
from context.tokens import count_message
from tests.support.models.model_server import ModelServer


def png(width, height):
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    return b64encode(head + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02").decode()


def gif(width, height):
    head = b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return b64encode(head + b"\0\0\0").decode()


def jpeg(width, height):
    preview = b"\xff\xe1" + (9_000).to_bytes(2) + b"\xff\xd8\xff\xc0" * 2_000
    preview = preview[: 2 + 9_000].ljust(2 + 9_000, b"x")
    frame = b"\xff\xc2" + (17).to_bytes(2) + b"\x08" + height.to_bytes(2) + width.to_bytes(2)
    return b64encode(b"\xff\xd8" + preview + frame + b"\x03" * 10).decode()


def webp(width, height, kind=b"VP8X"):
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    body = kind + b"\x0a\0\0\0" + b"\0\0\0\0" + sizes
    if kind == b"VP8L":
        bits = (width - 1) | (height - 1) << 14
        body = kind + b"\x0a\0\0\0" + b"\x2f" + bits.to_bytes(4, "little") + b"\0" * 9
    if kind == b"VP8 ":
        edges = width.to_bytes(2, "little") + height.to_bytes(2, "little")
        body = kind + b"\x0a\0\0\0" + b"\0\0\0\x9d\x01\x2a" + edges
    return b64encode(b"RIFF\x20\0\0\0WEBP" + body).decode()


@pytest.mark.parametrize("make", [png, gif, jpeg, webp])
def test_the_size_is_read_from_the_header(make):
    assert read_size(make(1_024, 768)) == (1_024, 768)


@pytest.mark.parametrize("kind", [b"VP8L", b"VP8 "])
def test_every_kind_of_webp_is_read(kind):
    assert read_size(webp(640, 480, kind)) == (640, 480)


@pytest.mark.parametrize("data", ["", "?", "aGVsbG8=", png(0, 5), png(5, 2_000_000), "a" * 9])
def test_what_is_no_picture_has_no_size(data):
    assert read_size(data) is None
    assert count_image(data, find_image_rule("gpt-4o")) == 2_000


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("openai/gpt-4o", (1_024, 1_024), 765),
        ("gpt-4o", (2_048, 4_096), 1_105),
        ("gpt-4.1", (2_049, 513), 85 + 8 * 170),
        ("gpt-4.1", (2_050, 513), 85 + 4 * 170),
        ("gpt-4o-mini", (512, 512), 2_833 + 5_667),
        ("gpt-5", (1_024, 1_024), 630),
        ("gpt-5.1", (1_024, 1_024), 630),
        ("o3", (1_024, 1_024), 675),
        ("gpt-4.1-mini", (1_024, 1_024), 1_659),
        ("gpt-4.1-mini", (9_000, 9_000), 6_636),
        ("gpt-4.1-nano", (1_800, 2_400), 3_572),
        ("o4-mini", (1_800, 2_400), 2_498),
        ("gpt-5-mini", (1_024, 1_024), 1_229),
        ("gpt-5-nano", (1_024, 1_024), 1_536),
        ("gpt-5.2", (2_048, 2_048), 4_916),
        ("gpt-5.4", (1_024, 1_024), 1_229),
        ("gpt-5.4", (2_048, 2_048), 3_000),
        ("gpt-5.4-mini", (2_048, 2_048), 3_000),
        ("gpt-5.5", (4_032, 3_024), 11_868),
        ("gpt-5.6-sol", (4_032, 3_024), 14_364),
        ("gpt-5.4", (9_000, 1), 77),
        ("anthropic/claude-3-5-sonnet-20241022", (200, 200), 64),
        ("anthropic/claude-3-5-sonnet-20241022", (1_000, 1_000), 1_296),
        ("anthropic/claude-sonnet-4-5", (1_920, 1_080), 1_560),
        ("anthropic/claude-sonnet-4-20250514", (1_080, 1_920), 1_560),
        ("anthropic/claude-haiku-4-5", (1_075, 1_520), 33 * 47),
        ("anthropic/claude-opus-4-7", (1_920, 1_080), 2_691),
        ("anthropic/claude-sonnet-5", (3_840, 2_160), 4_784),
        ("anthropic/claude-opus-5-5", (1_075, 1_520), 2_145),
        ("anthropic/claude-opus-4-8", (200_000, 1), 92),
        ("gemini/gemini-2.5-pro", (300, 300), 258),
        ("gemini/gemini-2.5-pro", (960, 540), 258 * 6),
        ("gemini/gemini-3-pro-preview", (300, 300), 1_120),
        ("gemini/gemini-flash-latest", (4_000, 3_000), 1_120),
        ("mistral/pixtral-12b", (300, 300), 2_000),
    ],
)
def test_a_picture_is_counted_by_the_rule_of_its_provider(model, size, tokens):
    counter = load_counter(model)
    message = Message("user", (ImagePart("image/png", png(*size)),))
    found = count_message(message, counter) - counter.message_overhead - counter.part_overhead
    assert found == tokens
    assert load_counter(model) is counter


PICTURE = Message("user", (TextPart("What is it?"), ImagePart("image/png", png(8, 8))))


@pytest.mark.parametrize(
    ("name", "path", "found"),
    [
        (
            "openai/x",
            "/v1",
            {
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {
                        "type": "image_url",
                        "image_url": {"url": f"data:image/png;base64,{png(8, 8)}"},
                    },
                ]
            },
        ),
        (
            "anthropic/claude-3-5-sonnet-20241022",
            "",
            {
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {
                        "type": "image",
                        "source": {
                            "type": "base64",
                            "media_type": "image/png",
                            "data": png(8, 8),
                        },
                    },
                ]
            },
        ),
        ("ollama/llava", "", {"content": "What is it?", "images": [png(8, 8)]}),
    ],
)
def test_a_picture_has_the_form_of_its_provider(name, path, found, ask):
    with ModelServer() as server:
        info = look_up_model(name, server.root + path)
        turn = ask("What is it?", mode="chat", session=SessionView("chat1"))
        turn = draft_turn(replace(turn, model=info, counter=load_counter(name)), None)
        turn = replace(turn, user_message=replace(turn.user_message, message=PICTURE))
        prepared, _ = prepare_turn(turn, "preview")
        list(LiteLLMModel(info.endpoint, lambda _: None).stream(prepared, CancelToken()))
        sent = server.bodies[0]["messages"][-1]
    assert {key: sent.get(key) for key in found} == found
