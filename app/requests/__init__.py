"""Keep each request that was sent, byte for byte, for as long as an answer to it exists.

    request, JSON that was sent ──→ pieces ──→ record ──→ store ──→ files, each text once

    pieces      Split a JSON text so that equal pieces are stored once, and note whose text each is.
    record      The values: an object, the record of a request, a request that was read again,
                with a notice in the place of each text that was removed.
    repairs     Add spare bytes to data, from which its damaged parts are computed again.
    files       Write objects together in a file, and read them again.
    store       The files: add and load requests, remove texts and requests.
    keep        Store a request while its answer arrives, with the notes of its texts.

The log entry of an answer refers to its request by the hash of its record (the field `sent`). So
forks, merges and backups of a chat need nothing else than the files, whose content never changes.
Damaged bytes of a file are repaired. What cannot be repaired costs the texts that it met.
A text that comes from notes is an object of its own, and can be removed without the rest.

This package may import `app.errors`, chains, context and `resources.system`.
"""

__all__ = ["files", "keep", "pieces", "record", "repairs", "store"]
