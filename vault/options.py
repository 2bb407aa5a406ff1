"""User options for an index: embedding model, vector server, reranker."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from vault.embedding.models import MODEL_NAME
from vault.errors import VectorStoreFailed

__all__ = ["IndexOptions", "RecordCall", "VectorServer"]

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
