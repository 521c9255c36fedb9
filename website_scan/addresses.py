"""Normalize URLs in evidence for stable fingerprints.

They must not change from build to build (ADR 11). The normal form omits what changes between builds and visits: query
strings, session IDs, and the versions and digests in paths.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from website_scan.generated_names import is_generated
from website_scan.written_urls import WrittenUrl, join_urls

# Build tools put versions and digests into the names of these files.
BUILT = re.compile(r"\.(?:m?js|css|map|json|wasm|woff2?|ttf|otf|eot)$", re.IGNORECASE)
# Content follows the media type in blob: and data: URLs.
BLOB_TYPE_END, DATA_TYPE_END = re.compile(r"[;,/]"), re.compile(r"[;,]")
PICTURE = re.compile(r"\.(?:avif|gif|ico|jpe?g|png|svg|webp|mp4|webm)$", re.IGNORECASE)
# Image resizing services have these paths. The original URL is a parameter, or follows the sizes in the path.
RESIZED = re.compile(r"/_(?:next|vercel)/image\?")
SIZES = re.compile(r"/cdn-cgi/image/[^/]*|/_ipx/[^/]*|(?<=/image/upload)(?:/[a-z]{1,3}_[^/]*)+")
VERSION = re.compile(r"(?<![A-Za-z0-9])v?\d+(?:\.\d+)+(?:[-.](?:alpha|beta|rc)\.?\d*)?(?![A-Za-z0-9])", re.IGNORECASE)
STAMP = re.compile(r"(?<!\d)\d{8,}(?!\d)")
# Digest in a file name by the bundler Rollup, which may contain hyphens.
ROLLUP = re.compile(r"[-.]([\w-]{8})(?=\.\w+$)")
ESBUILD = re.compile(r"-(?=[A-Z2-7]*[2-7])(?=[A-Z2-7]*[A-Z])[A-Z2-7]{8}(?=\.\w+$)")
BUILD_FOLDER_NAME = re.compile(r"v?\d{8,}|version\d+")


def normal_address(text: str, own: WrittenUrl) -> str:
    """Return the host and path of a URL, without digests.

    The host of the page `own` is left out, and the page's path is replaced by a placeholder.
    """
    text = original(text)
    if text.startswith(("data:", "blob:")):
        return (BLOB_TYPE_END if text.startswith("blob:") else DATA_TYPE_END).split(text, maxsplit=1)[0]
    try:
        parts = join_urls(own, text)
        host = f"//{parts.netloc.rpartition('@')[2].lower()}"
    except ValueError:
        return text
    path = parts.path.partition(";")[0] or "/"
    is_own_host = parts.netloc == own.netloc
    if path == (own.path or "/") and (is_own_host or path != "/"):
        path = "/{page}"
    elif BUILT.search(path) or PICTURE.search(path):
        path = _normal_file_path(SIZES.sub("", path))
    return path if is_own_host else host + path


def original(address: str) -> str:
    """Return the original image's URL for a resizing service's URL.

    Otherwise the same URL.
    """
    if RESIZED.search(address):
        return next(iter(parse_qs(address.partition("?")[2]).get("url", ())), address)
    return address


def _normal_file_path(path: str) -> str:
    """Return a URL path with `*` instead of versions and digests.

    They are from a build tool.
    """
    *folders, name = path.split("/")
    folders = [
        "*" if BUILD_FOLDER_NAME.fullmatch(folder) or is_generated(folder) else VERSION.sub("*", folder)
        for folder in folders
    ]
    if BUILT.search(name):
        name = STAMP.sub("*", ESBUILD.sub("-*", ROLLUP.sub(_mask_digest, name)))
    stem, _, suffix = name.rpartition(".")
    stem = re.sub(r"[^-_.~@!+]+", lambda match: "*" if is_generated(match[0]) else match[0], VERSION.sub("*", stem))
    return "/".join([*folders, f"{stem}.{suffix}"])


def _mask_digest(match: re.Match[str]) -> str:
    has_letters_and_digits = (
        len({("a" if character.islower() else "A" if character.isupper() else "0") for character in match[1]}) == 3
    )
    parts = [part for part in re.split(r"[-_]", match[1]) if part]
    return (
        f"{match[0][0]}*" if has_letters_and_digits and any(is_generated(part, least=2) for part in parts) else match[0]
    )
