"""Options of an index and of a search in it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from vault.embedding.models import MODEL_NAME
from vault.errors import VectorStoreFailed

__all__ = ["USUAL_SEARCH", "IndexOptions", "RecordCall", "SearchOptions", "VectorServer"]

# Records a call before it is made, given the bytes to send, and returns the function that takes the
# bytes received. Raises `VectorStoreFailed` if the call cannot be recorded.
RecordCall = Callable[[int], Callable[[int], None]]

_TENANT, _DATABASE = "default_tenant", "default_database"
_PORTS = {"http": 8000, "https": 443}


@dataclass(frozen=True, slots=True)
class VectorServer:
    """A Chroma server, or Chroma's distributed service.

    Attributes:
        url: the address from the settings, such as `https://host:8000?tenant=mine&database=notes`.
        token: the access token, or an empty string.
        is_refused: whether the server must not be used, because it is remote and Strata is offline.
        record: a function that records each call to the server, or None.
    """

    url: str
    token: str = field(default="", repr=False)
    is_refused: bool = False
    record: RecordCall | None = field(default=None, repr=False, compare=False)

    @property
    def host(self) -> str:
        """The host name of the vector server."""
        return urlsplit(self.url).hostname or self.url

    @property
    def port(self) -> int:
        """The port of the vector server, by default 8000 for http and 443 for https.

        Raises:
            VectorStoreFailed: the address is invalid.
        """
        parts = urlsplit(self.url)
        try:
            return parts.port or _PORTS[parts.scheme]
        except (KeyError, ValueError) as error:
            raise VectorStoreFailed(
                f"{self.url} is no address of a Chroma server; set vectorStore.url to one that "
                "begins with http:// or https://. Search goes on without it."
            ) from error

    def to_dict(self) -> dict[str, Any]:
        """Return the connection settings for a Chroma client.

        Raises:
            VectorStoreFailed: the address is invalid.
        """
        parts = urlsplit(self.url)
        chosen = parse_qs(parts.query)
        return {
            "host": self.host,
            "port": self.port,
            "ssl": parts.scheme == "https",
            "tenant": chosen.get("tenant", [_TENANT])[0],
            "database": chosen.get("database", [_DATABASE])[0],
            "token": self.token,
        }


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """User options for an index.

    Attributes:
        model: the embedding model's name or folder, from the setting `embedding.model`.
        server: the vector server, or None for a local store.
        reranker: the cross-encoder's folder, or None to disable reranking.
    """

    model: str = MODEL_NAME
    server: VectorServer | None = None
    reranker: str | None = None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options for a search.

    Attributes:
        session_notes: the paths of notes that the session already uses. Notes linked to them are
            ranked higher.
        reranks: whether to rerank with the cross-encoder, if one is configured.
        is_quoted: whether the passages are shown to the user directly, without a model's answer. If
            so, the spelling of the query is corrected, and the passages around the best ones are
            added at the end.
        rebuilds: whether to rebuild a damaged index and search again. In a watched folder, the
            watcher rebuilds it.
        by_meaning: whether to use the embedding model too. Without, no model is loaded.
        today: the date that words such as "yesterday" refer to, or None for the current date.
        catches_up: whether to wait a little until the latest changes of the notes are indexed.
        on_wait: called between the steps of a long search, such as reading the pages that a project
            keeps. It can raise an exception to stop.
    """

    session_notes: Collection[str] = ()
    reranks: bool = True
    is_quoted: bool = False
    rebuilds: bool = False
    by_meaning: bool = True
    today: date | None = None
    catches_up: bool = True
    on_wait: Callable[[], None] = lambda: None


USUAL_SEARCH: Final = SearchOptions()
