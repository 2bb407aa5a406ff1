"""Look for a newer version of Strata, at an address that the user sets.

There, a document of JSON lies beside the files of a release. `make release` writes it:

```
{"version": "0.2.0", "files": [{"name": "strata_0.2.0_amd64.deb", "size": 1, "sha256": "…"}]}
```

Nobody on the way can change it: it comes over https, or from this computer.
Nothing is sent but the request for it, and none of the files is fetched: the user gets their
addresses and checksums. Without an address, nothing is looked for.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from app.config.settings import is_secure_address
from app.errors import InvalidRequest
from chains.cancel import CancelToken
from chains.errors import FetchFailed
from chains.web.client import WebClient
from context.fixes import Fix, Setting
from context.json_codec import Record

__all__ = ["ReleasedFile", "UpdateReport", "look_for_update"]

_TIMEOUT_S: Final = 15.0
_MOST_FILES: Final = 50
_MOST_BYTES: Final = 10**12
_VERSION: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){1,3}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,150}")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class ReleasedFile(Record):
    """A file of a release.

    Attributes:
        address: where the file can be fetched.
        size: its size in bytes.
        sha256: its checksum, in lower-case hexadecimal digits.
    """

    address: str
    size: int
    sha256: str

    json_shape = ("name", "address", "size", "sha256")

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.address.rpartition("/")[2]


@dataclass(frozen=True)
class UpdateReport(Record):
    """The newest version at the address of the setting, beside the version that runs.

    Attributes:
        version: the version that runs.
        newest: the newest version.
        files: the files of the newest version.
    """

    version: str
    newest: str
    files: tuple[ReleasedFile, ...]

    json_shape = ("version", "newest", "is_newer", "files")

    @property
    def is_newer(self) -> bool:
        """Whether the newest version is newer than the one that runs."""
        return _split(self.newest) > _split(self.version)

    def describe(self) -> str:
        """Return a sentence that compares the two versions."""
        if self.is_newer:
            return f"Strata {self.newest} is out. This is {self.version}."
        return f"Strata {self.version} is the newest version."

    def describe_files(self) -> Iterator[str]:
        """Yield the address, size and checksum of each file of a newer version."""
        for file in self.files if self.is_newer else ():
            yield f"{file.address}  {file.size / 1e6:,.1f} MB"
            yield f"    SHA-256 {file.sha256}"


def look_for_update(web: WebClient, address: str, cancel: CancelToken) -> UpdateReport:
    """Fetch the document of the newest release, and compare it with the version that runs.

    Args:
        web: fetches the document, and records this in the ledger.
        address: the setting `updates.address`.
        cancel: ends the request.

    Raises:
        InvalidRequest: the setting is empty.
        FetchFailed: the document cannot be fetched, or is not one of a release.
        LedgerFailed: the request could not be recorded, so it was not made.
        Cancelled: the token was cancelled.
    """
    if not address:
        raise InvalidRequest(
            "No address is set to look for newer versions at.",
            hint=Fix("Set {} to that of a release.", Setting("updates.address")),
        )
    found = web.fetch(address, cancel, stays_on_host=True, timeout_s=_TIMEOUT_S)
    try:
        return _read_release(found.body, found.url)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        host = urlsplit(address).hostname
        raise FetchFailed(f"What {host} answered does not describe a release.") from error


def _read_release(body: bytes, address: str) -> UpdateReport:
    document = json.loads(body)
    files = document["files"]
    if not isinstance(files, list) or not is_secure_address(address):
        raise ValueError("not the files of a release")
    return UpdateReport(
        metadata.version("strata-notes"),
        _require(_VERSION, document["version"]),
        tuple(_read_file(file, address) for file in files[:_MOST_FILES]),
    )


def _read_file(file: Any, address: str) -> ReleasedFile:
    size = file["size"]
    if type(size) is not int or not 0 <= size <= _MOST_BYTES:
        raise ValueError("not a size")
    name, checksum = _require(_NAME, file["name"]), _require(_SHA256, file["sha256"])
    return ReleasedFile(urljoin(address, name), size, checksum)


def _require(pattern: re.Pattern[str], value: str) -> str:
    """Return a value that the pattern matches. Other values could hide or forge what is shown."""
    if pattern.fullmatch(value) is None:
        raise ValueError("not a value of this kind")
    return value


def _split(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without zeros at the end."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
