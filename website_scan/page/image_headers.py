"""Reader of an image's format, size and animation.

Sources: PNG (W3C), section 11.2.2; ITU T.81, annex B; GIF89a, sections 18 to 23; RFC 9649 (WebP); ISO 14496-12 and
23008-12 (AVIF); SVG 2, section 8. A file's parts are read in order, and at most MAX_PARTS of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

MAX_PARTS = 20_000
MAX_SIDE_PIXELS = 65_535 * 16
MAX_SVG_HEAD_BYTES = 16 * 1024

SVG_ROOT = re.compile(rb"<(?:[\w-]{1,40}:)?svg(?=[\s>/])([^<>]*+)>", re.IGNORECASE)
SVG_BEGINNING = re.compile(rb"(?:\xef\xbb\xbf)?\s*+<(?:[?!]|(?:[\w-]{1,40}:)?svg[\s>/])", re.IGNORECASE)
SVG_LENGTH = re.compile(rb"""\s(width|height)\s{0,9}=\s{0,9}["']\s{0,9}(\d{1,7})(?:\.\d{0,9})?(?:px)?\s{0,9}["']""")
SVG_VIEW_BOX = re.compile(
    rb"""\sviewBox\s{0,9}=\s{0,9}["']\s{0,9}[-+\d.e]{1,20}[\s,]{1,9}[-+\d.e]{1,20}"""
    rb"""[\s,]{1,9}(\d{1,7})(?:\.\d{0,9})?[\s,]{1,9}(\d{1,7})"""
)


class ImageFormat(StrEnum):
    """Image format by the file's signature.

    The media type does not matter.
    """

    PNG = "PNG"
    JPEG = "JPEG"
    GIF = "GIF"
    WEBP = "WebP"
    AVIF = "AVIF"
    BMP = "BMP"
    SVG = "SVG"


class ImageHeader(Struct, frozen=True):
    """Image format, width and height in pixels.

    An SVG without width and height has those of its view box, or 0.
    """

    format: ImageFormat
    width: int
    height: int
    is_animated: bool = False

    @property
    def pixels(self) -> int:
        return self.width * self.height


def read_image_header(data: bytes) -> ImageHeader | None:
    """Read the image header from a file's beginning.

    None if the format is unknown or the header is truncated.

    `is_animated` depends on the available bytes: a GIF whose second frame comes later counts as not animated.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        header = _read_png(data)
    elif data.startswith(b"\xff\xd8\xff"):
        header = _read_jpeg(data)
    elif data[:6] in (b"GIF87a", b"GIF89a"):
        header = _read_gif(data)
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        header = _read_webp(data)
    elif data[4:8] == b"ftyp":
        header = _read_avif(data)
    elif data[:2] == b"BM" and len(data) >= 26 and _read_little_endian(data, 14, 4) >= 40:
        width, height = _read_little_endian(data, 18, 4), _read_little_endian(data, 22, 4)
        # The height is negative if the rows of pixels begin at the top.
        header = ImageHeader(ImageFormat.BMP, width, height if height < 1 << 31 else (1 << 32) - height)
    else:
        return _read_svg(data)
    has_valid_size = header is not None and 0 < header.width <= MAX_SIDE_PIXELS and 0 < header.height <= MAX_SIDE_PIXELS
    return header if has_valid_size else None


def _read_big_endian(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")


def _read_little_endian(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _read_png(data: bytes) -> ImageHeader | None:
    if data[12:16] != b"IHDR" or len(data) < 24:
        return None
    at, is_animated = 8, False
    for _ in range(MAX_PARTS):
        kind = data[at + 4 : at + 8]
        if len(kind) < 4 or kind == b"IDAT":
            break
        if kind == b"acTL":
            is_animated = True
            break
        at += 12 + _read_big_endian(data, at, 4)
    return ImageHeader(ImageFormat.PNG, _read_big_endian(data, 16, 4), _read_big_endian(data, 20, 4), is_animated)


def _read_jpeg(data: bytes) -> ImageHeader | None:
    at = 2
    for _ in range(MAX_PARTS):
        if at + 9 > len(data) or data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # The byte is a fill byte between two markers.
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD7:  # Segments with these markers have no length field.
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # A start-of-frame segment has the size.
            return ImageHeader(ImageFormat.JPEG, _read_big_endian(data, at + 7, 2), _read_big_endian(data, at + 5, 2))
        elif marker in (0xD9, 0xDA):  # The image ends, or its pixels begin, before any frame header.
            return None
        else:
            at += 2 + max(2, _read_big_endian(data, at + 2, 2))
    return None


def _read_gif(data: bytes) -> ImageHeader | None:
    if len(data) < 13:
        return None
    frames = 0
    at = 13 + _color_table_bytes(data[10])
    for _ in range(MAX_PARTS):
        introducer = data[at : at + 1]
        if introducer == b"\x2c" and at + 10 <= len(data):
            frames += 1
            if frames == 2:
                break
            at = _skip_blocks(data, at + 10 + _color_table_bytes(data[at + 9]) + 1)
        elif introducer == b"\x21":
            at = _skip_blocks(data, at + 2)
        else:
            break
    return ImageHeader(ImageFormat.GIF, _read_little_endian(data, 6, 2), _read_little_endian(data, 8, 2), frames > 1)


def _color_table_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _skip_blocks(data: bytes, at: int) -> int:
    # A GIF block has at least two bytes, so the loop ends at the end of the data.
    while at < len(data) and data[at]:
        at += 1 + data[at]
    return at + 1


def _read_webp(data: bytes) -> ImageHeader | None:
    kind = data[12:16]
    if len(data) < 30:
        return None
    if kind == b"VP8X":
        return ImageHeader(
            ImageFormat.WEBP,
            _read_little_endian(data, 24, 3) + 1,
            _read_little_endian(data, 27, 3) + 1,
            bool(data[20] & 2),
        )
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return ImageHeader(
            ImageFormat.WEBP, _read_little_endian(data, 26, 2) & 0x3FFF, _read_little_endian(data, 28, 2) & 0x3FFF
        )
    if kind == b"VP8L" and data[20] == 0x2F:
        bits = _read_little_endian(data, 21, 4)
        return ImageHeader(ImageFormat.WEBP, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    return None


def _read_avif(data: bytes) -> ImageHeader | None:
    brands = data[8 : min(_read_big_endian(data, 0, 4), 256)]
    if b"avif" not in brands and b"avis" not in brands:
        return None
    # Tiles, the alpha plane and the thumbnail are no larger than the image.
    sizes = [
        (_read_big_endian(data, at + 4, 4), _read_big_endian(data, at + 8, 4))
        for meta, meta_end in _find_boxes(data, 0, len(data), b"meta")
        for properties, properties_end in _find_boxes(data, meta + 4, meta_end, b"iprp")
        for container, container_end in _find_boxes(data, properties, properties_end, b"ipco")
        for at, end in _find_boxes(data, container, container_end, b"ispe")
        if at + 12 <= end
    ]
    if not sizes:
        return None
    width, height = max(sizes, key=lambda size: size[0] * size[1])
    return ImageHeader(ImageFormat.AVIF, width, height, brands.startswith(b"avis"))


def _find_boxes(data: bytes, at: int, end: int, kind: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of the content of each such box.

    The boxes have the same kind (ISO 14496-12).
    """
    for _ in range(MAX_PARTS):
        if at + 8 > end:
            return
        size, head = _read_big_endian(data, at, 4), 8
        if size == 1:
            size, head = _read_big_endian(data, at + 8, 8), 16
        elif size == 0:
            size = end - at
        if size < head:
            return
        if data[at + 4 : at + 8] == kind:
            yield at + head, min(at + size, end)
        at += size


def _read_svg(data: bytes) -> ImageHeader | None:
    head = data[:MAX_SVG_HEAD_BYTES]
    if SVG_BEGINNING.match(head) is None:
        return None
    root = SVG_ROOT.search(head)
    if root is None:
        return None
    lengths = {name: int(value) for name, value in SVG_LENGTH.findall(root[1])}
    if b"width" in lengths and b"height" in lengths:
        return ImageHeader(ImageFormat.SVG, lengths[b"width"], lengths[b"height"])
    view = SVG_VIEW_BOX.search(root[1])
    return ImageHeader(ImageFormat.SVG, int(view[1]), int(view[2])) if view else ImageHeader(ImageFormat.SVG, 0, 0)
