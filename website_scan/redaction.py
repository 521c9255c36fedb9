"""Redaction: the last step of a scan with credentials removes every repetition of them from the result."""

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

# A value as short as "1" or "en" is not a secret, and occurs everywhere.
LEAST = 4
# A value shorter than this may be a word: hide it only where it stands alone.
LONG = 8
# From this length on, hide every piece of `LONG` characters: a quotation may be cut, escaped or masked in the middle.
IN_PIECES = 12
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
REFUSED = (401, 403)
# Escapes of addresses, of markup, and of JSON and scripts. A text inside another one is escaped twice.
ESCAPED = re.compile(
    r"(?:%[0-9a-f]{2})+"
    r"|&(?:#[0-9]{1,7};?|#x[0-9a-f]{1,6};?|[a-z][a-z0-9]{1,31};)"
    r"|\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2}|[\"'/\\])",
    re.IGNORECASE,
)
UNESCAPED = 2
# Parts of a stored value (`website_scan.values`) that no site writes.
OWN = ("kind", "template")


def redacted(result: ScanResult, given: OriginCredentials | None) -> ScanResult:
    """Return the result without the values of the scan's credentials, in all usual encodings.

    The scan's URL and the catalogue's texts stay as they are. If the page refuses access in spite of the credentials,
    the result gets a notice that names the origin they are sent to.
    """
    if given is None:
        return result
    clean = _cleaner(given.credentials, result.url)
    facts: Facts = _all_of(result.facts, clean)
    if notice := _notice(facts, given):
        facts["notice"] = " ".join(filter(None, (facts.get("notice", ""), notice)))
    waterfall = result.waterfall
    return replace(
        result,
        categories=tuple(_category(each, clean) for each in result.categories),
        skipped_checks=tuple(replace(each, reason=clean(each.reason)) for each in result.skipped_checks),
        error=result.error and replace(result.error, message=clean(result.error.message)),
        facts=facts,
        exhibits=_all_of(result.exhibits, clean),
        site=_all_of(result.site, clean),
        waterfall=waterfall
        and replace(waterfall, rows=tuple(replace(each, url=clean(each.url)) for each in waterfall.rows)),
    )


def _notice(facts: Facts, given: OriginCredentials) -> str:
    if facts.get("status") not in REFUSED:
        return ""
    return (
        f"The page answers with status {facts['status']}. The scan's credentials are for {given.origin} only: where it "
        "redirects to another origin, or its certificate is not trusted, they are not sent."
    )


def _all_of(value: Any, clean: Callable[[str], str]) -> Any:
    """Clean every text in a JSON value; names are the scanner's own, and stay."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {name: _all_of(each, clean) for name, each in value.items()}
    return [_all_of(each, clean) for each in value] if isinstance(value, list) else value


def _values_of(value: Any, clean: Callable[[str], str]) -> Any:
    """Clean the typed values of a finding; their kinds and templates are the scanner's own, and stay."""
    if isinstance(value, Mapping):
        return {name: each if name in OWN else _values_of(each, clean) for name, each in value.items()}
    if isinstance(value, list):
        return [_values_of(each, clean) for each in value]
    return clean(value) if isinstance(value, str) else value


def _category(category: CategoryResult, clean: Callable[[str], str]) -> CategoryResult:
    return replace(category, checks=tuple(_check(each, clean) for each in category.checks))


def _check(check: CheckResult, clean: Callable[[str], str]) -> CheckResult:
    return replace(
        check,
        title=clean(check.title),
        summary=clean(check.summary),
        values=_values_of(check.values, clean),
        how_to_fix=check.how_to_fix and replace(check.how_to_fix, text=clean(check.how_to_fix.text)),
        places=check.places.mapped(clean),
        details=check.details.mapped(clean),
        includes=tuple(map(clean, check.includes)),
    )


def _cleaner(credentials: Credentials, url: str) -> Callable[[str], str]:
    """Return a function that removes the secrets from a text. Pieces of the scan's own URL are not secrets."""
    forms = {form for value in _values(credentials) for form in _forms(value)}
    words = [re.escape(form) for form in forms if len(form) < LONG]
    word = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE) if words else None
    shown = url.translate(LOWER)
    pieces: dict[int, set[str]] = {}
    for form in forms:
        if (size := LONG if len(form) >= IN_PIECES else len(form)) >= LONG:
            lower = form.translate(LOWER)
            found = {lower[at : at + size] for at in range(len(lower) - size + 1)}
            pieces.setdefault(size, set()).update(each for each in found if each not in shown)

    def secrets(text: str) -> Iterator[tuple[int, int]]:
        lower = text.translate(LOWER)
        for size, known in pieces.items():
            yield from ((at, at + size) for at in range(len(text) - size + 1) if lower[at : at + size] in known)
        if word:
            yield from (found.span() for found in word.finditer(text))

    def clean(text: str) -> str:
        hidden = bytearray(len(text))
        for layer, places in _layers(text):
            for begin, end in secrets(layer):
                hidden[places[begin] : places[end]] = b"\1" * (places[end] - places[begin])
        if 1 not in hidden:
            return text
        runs = itertools.groupby(zip(text, hidden, strict=True), key=itemgetter(1))
        return "".join(MASK if is_hidden else "".join(char for char, _ in run) for is_hidden, run in runs)

    return clean


def _layers(text: str) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield the text, then what it says unescaped once and twice, each with the place of every character and the end.

    A site may escape any of the characters, so not all forms of a value can be listed.
    """
    places: Sequence[int] = range(len(text) + 1)
    yield text, places
    for _ in range(UNESCAPED):
        if not ESCAPED.search(text):
            return
        text, places = _unescaped(text, places)
        yield text, places


def _unescaped(text: str, places: Sequence[int]) -> tuple[str, Sequence[int]]:
    parts: list[str] = []
    kept: list[int] = []
    at = 0
    for found in ESCAPED.finditer(text):
        parts.append(text[at : found.start()])
        kept += places[at : found.start()]
        for char, offset in _meant(found[0]):
            parts.append(char)
            kept.append(places[found.start() + offset])
        at = found.end()
    return "".join([*parts, text[at:]]), [*kept, *places[at:]]


def _meant(escaped: str) -> Iterator[tuple[str, int]]:
    """Yield each character that the escape stands for, and where in the escape it begins."""
    if escaped[0] == "%":
        at = 0
        for char in bytes.fromhex(escaped.replace("%", "")).decode(errors="surrogateescape"):
            yield char, at
            at += 3 * len(char.encode(errors="surrogateescape"))
    elif escaped[0] == "&":
        meant = html.unescape(escaped)
        yield from ((char, at if meant == escaped else 0) for at, char in enumerate(meant))
    elif escaped[1] in "uUxX":
        yield chr(min(int(escaped[2:].strip("{}"), 16), sys.maxunicode)), 0
    else:
        yield escaped[1], 0


def _values(credentials: Credentials) -> Iterator[str]:
    for name, value in credentials.headers:
        yield value
        if name.lower() == "authorization":
            yield value.partition(" ")[2]
    for _, value in credentials.cookies:
        yield value.strip('"')
    if credentials.basic_auth is not None:
        username, password = credentials.basic_auth
        yield password
        # Short user names such as admin are common, also as parts of addresses.
        if len(username) >= LONG:
            yield username
        yield ":".join(credentials.basic_auth)


def _forms(value: str) -> Iterator[str]:
    """Yield the value as it is, in forms, JSON, hexadecimal and Base64; nothing if it is too short."""
    if len(value) < LEAST:
        return
    data = value.encode()
    yield from (value, value.replace(" ", "+"), json.dumps(value)[1:-1], data.hex())
    for encode in (b64encode, urlsafe_b64encode):
        yield encode(data).decode().rstrip("=")
        # Inside a longer text, the value begins at any bit of a character. Its first and last one hold other bits, too.
        for before in (1, 2):
            form = encode(bytes(before) + data).decode()[before + 1 : (before + len(data)) * 8 // 6]
            if len(form) >= LONG:
                yield form
