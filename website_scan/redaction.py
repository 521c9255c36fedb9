"""Removal of credentials from a scan's result.

It is the last step of scans with credentials.
"""

from __future__ import annotations

import html
import itertools
import json
import re
import string
import sys
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from website_scan.messages import MASK
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.result import CategoryResult, CheckResult, ScanResult
from website_scan.stored_data import Facts

# Shorter values, such as "1" or "en", occur everywhere and are not secrets.
MIN_SECRET_LENGTH = 4
# Shorter values may be part of an ordinary word, so they are masked only as whole words.
MIN_PIECE_LENGTH = 8
# A site may cut a value that it quotes, so pieces of long values are masked.
MIN_LENGTH_FOR_PIECES = 12
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
REFUSED = (401, 403)
# Escape sequences of URLs, HTML, JSON and JavaScript.
ESCAPED = re.compile(
    r"(?:%[0-9a-f]{2})+"
    r"|&(?:#[0-9]{1,7};?|#x[0-9a-f]{1,6};?|[a-z][a-z0-9]{1,31};)"
    r"|\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2}|[\"'/\\])",
    re.IGNORECASE,
)
# Text may be escaped twice, for example a URL in JSON.
MAX_UNESCAPINGS = 2
# Keys of a stored value (`website_scan.values`) whose text never comes from the scanned site.
SCANNER_KEYS = ("kind", "template")


def redacted(result: ScanResult, credentials: OriginCredentials | None) -> ScanResult:
    """Return the scan result with its credentials masked.

    They are masked in all texts, in all common encodings.

    The scan's URL and the catalogue's texts are not changed. If the page refuses access despite the credentials, the
    result gets a notice that names the origin to which they are sent.
    """
    if credentials is None:
        return result
    clean = _cleaner(credentials.credentials, result.url)
    facts: Facts = _clean_json(result.facts, clean)
    if notice := _notice(facts, credentials):
        facts["notice"] = " ".join(filter(None, (facts.get("notice", ""), notice)))
    waterfall = result.waterfall
    return replace(
        result,
        categories=tuple(_category(category, clean) for category in result.categories),
        skipped_checks=tuple(replace(check, reason=clean(check.reason)) for check in result.skipped_checks),
        error=result.error and replace(result.error, message=clean(result.error.message)),
        facts=facts,
        exhibits=_clean_json(result.exhibits, clean),
        site=_clean_json(result.site, clean),
        waterfall=waterfall
        and replace(waterfall, rows=tuple(replace(row, url=clean(row.url)) for row in waterfall.rows)),
    )


def _notice(facts: Facts, credentials: OriginCredentials) -> str:
    if facts.get("status") not in REFUSED:
        return ""
    return (
        f"The page answers with status {facts['status']}. The scan's credentials are for {credentials.origin} only: "
        "where it redirects to another origin, or its certificate is not trusted, they are not sent."
    )


def _clean_json(value: Any, clean: Callable[[str], str]) -> Any:
    """Apply the function `clean` to all strings of a JSON value.

    Keys are left out.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {name: _clean_json(item, clean) for name, item in value.items()}
    return [_clean_json(item, clean) for item in value] if isinstance(value, list) else value


def _clean_values(value: Any, clean: Callable[[str], str]) -> Any:
    """Apply `clean` to a finding's texts that may come from the site."""
    if isinstance(value, Mapping):
        return {name: item if name in SCANNER_KEYS else _clean_values(item, clean) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean_values(item, clean) for item in value]
    return clean(value) if isinstance(value, str) else value


def _category(category: CategoryResult, clean: Callable[[str], str]) -> CategoryResult:
    return replace(category, checks=tuple(_check(check, clean) for check in category.checks))


def _check(check: CheckResult, clean: Callable[[str], str]) -> CheckResult:
    return replace(
        check,
        title=clean(check.title),
        summary=clean(check.summary),
        values=_clean_values(check.values, clean),
        how_to_fix=check.how_to_fix and replace(check.how_to_fix, text=clean(check.how_to_fix.text)),
        places=check.places.mapped(clean),
        details=check.details.mapped(clean),
        includes=tuple(map(clean, check.includes)),
    )


def _cleaner(credentials: Credentials, url: str) -> Callable[[str], str]:
    """Return a function that masks the credentials in a text.

    Pieces of the scanned URL are not masked.
    """
    forms = {form for value in _secrets(credentials) for form in _encodings(value)}
    words = [re.escape(form) for form in forms if len(form) < MIN_PIECE_LENGTH]
    word = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE) if words else None
    own_url = url.translate(LOWER)
    pieces: dict[int, set[str]] = {}
    for form in forms:
        if (size := MIN_PIECE_LENGTH if len(form) >= MIN_LENGTH_FOR_PIECES else len(form)) >= MIN_PIECE_LENGTH:
            lower = form.translate(LOWER)
            parts = {lower[at : at + size] for at in range(len(lower) - size + 1)}
            pieces.setdefault(size, set()).update(part for part in parts if part not in own_url)

    def spans_of_secrets(text: str) -> Iterator[tuple[int, int]]:
        lower = text.translate(LOWER)
        for size, parts in pieces.items():
            yield from ((at, at + size) for at in range(len(text) - size + 1) if lower[at : at + size] in parts)
        if word:
            yield from (match.span() for match in word.finditer(text))

    def clean(text: str) -> str:
        hidden = bytearray(len(text))
        for layer, positions in _unescaped_layers(text):
            for begin, end in spans_of_secrets(layer):
                hidden[positions[begin] : positions[end]] = b"\1" * (positions[end] - positions[begin])
        if 1 not in hidden:
            return text
        runs = itertools.groupby(zip(text, hidden, strict=True), key=itemgetter(1))
        return "".join(MASK if is_secret else "".join(char for char, _ in run) for is_secret, run in runs)

    return clean


def _unescaped_layers(text: str) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the text as written, unescaped once and unescaped twice.

    The characters come with their original positions.

    The positions include the end of the text. A list of all escaped forms of a value is impossible, because a site may
    escape any of its characters.
    """
    positions: Sequence[int] = range(len(text) + 1)
    yield text, positions
    for _ in range(MAX_UNESCAPINGS):
        if not ESCAPED.search(text):
            return
        text, positions = _unescape_layer(text, positions)
        yield text, positions


def _unescape_layer(text: str, positions: Sequence[int]) -> tuple[str, Sequence[int]]:
    parts: list[str] = []
    new_positions: list[int] = []
    at = 0
    for match in ESCAPED.finditer(text):
        parts.append(text[at : match.start()])
        new_positions += positions[at : match.start()]
        for char, offset in _unescape(match[0]):
            parts.append(char)
            new_positions.append(positions[match.start() + offset])
        at = match.end()
    return "".join([*parts, text[at:]]), [*new_positions, *positions[at:]]


def _unescape(escaped: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of an escape sequence.

    Each comes with its offset in the sequence.
    """
    if escaped[0] == "%":
        at = 0
        for char in bytes.fromhex(escaped.replace("%", "")).decode(errors="surrogateescape"):
            yield char, at
            at += 3 * len(char.encode(errors="surrogateescape"))
    elif escaped[0] == "&":
        unescaped = html.unescape(escaped)
        yield from ((char, at if unescaped == escaped else 0) for at, char in enumerate(unescaped))
    elif escaped[1] in "uUxX":
        yield chr(min(int(escaped[2:].strip("{}"), 16), sys.maxunicode)), 0
    else:
        yield escaped[1], 0


def _secrets(credentials: Credentials) -> Iterator[str]:
    for name, value in credentials.headers:
        yield value
        if name.lower() == "authorization":
            yield value.partition(" ")[2]
    for _, value in credentials.cookies:
        yield value.strip('"')
    if credentials.basic_auth is not None:
        username, password = credentials.basic_auth
        yield password
        # Short user names, such as admin, are not masked, because they also occur in URLs and texts.
        if len(username) >= MIN_PIECE_LENGTH:
            yield username
        yield ":".join(credentials.basic_auth)


def _encodings(value: str) -> Iterator[str]:
    """Yield a value in all common encodings.

    These are the value itself, URL-encoded, in JSON, hexadecimal and Base64. Yields nothing for a value that is too
    short.
    """
    if len(value) < MIN_SECRET_LENGTH:
        return
    data = value.encode()
    yield from (value, value.replace(" ", "+"), json.dumps(value)[1:-1], data.hex())
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(data).decode().rstrip("=")
        # In Base64, the first and last characters of a value depend on the text around it.
        for before in (1, 2):
            encoding = encode(bytes(before) + data).decode()[before + 1 : (before + len(data)) * 8 // 6]
            if len(encoding) >= MIN_PIECE_LENGTH:
                yield encoding
