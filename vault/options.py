"""The user's choices for an index: the embedding model, the vector server, the reranker."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from vault.embedding.models import MODEL_NAME
from vault.errors import VectorStoreFailed

__all__ = ["IndexOptions", "VectorServer"]

_TENANT, _DATABASE = "default_tenant", "default_database"
_PORTS = {"http": 8000, "https": 443}


@dataclass(frozen=True, slots=True)
class VectorServer:
    """A Chroma server, or Chroma's distributed service.

    Attributes:
        url: as it was given, such as `https://host:8000?tenant=mine&database=notes`.
        token: sent with each call where it is not empty.
        is_refused: nothing is to leave this computer, and the server is not on it.
    """

    url: str
    token: str = field(default="", repr=False)
    is_refused: bool = False

    @property
    def host(self) -> str:
        """The name of the server's computer."""
        return urlsplit(self.url).hostname or self.url

    @property
    def port(self) -> int:
        """The port of the server.

        Raises:
            VectorStoreFailed: the address makes no sense.
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
        """Return the connection settings of a client.

        Raises:
            VectorStoreFailed: the address makes no sense.
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
    """The user's choices for an index.

    Attributes:
        model: a value of the setting `embedding.model`.
        server: where the vectors are searched; None for a store of our own.
        reranker: the folder of a cross-encoder that puts passages in order; None for none.
    """

    model: str = MODEL_NAME
    server: VectorServer | None = None
    reranker: str | None = None
