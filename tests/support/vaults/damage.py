"""Damage files; the same seed causes the same damage."""

import random
from pathlib import Path

__all__ = ["damage_file"]

FLIPS = 200


def damage_file(file: Path, seed: int) -> None:
    """Change up to 200 bytes of a file, cut it off, or do both, depending on the seed.

    Every fifth seed cuts the file off, and every tenth empties it. The other seeds change bytes
    anywhere in the file, in its first page (which has the schema), or within one stretch.
    """
    chance = random.Random(seed)
    content = bytearray(file.read_bytes())
    if seed % 10 == 9:
        content.clear()
    elif seed % 5 == 4:
        del content[chance.randrange(len(content)) :]
    else:
        first, last = _stretch(chance, len(content), seed % 5)
        for _ in range(FLIPS):
            content[chance.randrange(first, last)] = chance.randrange(256)
    file.write_bytes(bytes(content))


def _stretch(chance: random.Random, size: int, kind: int) -> tuple[int, int]:
    if kind in (0, 1):
        return 0, size
    if kind == 2:
        return chance.choice((16, 100)), min(size, 4096)
    first = chance.randrange(size - 1)
    return first, min(size, first + 4 * FLIPS)
