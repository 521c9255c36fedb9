"""Redaction: the last step of a scan with credentials removes every occurrence of the credentials from the result."""

from __future__ import annotations

import html
import itertools
import json
import re
import string
import sys
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from website_scan.messages import MASK
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.result import CategoryResult, CheckResult, ScanResult
from website_scan.stored_data import Facts

# Minimum length of a secret: a value such as "1" or "en" is none, and occurs everywhere.
LEAST = 4
# A shorter value may be an ordinary word, so it is hidden only as a whole word.
LONG = 8
# From this length on, every piece of `LONG` characters is hidden: a site may cut, escape or mask a quoted value.
IN_PIECES = 12
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
REFUSED = (401, 403)
# Escapes in addresses, in markup, and in JSON and scripts. Text within another escaped text is escaped twice.
ESCAPED = re.compile(
    r"(?:%[0-9a-f]{2})+"
    r"|&(?:#[0-9]{1,7};?|#x[0-9a-f]{1,6};?|[a-z][a-z0-9]{1,31};)"
    r"|\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2}|[\"'/\\])",
    re.IGNORECASE,
)
MOST_UNESCAPINGS = 2
# Keys of a stored value (`website_scan.values`) whose text never comes from a site.
OWN_KEYS = ("kind", "template")


def redacted(result: ScanResult, credentials: OriginCredentials | None) -> ScanResult:
    """Return the result without the values of the scan's credentials, in all usual encodings.

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
    """Return a JSON value with `clean` applied to every text. Keys are the scanner's own, and do not change."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {name: _clean_json(item, clean) for name, item in value.items()}
    return [_clean_json(item, clean) for item in value] if isinstance(value, list) else value


def _clean_values(value: Any, clean: Callable[[str], str]) -> Any:
    """Return the typed values of a finding with `clean` applied to every text that may come from a site."""
    if isinstance(value, Mapping):
        return {name: item if name in OWN_KEYS else _clean_values(item, clean) for name, item in value.items()}
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
    """Return a function that removes the secrets from a text. Pieces of the scan's own URL are not secrets."""
    forms = {form for value in _secrets(credentials) for form in _encodings(value)}
    words = [re.escape(form) for form in forms if len(form) < LONG]
    word = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE) if words else None
    own_url = url.translate(LOWER)
    pieces: dict[int, set[str]] = {}
    for form in forms:
        if (size := LONG if len(form) >= IN_PIECES else len(form)) >= LONG:
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
        return "".join(MASK if is_hidden else "".join(char for char, _ in run) for is_hidden, run in runs)

    return clean


def _unescaped_layers(text: str) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the text, then the text unescaped once and twice, each with the original position of every character.

    The positions include that of the end. A site may escape any of the characters, so the encodings of a value cannot
    be enumerated.
    """
    positions: Sequence[int] = range(len(text) + 1)
    yield text, positions
    for _ in range(MOST_UNESCAPINGS):
        if not ESCAPED.search(text):
            return
        text, positions = _unescaped(text, positions)
        yield text, positions


def _unescaped(text: str, positions: Sequence[int]) -> tuple[str, Sequence[int]]:
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
    """Yield each character that an escape represents, and the offset at which the character begins in the escape."""
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
        # Short user names such as admin are common, also as parts of addresses, so they are not hidden.
        if len(username) >= LONG:
            yield username
        yield ":".join(credentials.basic_auth)


def _encodings(value: str) -> Iterator[str]:
    """Yield the value as it is, URL-encoded, in JSON, in hexadecimal and in Base64; nothing if it is too short."""
    if len(value) < LEAST:
        return
    data = value.encode()
    yield from (value, value.replace(" ", "+"), json.dumps(value)[1:-1], data.hex())
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(data).decode().rstrip("=")
        # Within a longer encoded text, the value may begin at any bit of a character, so its first and last ones vary.
        for before in (1, 2):
            encoding = encode(bytes(before) + data).decode()[before + 1 : (before + len(data)) * 8 // 6]
            if len(encoding) >= LONG:
                yield encoding
