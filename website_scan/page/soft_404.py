"""Detection of soft 404s.

A site sends these pages with a success status for missing files.

The response for a path is compared with the responses for its siblings, which are random names in the same places.
"""

from __future__ import annotations

import html
import re
import secrets
from collections import Counter
from urllib.parse import quote, unquote

from website_scan.net.http.response import Response

MAX_COMPARED_BYTES = 16 * 1024
RANDOM_SUFFIX_BYTES = 3  # The suffix is written in hexadecimal, so that it has six characters.
RANDOM_NAME_BYTES = 12
# Error pages may include the time or the path, so their length varies.
LENGTH_TOLERANCE = 0.15
LENGTH_TOLERANCE_BYTES = 64
SIMILARITY = 0.9

TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"
)
# Long words with both letters and digits are nonces, request IDs and hashes.
WORD = re.compile(r"[A-Za-z0-9+/_=-]+")
MIN_NONCE_LENGTH = 8
TOKEN = re.compile(r"\w+|[^\w\s]")


def siblings(path: str) -> tuple[str, str]:
    """Return two random paths that are similar to a file's path.

    The first has a suffix after the file's name, in the same folder: a server that responds by name patterns responds
    to this path like to the file. The second begins with a random name. Extensions and leading dots are preserved.
    """
    path, mark, query = path.partition("?")
    *folders, file = path.removeprefix("/").split("/")
    dot, stem, extension = _split_file_name(file)
    near = "/".join([*folders, f"{dot}{stem}-{secrets.token_hex(RANDOM_SUFFIX_BYTES)}{extension}"])
    name = secrets.token_hex(RANDOM_NAME_BYTES)
    far = [f"{_split_file_name(folders[0])[0]}{name}", *folders[1:], file] if folders else [f"{dot}{name}{extension}"]
    return f"/{near}{mark}{query}", f"/{'/'.join(far)}{mark}{query}"


def resembles(answer: Response, path: str, other: Response, other_path: str) -> bool:
    """Return True if two responses have nearly the same text.

    Their paths do not count.
    """
    if (answer.status, media_type(answer)) != (other.status, media_type(other)):
        return False
    if answer.body[:MAX_COMPARED_BYTES] == other.body[:MAX_COMPARED_BYTES]:
        return True
    text, other_text = _normalise_body(answer.body, path), _normalise_body(other.body, other_path)
    longer, shorter = max(len(text), len(other_text)), min(len(text), len(other_text))
    if longer - shorter > max(LENGTH_TOLERANCE_BYTES, longer * LENGTH_TOLERANCE):
        return False
    return _similarity(text, other_text) >= SIMILARITY


def media_type(response: Response) -> str:
    """Return the response's media type in lower case.

    It has no parameters, and is empty if none was sent.
    """
    return (response.headers.get("Content-Type") or "").split(",")[-1].split(";")[0].strip().lower()


def _split_file_name(file: str) -> tuple[str, str, str]:
    """Split a file name into leading dot, stem and rest.

    An example is (".", "env", ".local").

    The stem ends before the next dot or tilde.
    """
    dot = "." if file.startswith(".") else ""
    match = re.match(r"[^.~]*", file[len(dot) :])
    stem = match[0] if match else ""
    return dot, stem, file[len(dot) + len(stem) :]


def _normalise_body(body: bytes, path: str) -> str:
    """Return the body's text without values that always differ.

    These include the requested path and times.
    """
    text = body[:MAX_COMPARED_BYTES].decode("utf-8", "replace")
    plain = path.partition("?")[0]
    names = {path, unquote(path), plain, plain.removeprefix("/"), plain.rpartition("/")[2]}
    spellings = {spelling for name in names for spelling in (name, quote(name, safe=""), html.escape(name))}
    for name in sorted(spellings, key=len, reverse=True):
        if len(name) > 2:
            text = text.replace(name, " ")
    text = TIMESTAMP.sub(" ", text)
    return re.sub(r"\d+", "0", WORD.sub(_replace_nonce, text))


def _replace_nonce(match: re.Match[str]) -> str:
    word = match[0]
    is_nonce = len(word) >= MIN_NONCE_LENGTH and any(map(str.isdigit, word)) and any(map(str.isalpha, word))
    return " " if is_nonce else word


def _similarity(text: str, other: str) -> float:
    """Return the similarity of two texts, 0 to 1.

    It counts their common tokens (Dice's coefficient).
    """
    tokens, others = Counter(TOKEN.findall(text)), Counter(TOKEN.findall(other))
    total = tokens.total() + others.total()
    return 2 * (tokens & others).total() / total if total else 1.0
