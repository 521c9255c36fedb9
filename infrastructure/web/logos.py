"""Check and re-encode logos that people upload.

The result has only pixels: no metadata, no other file appended to the picture, and no active content.
"""

from __future__ import annotations

import io
import struct
import zlib

from msgspec import Struct
from PIL import Image, ImageOps

MAX_FILE_BYTES = 200_000
MAX_WIDTH, MAX_HEIGHT = 2_000, 1_000
# Stored size in pixels: three times the displayed size, for screens and printers of high resolution.
STORED_WIDTH, STORED_HEIGHT = 720, 192
# SVG is missing on purpose, because it may contain scripts and load other files.
FORMATS = ("PNG", "JPEG", "WEBP")
# Errors of Pillow about damaged or hostile files.
DECODING_ERRORS = (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, OverflowError, struct.error)


class LogoRefused(Exception):
    """Raised for a file that cannot be a logo. The message is for the user."""


class Logo(Struct, frozen=True):
    """Logo as a WebP picture, with its size in pixels."""

    content: bytes
    width: int
    height: int


def read_logo(file: bytes) -> Logo:
    """Return an uploaded picture as a small WebP picture.

    Raises LogoRefused for files that are too large or no PNG, JPEG or WebP. The size in pixels is read from the
    header, so that a decompression bomb is never decoded.
    """
    if len(file) > MAX_FILE_BYTES:
        raise LogoRefused("The logo is larger than 200 kB.")
    try:
        with Image.open(io.BytesIO(file), formats=FORMATS) as picture:
            if picture.width > MAX_WIDTH or picture.height > MAX_HEIGHT:
                raise LogoRefused(f"The logo is larger than {MAX_WIDTH:,} by {MAX_HEIGHT:,} pixels.")
            pixels = ImageOps.exif_transpose(picture).convert("RGBA")
    except (*DECODING_ERRORS, zlib.error, Image.DecompressionBombError) as error:
        raise LogoRefused("This file is not a PNG, JPEG or WebP picture, or it is damaged.") from error
    pixels.thumbnail((STORED_WIDTH, STORED_HEIGHT))
    output = io.BytesIO()
    pixels.save(output, "WEBP", quality=90, method=4, exif=b"", icc_profile=b"", xmp=b"")
    return Logo(output.getvalue(), pixels.width, pixels.height)
