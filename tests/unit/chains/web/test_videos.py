"""Transcripts of videos, from a server on loopback that has the name of YouTube."""

import html
import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from chains.cancel import CancelToken
from chains.errors import FetchFailed
from chains.ledger import NoLedger
from chains.tools.web import fetch_segment
from chains.web.client import RedirectedElsewhere, WebClient
from chains.web.videos import HOST, find_video
from tests.support.servers.web_server import Page, WebServer, allow_loopback

ID = "dQw4w9WgXcQ"
PLAYER = "/youtubei/v1/player?prettyPrint=false"
CAPTIONS = [
    {"tStartMs": 0, "segs": [{"utf8": "Water the"}, {"utf8": " beds\n"}]},
    {"tStartMs": 4_000},
    {"tStartMs": 5_000, "segs": [{"utf8": "\n"}]},
    {"tStartMs": 9_500, "segs": [{"utf8": "before eight."}]},
    {"tStartMs": 21_000, "segs": [{"utf8": "Then <rest>."}]},
    {"tStartMs": 3_725_000, "segs": [{"utf8": "Good night."}]},
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """A server on loopback, where the hosts of YouTube are found."""
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if str(host).endswith(("youtube.com", "youtu.be", "elsewhere.test")):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
        return real(host, port, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with WebServer() as server:
        yield server


@pytest.fixture
def client() -> WebClient:
    return WebClient(lambda: False, NoLedger(), is_allowed=allow_loopback)


def serve(server: WebServer, *tracks: dict[str, str], **fields: object) -> None:
    """Serve a video with caption tracks, whose addresses are relative to the server."""
    listed = {"playerCaptionsTracklistRenderer": {"captionTracks": list(tracks)}}
    found = {
        "playabilityStatus": {"status": "OK"},
        "videoDetails": {"title": "A  garden\nin summer"},
        "captions": listed if tracks else None,
    } | fields
    server.pages[PLAYER] = Page(json.dumps(found).encode(), "application/json")
    events = json.dumps({"events": CAPTIONS}).encode()
    for track in tracks:
        server.pages[f"{track['baseUrl']}&fmt=json3"] = Page(events, "application/json")


def make_track(language: str, kind: str = "") -> dict[str, str]:
    return {"baseUrl": f"/api/timedtext?v={ID}&lang={language}&kind={kind}"} | {
        "languageCode": language,
        "kind": kind,
    }


def address(server: WebServer, rest: str = f"/watch?v={ID}", host: str = HOST) -> str:
    return f"http://{host}:{server.port}{rest}"


@pytest.mark.parametrize(
    ("url", "video"),
    [
        (f"https://www.youtube.com/watch?v={ID}&t=9s", ID),
        (f"https://youtube.com/watch?list=a&v={ID}", ID),
        (f"https://m.youtube.com/shorts/{ID}?x", ID),
        (f"https://www.youtube.com/live/{ID}/", ID),
        (f"https://youtu.be/{ID}?t=1", ID),
        ("https://www.youtube.com/watch?v=short", ""),
        ("https://www.youtube.com/@channel", ""),
        (f"https://www.youtube.com.evil.test/watch?v={ID}", ""),
        (f"https://example.org/watch?v={ID}", ""),
    ],
)
def test_a_video_is_known_by_its_address(url: str, video: str) -> None:
    assert find_video(httpx.URL(url)) == video


def test_a_transcript_is_read_as_text_with_times(server: WebServer, client: WebClient) -> None:
    serve(server, make_track("en"))
    segment = fetch_segment(client, address(server, f"/shorts/{ID}"), CancelToken())
    assert html.unescape(segment.content) == (
        "0:00 Water the beds before eight.\n0:21 Then <rest>.\n1:02:05 Good night.\n"
    )
    assert (segment.title, segment.source) == ("A garden in summer", address(server))
    asked = json.loads(server.bodies[0])
    assert asked["videoId"] == ID
    assert [path for path, _ in server.requests] == [
        PLAYER,
        f"/api/timedtext?v={ID}&lang=en&kind=&fmt=json3",
    ]
    assert all("Cookie" not in headers for _, headers in server.requests)


def test_captions_of_a_person_in_the_language_of_the_video_precede_others(
    server: WebServer, client: WebClient
) -> None:
    serve(server, make_track("de", "asr"), make_track("fr"), make_track("de"))
    fetch_segment(client, address(server), CancelToken())
    serve(server, make_track("en", "asr"), make_track("fr"))
    fetch_segment(client, address(server), CancelToken())
    asked = [path for path, _ in server.requests if "timedtext" in path]
    assert [path.partition("lang=")[2] for path in asked] == [
        "de&kind=&fmt=json3",
        "fr&kind=&fmt=json3",
    ]


def refuse(server: WebServer, client: WebClient) -> str:
    with pytest.raises(FetchFailed) as raised:
        fetch_segment(client, address(server), CancelToken())
    return str(raised.value)


def test_where_there_is_no_transcript_one_sentence_says_so(
    server: WebServer, client: WebClient
) -> None:
    serve(server)
    title = "“A garden in summer”"
    assert refuse(server, client) == (
        f"The video {title} has no transcript, so there is no text to read."
    )
    serve(server, make_track("en"))
    server.pages[f"/api/timedtext?v={ID}&lang=en&kind=&fmt=json3"] = Page(b"", "text/html")
    assert refuse(server, client).startswith(f"YouTube sent no text for the transcript of {title}.")
    status = {"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm your age."}
    serve(server, make_track("en"), playabilityStatus=status)
    assert refuse(server, client) == (
        f"YouTube does not show the video {ID}: Sign in to confirm your age."
    )
    server.pages[PLAYER] = Page(b"<html>", "text/html")
    assert "cannot be understood" in refuse(server, client)
    del server.pages[PLAYER]
    assert "status 404" in refuse(server, client)


def test_captions_on_another_host_are_not_fetched(server: WebServer, client: WebClient) -> None:
    serve(server, {"baseUrl": f"http://elsewhere.test:{server.port}/x?a=b", "languageCode": "en"})
    assert "is on another host, elsewhere.test" in refuse(server, client)
    assert len(server.requests) == 1


def test_a_short_address_is_another_host_for_who_approved_one(
    server: WebServer, client: WebClient
) -> None:
    serve(server, make_track("en"))
    short = address(server, f"/{ID}", "youtu.be")
    with pytest.raises(RedirectedElsewhere, match=r"www\.youtube\.com"):
        fetch_segment(client, short, CancelToken(), stays_on_host=True)
    assert not server.requests
    assert "Water the beds" in fetch_segment(client, short, CancelToken()).content


def test_offline_and_the_rules_for_addresses_hold(server: WebServer) -> None:
    serve(server, make_track("en"))
    for offline in (True, False):
        strict = WebClient(lambda offline=offline: offline, NoLedger())
        assert refuse(server, strict)
    assert not server.requests
