"""More than 400 requests of a fixed home are the recorded ones, byte for byte."""

import json

from tests.support.sessions.recorded_requests import RECORDS, hash_request, record_requests


def test_requests_are_the_recorded_ones() -> None:
    """A change that is meant is recorded by `python -m tests.support.sessions.recorded_requests`.

    With a folder behind it, the requests are written there, to compare them with earlier ones.
    """
    recorded = json.loads(RECORDS.read_text("utf-8"))
    found = {name: hash_request(body) for name, body in record_requests()}
    assert len(found) >= 400
    assert [name for name in found if found[name] != recorded.get(name)] == []
    assert recorded.keys() == found.keys()
