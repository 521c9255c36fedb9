"""The last step of a scan with credentials: whatever of them the site has repeated is taken out of the result."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote, quote_plus

import ada_url

from scans.engine.findings import EvidenceItem
from scans.engine.messages import MASK
from scans.engine.result import CategoryResult, CheckResult, ScanResult
from scans.net.credentials import Credentials, OriginCredentials

# A value as short as "1" or "en" is no secret, and stands everywhere.
LEAST = 4
# A shorter one is a word, perhaps: it is hidden where it stands alone.
LONG = 8
# Of a secret that was cut off, by ourselves or by a mask. Fewer characters say nothing of it.
PIECE = 5
REFUSED = (401, 403)


def redacted(result: ScanResult, given: OriginCredentials | None) -> ScanResult:
    """The result without the values of the scan's credentials, in whatever usual form they were repeated.

    What the scan was asked for (its URL) and what the catalogue says stay as they are. A page that refuses all the
    same gets a notice that says to whom the credentials were sent.
    """
    if given is None:
        return result
    clean = _cleaner(given.credentials)
    facts = {name: clean(value) if isinstance(value, str) else value for name, value in result.facts.items()}
    if notice := _notice(facts, given):
        facts["notice"] = " ".join(filter(None, (str(facts.get("notice", "")), notice)))
    waterfall = result.waterfall
    return replace(
        result,
        categories=tuple(_category(each, clean) for each in result.categories),
        skipped_checks=tuple(replace(each, reason=clean(each.reason)) for each in result.skipped_checks),
        error=result.error and replace(result.error, message=clean(result.error.message)),
        facts=facts,
        waterfall=waterfall
        and replace(waterfall, rows=tuple(replace(each, url=clean(each.url)) for each in waterfall.rows)),
    )


def _notice(facts: dict[str, str | int | float], given: OriginCredentials) -> str:
    status = facts.get("status")
    if status not in REFUSED:
        return ""
    try:
        origin = str(ada_url.URL(str(facts.get("final_url", ""))).origin)
    except ValueError:
        origin = ""
    if origin == given.origin:
        return f"The page answers with status {status} although it was asked with the scan's credentials."
    return (
        f"The page answers with status {status}. The scan's credentials were sent to {given.origin} only, and the page "
        f"is at {origin or 'another origin'}: start a scan of its own address."
    )


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


def _cleaner(credentials: Credentials) -> Callable[[str], str]:
    forms = sorted({form for value in _values(credentials) for form in _forms(value)}, key=len, reverse=True)
    short = [rf"(?<!\w){re.escape(form)}(?!\w)" for form in forms if len(form) < LONG]
    whole = re.compile("|".join([*(re.escape(form) for form in forms if len(form) >= LONG), *short]), re.IGNORECASE)
    long = [form for form in forms if len(form) >= LONG]

    def clean(text: str) -> str:
        if forms:
            text = whole.sub(MASK, text)
        for form in long:
            text = _without_pieces(text, form)
        return text

    return clean


def _without_pieces(text: str, secret: str) -> str:
    """Without a beginning or an end of the secret where the text was cut, or a part of it masked already."""
    start = re.escape(secret[:PIECE])
    for found in reversed([*re.finditer(start, text)]):
        length = _common(secret, text[found.start() :])
        if text[found.start() + length :].startswith(("…", MASK)) or found.start() + length == len(text):
            text = text[: found.start()] + MASK + text[found.start() + length :].removeprefix(MASK)
    end = re.escape(secret[-PIECE:])
    for found in reversed([*re.finditer(end, text)]):
        length = _common(secret[::-1], text[: found.end()][::-1])
        if text[: found.end() - length].endswith(("…", MASK)):
            text = text[: found.end() - length].removesuffix(MASK) + MASK + text[found.end() :]
    return text


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


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
        # Many are called admin, and many addresses are, too.
        if len(username) >= LONG:
            yield username
        yield ":".join(credentials.basic_auth)


def _forms(value: str) -> Iterator[str]:
    """The value as it is, and as it stands in addresses, markup, JSON and Base64; none where it is too short."""
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
