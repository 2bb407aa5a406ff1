"""How many tokens a picture takes: by its size in pixels and the rule of the model's provider.

Sources: OpenAI, "Images and vision", "Calculating costs"; Anthropic, "Vision", "Evaluate image
size"; Google, "Understand and count tokens", "Image tokens" and "Media resolution".
"""

import math
import re
from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from context.tokens import IMAGE_TOKENS

__all__ = ["ImageRule", "count_image", "read_size", "rule_for"]


@dataclass(frozen=True)
class ImageRule:
    """How a provider counts pictures; equal for models that count alike.

    Attributes:
        count: returns the tokens from width and height in pixels, and the rule's own numbers.
        numbers: what the rule differs in from model to model.
    """

    count: Callable[..., int]
    numbers: tuple[float, ...] = ()


# The header of a JPEG may stand behind previews and colour profiles.
HEAD_CHARS: Final = 1_000_000
MOST_PIXELS: Final = 1_000_000

# Cost of patches of 32 by 32 pixels, of which a picture has at most 1,536: OpenAI's small models.
_PATCHES: Final = (
    (re.compile(r"(gpt-4\.1|gpt-5)[\w.]*-mini"), 1.62),
    (re.compile(r"(gpt-4\.1|gpt-5)[\w.]*-nano"), 2.46),
    (re.compile(r"o4-mini"), 1.72),
)
# A base, and the cost of each tile of 512 by 512 pixels: OpenAI's other models.
_TILES: Final = (
    (re.compile(r"(gpt-4o|chatgpt-4o)[\w.-]*-mini|gpt-4o-mini"), (2_833, 5_667)),
    (re.compile(r"gpt-4o|chatgpt-4o|gpt-4\.1|gpt-4\.5|gpt-4-turbo|gpt-4-vision"), (85, 170)),
    (re.compile(r"gpt-5"), (70, 140)),
    (re.compile(r"o1|o3"), (75, 150)),
)
_LARGE_CLAUDE: Final = re.compile(r"claude-(opus-4[-.][7-9]|[a-z]+-[5-9])")


def rule_for(model: str) -> ImageRule | None:
    """Return the rule for a model's name, with or without its provider's prefix; None for none."""
    name = model.rsplit("/", 1)[-1].lower()
    for pattern, factor in _PATCHES:
        if pattern.match(name):
            return ImageRule(_count_patches, (factor,))
    for pattern, numbers in _TILES:
        if pattern.match(name):
            return ImageRule(_count_tiles, numbers)
    if "claude" in name:
        is_large = _LARGE_CLAUDE.search(name) is not None
        return ImageRule(_count_area, (2_576, 4_784) if is_large else (1_568, 1_600))
    if name.startswith("gemini-3"):
        return ImageRule(_count_flat, (1_120,))
    return ImageRule(_count_crops) if name.startswith("gemini-") else None


def read_size(data: str) -> tuple[int, int] | None:
    """Return width and height of a picture in base64 from its header; None where it has none."""
    try:
        head = b64decode(data[:HEAD_CHARS])
    except (BadBase64, ValueError):
        return None
    size = _png(head) or _gif(head) or _webp(head) or _jpeg(head)
    if size is None or not all(0 < pixels <= MOST_PIXELS for pixels in size):
        return None
    return size


def count_image(data: str, rule: ImageRule | None) -> int:
    """Return the tokens of a picture; those of the largest usual one where no rule is known."""
    size = None if rule is None else read_size(data)
    return IMAGE_TOKENS if size is None or rule is None else rule.count(*size, *rule.numbers)


def _count_patches(width: int, height: int, factor: float) -> int:
    patches = math.ceil(width / 32) * math.ceil(height / 32)
    return math.ceil(min(patches, 1_536) * factor)


def _count_tiles(width: int, height: int, base: int, tile: int) -> int:
    scale = min(1.0, 2_048 / max(width, height))
    scale *= min(1.0, 768 / (min(width, height) * scale))
    across, down = (math.ceil(round(edge * scale, 6) / 512) for edge in (width, height))
    return base + tile * across * down


def _count_area(width: int, height: int, edge: int, most: int) -> int:
    scale = min(1.0, edge / max(width, height))
    return max(1, min(math.ceil(width * scale * height * scale / 750), most))


def _count_flat(_width: int, _height: int, tokens: int) -> int:
    return tokens


def _count_crops(width: int, height: int) -> int:
    if max(width, height) <= 384:
        return 258
    unit = min(768, max(256, math.floor(min(width, height) / 1.5)))
    return 258 * math.ceil(width / unit) * math.ceil(height / unit)


def _png(head: bytes) -> tuple[int, int] | None:
    if not head.startswith(b"\x89PNG\r\n\x1a\n") or len(head) < 24:
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes) -> tuple[int, int] | None:
    if not head.startswith((b"GIF87a", b"GIF89a")) or len(head) < 10:
        return None
    return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")


def _webp(head: bytes) -> tuple[int, int] | None:
    if head[:4] != b"RIFF" or head[8:12] != b"WEBP" or len(head) < 30:
        return None
    if head[12:16] == b"VP8X":
        width, height = (int.from_bytes(head[at : at + 3], "little") + 1 for at in (24, 27))
        return width, height
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = (int.from_bytes(head[at : at + 2], "little") & 0x3FFF for at in (26, 28))
    return width, height


def _jpeg(head: bytes) -> tuple[int, int] | None:
    at = 2 if head.startswith(b"\xff\xd8") else len(head)
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4], "big")
        if marker == 0xFF:  # a filler
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            edges = head[at + 7 : at + 9], head[at + 5 : at + 7]
            return int.from_bytes(edges[0], "big"), int.from_bytes(edges[1], "big")
        else:
            at += 2 + length
    return None
