"""Normal form of addresses in evidence, for fingerprints (ADR 11).

The normal form omits what changes between builds and visits: query strings, session IDs, and the versions and digests
in paths.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from website_scan.generated_names import is_generated
from website_scan.written_urls import WrittenUrl, join_urls

# Extensions of files that builds generate, with versions and digests in their names. People name all other files.
BUILT = re.compile(r"\.(?:m?js|css|map|json|wasm|woff2?|ttf|otf|eot)$", re.IGNORECASE)
# End of the part of blob: and data: addresses that identifies the kind; the rest is the content, or stands for it.
END_OF_BLOB, END_OF_DATA = re.compile(r"[;,/]"), re.compile(r"[;,]")
PICTURE = re.compile(r"\.(?:avif|gif|ico|jpe?g|png|svg|webp|mp4|webm)$", re.IGNORECASE)
# Paths of services that resize pictures: the picture's address is a parameter, or follows the sizes in the path.
RESIZED = re.compile(r"/_(?:next|vercel)/image\?")
SIZES = re.compile(r"/cdn-cgi/image/[^/]*|/_ipx/[^/]*|(?<=/image/upload)(?:/[a-z]{1,3}_[^/]*)+")
VERSION = re.compile(r"(?<![A-Za-z0-9])v?\d+(?:\.\d+)+(?:[-.](?:alpha|beta|rc)\.?\d*)?(?![A-Za-z0-9])", re.IGNORECASE)
STAMP = re.compile(r"(?<!\d)\d{8,}(?!\d)")
# Digests of Rollup, which may contain hyphens.
ROLLUP = re.compile(r"[-.]([\w-]{8})(?=\.\w+$)")
ESBUILD = re.compile(r"-(?=[A-Z2-7]*[2-7])(?=[A-Z2-7]*[A-Z])[A-Z2-7]{8}(?=\.\w+$)")
BUILD_FOLDER = re.compile(r"v?\d{8,}|version\d+")


def normal_address(text: str, own: WrittenUrl) -> str:
    """Return host and path of an address on the page `own`. Omits the page's own host and path, which vary by page."""
    text = original(text)
    if text.startswith(("data:", "blob:")):
        return (END_OF_BLOB if text.startswith("blob:") else END_OF_DATA).split(text, maxsplit=1)[0]
    try:
        parts = join_urls(own, text)
        host = f"//{parts.netloc.rpartition('@')[2].lower()}"
    except ValueError:
        return text
    path = parts.path.partition(";")[0] or "/"
    is_own = parts.netloc == own.netloc
    if path == (own.path or "/") and (is_own or path != "/"):
        path = "/{page}"
    elif BUILT.search(path) or PICTURE.search(path):
        path = _file(SIZES.sub("", path))
    return path if is_own else host + path


def original(address: str) -> str:
    """Return the picture's address in an address of a resizing service; other addresses unchanged."""
    if RESIZED.search(address):
        return next(iter(parse_qs(address.partition("?")[2]).get("url", ())), address)
    return address


def _file(path: str) -> str:
    """Return a path without the versions and digests that a build puts into it."""
    *folders, name = path.split("/")
    folders = [
        "*" if BUILD_FOLDER.fullmatch(folder) or is_generated(folder) else VERSION.sub("*", folder)
        for folder in folders
    ]
    if BUILT.search(name):
        name = STAMP.sub("*", ESBUILD.sub("-*", ROLLUP.sub(_digest, name)))
    stem, _, suffix = name.rpartition(".")
    stem = re.sub(r"[^-_.~@!+]+", lambda match: "*" if is_generated(match[0]) else match[0], VERSION.sub("*", stem))
    return "/".join([*folders, f"{stem}.{suffix}"])


def _digest(match: re.Match[str]) -> str:
    is_mixed = (
        len({("a" if character.islower() else "A" if character.isupper() else "0") for character in match[1]}) == 3
    )
    parts = [part for part in re.split(r"[-_]", match[1]) if part]
    return f"{match[0][0]}*" if is_mixed and any(is_generated(part, least=2) for part in parts) else match[0]
