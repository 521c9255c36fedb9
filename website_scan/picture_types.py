"""Tell the formats of the browser's pictures apart."""

from __future__ import annotations

JPEG_BEGIN = b"\xff\xd8"  # ITU T.81, annex B: start of image


def picture_type(data: bytes | memoryview) -> str:
    """Return the media type of a picture that the browser has taken, a JPEG or a WebP."""
    return "image/jpeg" if bytes(data[:2]) == JPEG_BEGIN else "image/webp"


def picture_extension(data: bytes | memoryview) -> str:
    """Return the extension of file names for such a picture."""
    return ".jpg" if picture_type(data) == "image/jpeg" else ".webp"
