"""Read the transcripts of YouTube videos, as text with timestamps.

```
address → the id of the video → POST /youtubei/v1/player → caption tracks → GET the best one
```

Captions written by people are preferred to generated ones, and captions in the video's language to
others. The rules for addresses are the same as for any page.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from chains.cancel import CancelToken
from chains.errors import FetchFailed
from chains.web.client import RedirectedElsewhere, WebClient
from chains.web.pages import WebPage
from chains.web.urls import is_same_host, parse_url

if TYPE_CHECKING:
    import httpx

__all__ = ["fetch_transcript", "find_video"]

HOST: Final = "www.youtube.com"
LINE_S: Final = 20
# A client to which YouTube gives captions without a token that only a browser can make.
CLIENT: Final = {"clientName": "ANDROID", "clientVersion": "20.10.38", "hl": "en"}
MOST_TITLE_CHARS: Final = 200
_HOSTS: Final = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com"})
_ID: Final = re.compile(r"[\w-]{11}", re.ASCII)
_PATH: Final = re.compile(r"/(?:shorts|live|embed|v)/([^/]+)")


def find_video(url: "httpx.URL") -> str:
    """Return the video id in an address, or an empty string for any other page."""
    found = ""
    if url.host == "youtu.be":
        found = url.path.strip("/")
    elif url.host in _HOSTS:
        match = _PATH.match(url.path)
        found = match[1] if match else url.params.get("v", "") if url.path == "/watch" else ""
    return found if _ID.fullmatch(found) else ""


def fetch_transcript(
    client: WebClient, url: "httpx.URL", cancel: CancelToken, *, stays_on_host: bool = False
) -> WebPage:
    """Fetch the transcript of a video.

    Args:
        client: the client that makes the calls.
        url: an address for which `find_video` returns an id.
        cancel: the token that cancels the calls.
        stays_on_host: whether to refuse calls to other hosts.

    Raises:
        FetchFailed: the video is not available, or it has no transcript.
        LedgerFailed: a call could not be recorded, so it was not made.
        RedirectedElsewhere: the address is on another host, and `stays_on_host` is true.
        Cancelled: the token was cancelled.
    """
    video = find_video(url)
    scheme = "https" if url.port is None else url.scheme
    page = url.copy_with(scheme=scheme, host=HOST, path="/watch", params={"v": video})
    if stays_on_host and not is_same_host(url, page):
        raise RedirectedElsewhere(url, page)
    found = _ask_player(client, page, video, cancel)
    details = _get(found, "videoDetails")
    title = " ".join(str(details.get("title") or video).split())[:MOST_TITLE_CHARS]
    track = parse_url(_choose_track(found, title), page).copy_set_param("fmt", "json3")
    if not is_same_host(track, page):
        raise FetchFailed(f"The transcript of “{title}” is on another host, {track.host}.")
    body = client.fetch(str(track), cancel, stays_on_host=True).body
    text = "\n".join(_list_lines(_parse(body, title).get("events"))) if body.strip() else ""
    if not text:
        raise FetchFailed(f"YouTube sent no text for the transcript of “{title}”. Try again later.")
    version = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return WebPage(str(page), title, f"{text}\n", version)


def _ask_player(
    client: WebClient, page: "httpx.URL", video: str, cancel: CancelToken
) -> Mapping[str, Any]:
    """Request the details of a video.

    Raises:
        FetchFailed: the video is not available.
    """
    address = page.copy_with(path="/youtubei/v1/player", params={"prettyPrint": "false"})
    content = json.dumps({"context": {"client": CLIENT}, "videoId": video}).encode()
    response = client.fetch(str(address), cancel, stays_on_host=True, content=content)
    found = _parse(response.body, video)
    status = _get(found, "playabilityStatus")
    if status.get("status") != "OK":
        reason = str(status.get("reason") or "it gives no reason")[:200].rstrip(".")
        raise FetchFailed(f"YouTube does not show the video {video}: {reason}.")
    return found


def _choose_track(found: Mapping[str, Any], title: str) -> str:
    listed = _get(_get(found, "captions"), "playerCaptionsTracklistRenderer").get("captionTracks")
    tracks = [one for one in listed or () if isinstance(one, dict) and one.get("baseUrl")]
    spoken = {one.get("languageCode") for one in tracks if one.get("kind") == "asr"}
    tracks.sort(key=lambda one: (one.get("kind") == "asr", one.get("languageCode") not in spoken))
    if not tracks:
        raise FetchFailed(f"The video “{title}” has no transcript, so there is no text to read.")
    return str(tracks[0]["baseUrl"])


def _list_lines(events: Any) -> Iterator[str]:
    start, words = 0, ""
    for seconds, text in _list_captions(events if isinstance(events, Sequence) else ()):
        if words and seconds - start >= LINE_S:
            yield f"{_format_time(start)} {words}"
            words = ""
        start, words = (start, f"{words} {text}") if words else (seconds, text)
    if words:
        yield f"{_format_time(start)} {words}"


def _list_captions(events: Sequence[Any]) -> Iterator[tuple[int, str]]:
    for event in events:
        segments = event.get("segs") if isinstance(event, dict) else None
        parts = [one.get("utf8") for one in segments or () if isinstance(one, dict)]
        text = " ".join("".join(part for part in parts if isinstance(part, str)).split())
        if text:
            begin = event.get("tStartMs")
            yield (begin // 1_000 if isinstance(begin, int) else 0), text


def _format_time(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _parse(body: bytes, name: str) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FetchFailed(f"YouTube's answer about “{name}” cannot be understood.") from error
    return found if isinstance(found, dict) else {}


def _get(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = found.get(name)
    return value if isinstance(value, dict) else {}
