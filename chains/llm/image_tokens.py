"""Count the tokens of images, using each provider's rules.

Images are sent without a level of detail, so the rules are those of `auto` and of the default
resolution.

Source: the providers' documentation, read in November 2026: OpenAI, "Images and vision", sections
"Model sizing behavior" and "Calculating costs"; Anthropic, "Vision", section "Resolution and token
cost", and "Coordinates", section "How Claude resizes and pads images"; Google, "Image
understanding", section "Token calculation", for Gemini 2, and "Media resolution", section "Token
counts", for Gemini 3.
"""

import math
import re
from base64 import b64decode
from binascii import Error as BadBase64
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from context.tokens import IMAGE_TOKENS

__all__ = ["ImageRule", "count_image", "find_image_rule", "read_size"]


@dataclass(frozen=True)
class ImageRule:
    """A provider's rule for counting image tokens.

    Attributes:
        count: returns the token count. Its arguments are the width and height in pixels, followed
            by `numbers`.
        numbers: the model's constants in the formula.
    """

    count: Callable[..., int]
    numbers: tuple[float, ...] = ()


# In a JPEG file, the size may follow previews and colour profiles.
HEAD_CHARS: Final = 1_000_000
MOST_PIXELS: Final = 1_000_000

# OpenAI's newer and smaller models: the tokens of a patch, and the longest edge in pixels and the
# number of patches to which an image is scaled down.
_PATCHES: Final = (
    (re.compile(r"gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)"), (1.2, 65_535, math.inf)),
    (re.compile(r"gpt-5\.5"), (1.2, 6_000, 10_000)),
    (re.compile(r"gpt-5\.4"), (1.2, 2_048, 2_500)),
    (re.compile(r"gpt-5\.[23]"), (1.2, 2_048, 6_144)),
    (re.compile(r"gpt-5[\w.-]*-mini"), (1.2, 2_048, 1_536)),
    (re.compile(r"gpt-5[\w.-]*-nano"), (1.5, 2_048, 1_536)),
    (re.compile(r"gpt-4\.1-mini"), (1.62, 2_048, 6_144)),
    (re.compile(r"gpt-4\.1-nano"), (2.46, 2_048, 1_536)),
    (re.compile(r"o4-mini"), (1.72, 2_048, 1_536)),
)
# OpenAI's other models: the base tokens, and the tokens of each tile of 512 by 512 pixels.
_TILES: Final = (
    (re.compile(r"gpt-4o[\w.-]*-mini"), (2_833, 5_667)),
    (re.compile(r"gpt-4o|chatgpt-4o|gpt-4\.1|gpt-4\.5|gpt-4-turbo|gpt-4-vision"), (85, 170)),
    (re.compile(r"gpt-5"), (70, 140)),
    (re.compile(r"o1|o3"), (75, 150)),
)
# Claude: the longest edge in pixels and the most tokens. Opus 4.7 and later take larger images.
_LARGE_CLAUDE: Final = re.compile(r"claude-(opus-4[-.][7-9]|[a-z]+-([5-9]|\d\d)(?!\d))")
_LARGE: Final = (2_576, 4_784)
_STANDARD: Final = (1_568, 1_568)
_TILED_GEMINI: Final = re.compile(r"gemini-[12](?!\d)")


def find_image_rule(model: str) -> ImageRule | None:
    """Return the rule for counting a model's image tokens, or None if it is unknown.

    Args:
        model: the name of the model, with or without its provider's prefix.
    """
    name = model.rsplit("/", 1)[-1].lower()
    for pattern, limits in _PATCHES:
        if pattern.match(name):
            return ImageRule(_count_patches, limits)
    for pattern, costs in _TILES:
        if pattern.match(name):
            return ImageRule(_count_tiles, costs)
    if "claude" in name:
        return ImageRule(_count_blocks, _LARGE if _LARGE_CLAUDE.search(name) else _STANDARD)
    if _TILED_GEMINI.match(name):
        return ImageRule(_count_crops)
    return ImageRule(_count_flat, (1_120,)) if name.startswith("gemini-") else None


def read_size(data: str) -> tuple[int, int] | None:
    """Read an image's width and height from its header.

    Return None if the format is unknown or the header is damaged.
    """
    try:
        head = b64decode(data[:HEAD_CHARS])
    except (BadBase64, ValueError):
        return None
    size = _png(head) or _gif(head) or _webp(head) or _jpeg(head)
    if size is None or not all(0 < pixels <= MOST_PIXELS for pixels in size):
        return None
    return size


def count_image(data: str, rule: ImageRule | None) -> int:
    """Count the tokens of an image. Without a rule, assume a large image."""
    size = None if rule is None else read_size(data)
    return IMAGE_TOKENS if size is None or rule is None else rule.count(*size, *rule.numbers)


def _count_patches(width: int, height: int, cost: float, edge: int, most: float) -> int:
    """Count an image's tokens from the number of 32 × 32 pixel patches that cover the image.

    The image is first scaled down to the limits `edge` and `most`.

    Args:
        width: the width in pixels.
        height: the height in pixels.
        cost: the tokens per patch.
        edge: the maximum length of the longer side in pixels.
        most: the maximum number of patches.
    """
    width, height = _scale_down(width, height, edge)
    if _cover(width, height, 32) > most:
        scale = math.sqrt(32**2 * most / (width * height))
        across, down = (length * scale / 32 for length in (width, height))
        scale *= min(math.floor(across) / across, math.floor(down) / down)
        width, height = (max(1, math.floor(length * scale)) for length in (width, height))
    return math.ceil(round(_cover(width, height, 32) * cost, 6))


def _count_tiles(width: int, height: int, base: int, tile: int) -> int:
    """Count an image's tokens from the number of 512 × 512 pixel tiles that cover the image.

    The image is first scaled down until it fits in 2,048 × 2,048 pixels, and its shorter side is at
    most 768 pixels long.

    Args:
        width: the width in pixels.
        height: the height in pixels.
        base: the tokens of any image.
        tile: the tokens of each tile.
    """
    width, height = _scale_down(width, height, 2_048)
    shorter = min(width, height)
    if shorter > 768:
        width, height = (length * 768 // shorter for length in (width, height))
    return base + tile * _cover(width, height, 512)


def _count_blocks(width: int, height: int, edge: int, most: int) -> int:
    longer, shorter = max(width, height), min(width, height)

    def cover(length: int) -> int:
        return _cover(length, max(1, round(length * shorter / longer)), 28)

    def is_too_large(length: int) -> bool:
        return math.ceil(length / 28) * 28 > edge or cover(length) > most

    fitting = bisect_left(range(1, longer + 1), True, key=is_too_large)
    return cover(max(1, fitting))


def _scale_down(width: int, height: int, edge: int) -> tuple[int, int]:
    """Scale a size down until no edge is longer than `edge`. The aspect ratio is kept."""
    scale = min(1.0, edge / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _cover(width: int, height: int, edge: int) -> int:
    return math.ceil(width / edge) * math.ceil(height / edge)


def _count_flat(_width: int, _height: int, tokens: int) -> int:
    return tokens


def _count_crops(width: int, height: int) -> int:
    if max(width, height) <= 384:
        return 258
    unit = min(768, max(256, math.floor(min(width, height) / 1.5)))
    return 258 * _cover(width, height, unit)


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
        if marker == 0xFF:  # a fill byte
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            edges = head[at + 7 : at + 9], head[at + 5 : at + 7]
            return int.from_bytes(edges[0], "big"), int.from_bytes(edges[1], "big")
        else:
            at += 2 + length
    return None
