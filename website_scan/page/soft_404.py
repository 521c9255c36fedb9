"""Detection of soft 404s: pages with a success status that a site sends for missing files.

The response for a path is compared with the responses for its siblings, which are random names in the same places.
"""

from __future__ import annotations

import html
import re
import secrets
from collections import Counter
from urllib.parse import quote, unquote

from website_scan.net.http.response import Response

COMPARED_BYTES = 16 * 1024
SUFFIX_BYTES = 3  # random bytes, written in hexadecimal
NAME_BYTES = 12
# Tolerated difference as a share of the longer body, because templates include the time, the path or the visitor.
LENGTH_TOLERANCE = 0.15
LENGTH_TOLERANCE_BYTES = 64
SIMILARITY = 0.9

TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"
)
# Words of letters and digits. Long ones with both are nonces, request IDs and hashes.
WORD = re.compile(r"[A-Za-z0-9+/_=-]+")
NONCE_LENGTH = 8
TOKEN = re.compile(r"\w+|[^\w\s]")


def siblings(path: str) -> tuple[str, str]:
    """Return two paths of different lengths that can't exist, in the same places as a file, with its query.

    The first has a suffix after the file's name, in the same folder: a server that responds by name patterns responds
    to this path like to the file. The second begins with a random name. Extensions and leading dots are preserved.
    """
    path, mark, query = path.partition("?")
    *folders, file = path.removeprefix("/").split("/")
    dot, stem, extension = _parts(file)
    near = "/".join([*folders, f"{dot}{stem}-{secrets.token_hex(SUFFIX_BYTES)}{extension}"])
    name = secrets.token_hex(NAME_BYTES)
    far = [f"{_parts(folders[0])[0]}{name}", *folders[1:], file] if folders else [f"{dot}{name}{extension}"]
    return f"/{near}{mark}{query}", f"/{'/'.join(far)}{mark}{query}"


def resembles(answer: Response, path: str, other: Response, other_path: str) -> bool:
    """Return True if two responses are the same page: status, media type, length and text except for the path."""
    if (answer.status, media_type(answer)) != (other.status, media_type(other)):
        return False
    if answer.body[:COMPARED_BYTES] == other.body[:COMPARED_BYTES]:
        return True
    text, other_text = _normalised(answer.body, path), _normalised(other.body, other_path)
    longer, shorter = max(len(text), len(other_text)), min(len(text), len(other_text))
    if longer - shorter > max(LENGTH_TOLERANCE_BYTES, longer * LENGTH_TOLERANCE):
        return False
    return _similarity(text, other_text) >= SIMILARITY


def media_type(response: Response) -> str:
    """Return the media type in lower case without parameters; empty if none was sent."""
    return (response.headers.get("Content-Type") or "").split(",")[-1].split(";")[0].strip().lower()


def _parts(file: str) -> tuple[str, str, str]:
    """Return the leading dot, the name up to the next dot or tilde, and the rest of a file name: (".", "env",
    ".local").
    """
    dot = "." if file.startswith(".") else ""
    match = re.match(r"[^.~]*", file[len(dot) :])
    stem = match[0] if match else ""
    return dot, stem, file[len(dot) + len(stem) :]


def _normalised(body: bytes, path: str) -> str:
    """Return the text without the requested path, times, and values that differ in every response."""
    text = body[:COMPARED_BYTES].decode("utf-8", "replace")
    plain = path.partition("?")[0]
    names = {path, unquote(path), plain, plain.removeprefix("/"), plain.rpartition("/")[2]}
    spellings = {spelling for name in names for spelling in (name, quote(name, safe=""), html.escape(name))}
    for name in sorted(spellings, key=len, reverse=True):
        if len(name) > 2:
            text = text.replace(name, " ")
    text = TIMESTAMP.sub(" ", text)
    return re.sub(r"\d+", "0", WORD.sub(_without_nonce, text))


def _without_nonce(match: re.Match[str]) -> str:
    word = match[0]
    is_nonce = len(word) >= NONCE_LENGTH and any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return " " if is_nonce else word


def _similarity(text: str, other: str) -> float:
    """Return the share of tokens that two texts have in common (Dice's coefficient); 1 for two empty texts."""
    tokens, others = Counter(TOKEN.findall(text)), Counter(TOKEN.findall(other))
    total = tokens.total() + others.total()
    return 2 * (tokens & others).total() / total if total else 1.0
