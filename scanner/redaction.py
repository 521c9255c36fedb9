"""Redaction: the last step of a scan with credentials removes every repetition of them from the result."""

from __future__ import annotations

import html
import itertools
import json
import re
import string
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any
from urllib.parse import quote, quote_plus

from scanner.document import Facts
from scanner.findings import EvidenceItem
from scanner.messages import MASK
from scanner.net.credentials import Credentials, OriginCredentials
from scanner.result import CategoryResult, CheckResult, ScanResult

# A value as short as "1" or "en" is not a secret, and occurs everywhere.
LEAST = 4
# A value shorter than this may be a word: hide it only where it stands alone.
LONG = 8
# From this length on, hide every piece of `LONG` characters: a quotation may be cut, escaped or masked in the middle.
IN_PIECES = 12
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
REFUSED = (401, 403)


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


def _category(category: CategoryResult, clean: Callable[[str], str]) -> CategoryResult:
    return replace(category, checks=tuple(_check(each, clean) for each in category.checks))


def _check(check: CheckResult, clean: Callable[[str], str]) -> CheckResult:
    return replace(
        check,
        message=clean(check.message),
        fix=check.fix and clean(check.fix),
        evidence=tuple(_item(each, clean) for each in check.evidence),
    )


def _item(item: EvidenceItem, clean: Callable[[str], str]) -> EvidenceItem:
    return {clean(name): clean(value) if isinstance(value, str) else value for name, value in item.items()}


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

    def clean(text: str) -> str:
        lower = text.translate(LOWER)
        hidden = bytearray(len(text))
        for size, known in pieces.items():
            for at in range(len(text) - size + 1):
                if lower[at : at + size] in known:
                    hidden[at : at + size] = b"\1" * size
        if 1 in hidden:
            runs = itertools.groupby(zip(text, hidden, strict=True), key=itemgetter(1))
            text = "".join(MASK if is_hidden else "".join(char for char, _ in run) for is_hidden, run in runs)
        return word.sub(MASK, text) if word else text

    return clean


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
    """Return the value plain and as encoded in addresses, markup, JSON and Base64; nothing if it is too short."""
    data = value.encode()
    encoded: Iterable[str] = (
        value,
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        html.escape(value),
        json.dumps(value)[1:-1],
        *(each.decode().rstrip("=") for each in (b64encode(data), urlsafe_b64encode(data))),
    )
    return (each for each in encoded if len(value) >= LEAST)
