"""The child process that runs a model file with llama.cpp's server, through xllamacpp.

Run as `python -P -m chains.gguf.worker`. The process reads requests from standard input. It answers
a request `{path, context, key}` with the server's `{address}` once the file is loaded, and a health
check `{check}` with an empty object. While it loads a file, it cannot answer, because the library
holds the GIL. The parent therefore watches how much memory this process uses. The server listens on
loopback, and answers only requests with the key.

The process exits with its parent. If the parent is killed while a file is being loaded, a second
process ends this one.
"""

import os
import re
from typing import Any, Final

from resources.system.calls import read_at
from resources.system.processes import end_with_parent, forbid_core_dump
from vault.workers.frames import Frame, Requests

LOG_BYTES: Final = 20_000
MIB: Final = 1 << 20
_ERRORS: Final = 1  # of the levels of llama.cpp's log
_REASON: Final = re.compile(r"error loading model: (?:error loading model \w+: )?(.+)")


def main() -> None:
    """Answer requests until the parent process ends."""
    end_with_parent()
    forbid_core_dump()
    requests, servers = Requests(ends_at_once=True), []
    for request in requests:
        number = request.header["id"]
        if "check" in request.header:
            requests.answer({"id": number})
            continue
        try:
            server = _serve(request)
        except Exception as error:  # noqa: BLE001 - every failure is the parent's to judge
            requests.answer({"id": number, "error": _find_reason(error)})
        else:
            servers.append(server)
            requests.answer({"id": number, "address": f"{server.listening_address}/v1"})


def _serve(request: Frame) -> Any:
    """Start a server for a model file, and return it. The call lasts until the file is loaded.

    Args:
        request: its header has `path`, `context`, `key` and `kept_bytes`.
    """
    import xllamacpp

    wanted = request.header
    params = xllamacpp.CommonParams()
    params.model.path = wanted["path"]
    params.n_ctx = wanted["context"]
    params.n_parallel = 1
    params.cache_ram_mib = wanted["kept_bytes"] // MIB
    params.api_keys = [wanted["key"]]
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.use_jinja, params.offline = True, True
    params.ui = params.endpoint_slots = False
    params.verbosity = _ERRORS
    return xllamacpp.Server(params)


def _find_reason(error: Exception) -> str:
    """Return why a model could not be loaded.

    This is the last error in llama.cpp's log, or the message of the exception if the log has none.
    """
    try:
        log = read_at(2, LOG_BYTES, max(0, os.fstat(2).st_size - LOG_BYTES))
    except OSError:  # standard error is not a file
        log = b""
    reasons = _REASON.findall(log.decode("utf-8", "replace"))
    return reasons[-1].strip() if reasons else str(error) or type(error).__name__


if __name__ == "__main__":
    main()
