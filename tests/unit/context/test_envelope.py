import pytest

from context.envelope import ContextEnvelope
from context.errors import ContextError, MalformedEnvelope

DATA = {
    "system": {
        "parts": [{"name": "base", "text": "Be "}, {"name": "more", "text": "kind."}],
        "compiled": "Be kind.",
    },
    "tools": [{"name": "search", "description": "d", "parameters": {"type": "object"}}],
    "messages": {
        "cached": [{"role": "user", "content": "hi", "id": "e1"}],
        "uncached": [{"role": "user", "content": [{"type": "text", "text": "note"}]}],
    },
    "options": {"reasoning": "high", "temperature": 0.2, "maxTokens": 100},
}


def test_an_envelope_survives_a_round_trip():
    envelope = ContextEnvelope.from_dict(DATA)
    assert envelope.to_dict() == DATA
    assert ContextEnvelope.from_dict(envelope.to_dict()) == envelope


def test_compiled_is_made_anew_from_the_parts():
    system = {**DATA["system"], "compiled": "something else"}
    envelope = ContextEnvelope.from_dict({**DATA, "system": system})
    assert envelope.to_dict()["system"]["compiled"] == "Be kind."


def test_a_system_part_can_always_be_sent_as_utf_8():
    part = {"name": "rules\ud800", "text": "half \udcff, whole \ud83d\ude00"}
    written = ContextEnvelope.from_dict({"system": {"parts": [part]}}).to_dict()
    assert written["system"]["parts"] == [{"name": "rules\ufffd", "text": "half \ufffd, whole 😀"}]


def test_what_is_missing_is_empty():
    assert ContextEnvelope.from_dict({}).to_dict() == {
        "system": {"parts": [], "compiled": ""},
        "tools": [],
        "messages": {"cached": [], "uncached": []},
        "options": {},
    }


def test_changing_what_was_written_changes_nothing():
    envelope = ContextEnvelope.from_dict(DATA)
    written = envelope.to_dict()
    written["options"]["temperature"] = 2
    written["messages"]["cached"].clear()
    written["tools"][0]["parameters"]["type"] = "array"
    written["system"]["parts"][0]["text"] = "x"
    assert envelope.to_dict() == DATA


def test_changing_what_was_read_changes_nothing():
    options = {"temperature": 0.2, "reasoning": {"effort": ["low"]}}
    envelope = ContextEnvelope.from_dict({"options": options})
    options["reasoning"]["effort"].append("high")
    assert envelope.options["reasoning"] == {"effort": ("low",)}


@pytest.mark.parametrize(
    "data",
    [
        {"system": []},
        {"system": {"parts": {}}},
        {"system": {"parts": [{"name": "x"}]}},
        {"messages": {"cached": ["x"]}},
        {"options": []},
        {"tools": "x"},
    ],
)
def test_what_is_not_an_envelope_is_refused(data):
    with pytest.raises(MalformedEnvelope) as caught:
        ContextEnvelope.from_dict(data)
    assert isinstance(caught.value, ContextError)
