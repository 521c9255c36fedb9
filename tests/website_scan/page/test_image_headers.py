from __future__ import annotations

import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.page.image_headers import ImageFormat, ImageHeader, read_image_header


def png(width: int = 3, height: int = 2, *chunks: bytes) -> bytes:
    size = struct.pack(">II", width, height) + b"\x08\x06\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + b"".join(chunks) + chunk(b"IDAT", b"pixels")


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + b"CRC!"


def jpeg(width: int = 3, height: int = 2, *, frame: int = 0xC0, before: bytes = b"") -> bytes:
    size = struct.pack(">BHH", 8, height, width)
    return b"\xff\xd8\xff\xe0\x00\x04JF" + before + bytes([0xFF, frame]) + b"\x00\x0b" + size + b"\x03abc"


def gif(width: int = 3, height: int = 2, frames: int = 1, *, table: bool = False) -> bytes:
    flags, colours = (0x80, b"\0" * 6) if table else (0, b"")
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, flags, 0, 0) + colours
    control = b"\x21\xf9\x04\0\0\0\0\0"
    frame = control + b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x03abc\x02de\x00"
    return head + frame * frames + b"\x3b"


def webp(kind: bytes, content: bytes) -> bytes:
    body = b"WEBP" + kind + struct.pack("<I", len(content)) + content
    return b"RIFF" + struct.pack("<I", len(body)) + body


def vp8x(width: int, height: int, flags: int = 0) -> bytes:
    return webp(
        b"VP8X", bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    )


def box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content) + 8) + kind + content


def avif(*sizes: tuple[int, int], brand: bytes = b"avif") -> bytes:
    properties = b"".join(box(b"ispe", struct.pack(">III", 0, *size)) for size in sizes)
    meta = box(b"meta", b"\0\0\0\0" + box(b"hdlr", b"x" * 20) + box(b"iprp", box(b"ipco", properties)))
    return box(b"ftyp", brand + b"\0\0\0\0mif1avif") + meta + box(b"mdat", b"pixels")


def bmp(width: int, height: int) -> bytes:
    return b"BM" + b"\0" * 12 + struct.pack("<Iii", 40, width, height)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (png(640, 480), (ImageFormat.PNG, 640, 480, False)),
        (png(640, 480, chunk(b"tEXt", b"acTL"), chunk(b"acTL", b"12345678")), (ImageFormat.PNG, 640, 480, True)),
        (jpeg(640, 480), (ImageFormat.JPEG, 640, 480, False)),
        # A progressive JPEG has a different start-of-frame marker.
        (jpeg(640, 480, frame=0xC2), (ImageFormat.JPEG, 640, 480, False)),
        # A thumbnail in the Exif data is not the image itself.
        (jpeg(640, 480, before=b"\xff\xe1\x00\x12Exif" + jpeg(9, 9)[:12]), (ImageFormat.JPEG, 640, 480, False)),
        (jpeg(640, 480, before=b"\xff\xc4\x00\x02\xff\xff\xff\xfe\x00\x02"), (ImageFormat.JPEG, 640, 480, False)),
        (gif(5, 4), (ImageFormat.GIF, 5, 4, False)),
        (gif(5, 4, 2, table=True), (ImageFormat.GIF, 5, 4, True)),
        (gif(5, 4, 2)[:40], (ImageFormat.GIF, 5, 4, False)),  # The GIF file ends before its second frame.
        (vp8x(4000, 3000), (ImageFormat.WEBP, 4000, 3000, False)),
        (vp8x(4000, 3000, 2), (ImageFormat.WEBP, 4000, 3000, True)),
        (webp(b"VP8 ", b"abc\x9d\x01\x2a" + struct.pack("<HH", 640, 480)), (ImageFormat.WEBP, 640, 480, False)),
        (
            webp(b"VP8L", b"\x2f" + (639 | 479 << 14).to_bytes(4, "little") + b"\0" * 8),
            (ImageFormat.WEBP, 640, 480, False),
        ),
        (avif((640, 480)), (ImageFormat.AVIF, 640, 480, False)),
        (avif((64, 64), (1920, 1080), (160, 90)), (ImageFormat.AVIF, 1920, 1080, False)),
        (avif((64, 64), brand=b"avis"), (ImageFormat.AVIF, 64, 64, True)),
        (bmp(640, 480), (ImageFormat.BMP, 640, 480, False)),
        (bmp(640, -480), (ImageFormat.BMP, 640, 480, False)),
        (b'<svg width="24" height="16px">', (ImageFormat.SVG, 24, 16, False)),
        (b'<?xml version="1.0"?>\n<!-- a --><svg viewBox="0 0 300 150"/>', (ImageFormat.SVG, 300, 150, False)),
        (b'<svg width="100%" height="100%" viewBox="0,0,30.5,15"/>', (ImageFormat.SVG, 30, 15, False)),
        (b"<svg xmlns='x'>", (ImageFormat.SVG, 0, 0, False)),
    ],
)
def test_image_header_is_read_in_every_format(data: bytes, expected: tuple[ImageFormat, int, int, bool]) -> None:
    assert read_image_header(data) == ImageHeader(*expected)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        b"\x89PNG\r\n\x1a\n",
        png(0, 5),
        jpeg()[:8],
        b"\xff\xd8\xff\xd9",
        b"<html><svg width=1 height=1></html>",
        b"<!doctype html><title>Not found</title>",
        b"RIFF\0\0\0\0WAVE" + b"\0" * 40,
        box(b"ftyp", b"heic\0\0\0\0mif1heic") + b"\0" * 40,
        avif(),
    ],
)
def test_invalid_image_file_has_no_header(data: bytes) -> None:
    assert read_image_header(data) is None


SAMPLES = (png(), jpeg(), gif(frames=2), vp8x(9, 9), avif((9, 9)), bmp(3, 3), b'<svg width="9" height="9">')


@given(st.sampled_from(SAMPLES), st.binary(max_size=200), st.integers(0, 60), st.integers(0, 80))
def test_image_header_reader_accepts_arbitrary_bytes(sample: bytes, noise: bytes, at: int, cut: int) -> None:
    header_ = read_image_header((sample[:at] + noise + sample[at:])[: len(noise) + cut])
    assert header_ is None or (header_.width >= 0 and header_.height >= 0)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xd8\xff\xe0\x00\x02" + b"\xff\xd0" * 1_500_000,
        b"\xff\xd8\xff" + b"\xff" * 3_000_000,
        gif()[:13] + b"\x21\xfe\x00" * 1_000_000,
        gif()[:13] + b"\x21\xfe" + b"\x01a" * 1_500_000,
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"\0\0\0\1" * 3) + b"\0\0\0\0abcdCRC!" * 250_000,
        box(b"ftyp", b"avif\0\0\0\0") + box(b"meta", b"\0\0\0\0" + b"\0\0\0\x08abcd" * 370_000),
        box(b"ftyp", b"avif\0\0\0\0") + (b"\0\0\0\x0cmeta\0\0\0\0") * 250_000,
        b"<!--" + b"<svg " * 600_000,
    ],
)
def test_hostile_image_is_read_fast(data: bytes) -> None:
    begin = time.process_time()
    read_image_header(data)
    assert time.process_time() - begin < 0.5
