"""Parser of security.txt (RFC 9116), which finds faults in the file."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from website_scan.net.http.response import Response
from website_scan.page.encodings import charset, encoding_of_label, is_utf_8
from website_scan.security.evidence import SecurityTxt
from website_scan.urls import Url, normal_form
from website_scan.values import Address, Clause, Excerpt, Word

SECURITY_TXT_FIELD = re.compile(r"([A-Za-z][A-Za-z-]{0,40}):(.*)")
SECURITY_TXT_FIELDS = frozenset(
    {"acknowledgments", "canonical", "contact", "encryption", "expires", "hiring", "policy", "preferred-languages"}
)
# Web addresses in these fields begin with https:// (RFC 9116, section 2.5).
SECURITY_TXT_LINKS = ("acknowledgments", "canonical", "contact", "encryption", "hiring", "policy")
SECURITY_TXT_CONTACT = re.compile(r"(?:mailto:[^\s@]+@[^\s@]+|https://\S+|tel:\S+)", re.IGNORECASE)
# Date and time format of RFC 3339, section 5.6.
RFC_3339_DATE = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)")


def transport_faults(response: Response) -> Iterator[tuple[str, Clause]]:
    """Yield faults in the file's media type and encoding.

    RFC 9116, section 3; RFC 5198, section 2.
    """
    content_type = response.headers.get("Content-Type") or ""
    media_type = content_type.partition(";")[0].strip().lower()
    if not media_type:
        yield "media-type", Clause.of("it is sent without a media type, not as text/plain")
    elif media_type != "text/plain":
        yield (
            "media-type",
            Clause.of("it is sent as {media_type}, not as text/plain", media_type=Excerpt(media_type, 60)),
        )
    label = charset(content_type)
    if label is not None and encoding_of_label(label) != "utf-8":
        yield "charset", Clause.of("it is sent with the charset {charset}, not utf-8", charset=Excerpt(label, 60))
    elif not is_utf_8(response.body, is_whole=not response.truncated):
        yield "charset", Clause.of("it is not encoded in UTF-8")
    if response.body.startswith(codecs.BOM_UTF8):
        yield "byte-order-mark", Clause.of("it begins with a byte order mark, which hides the first field")


def syntax_faults(fields: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Clause]]:
    """Yield syntax faults in known fields.

    RFC 9116, sections 2.5 and 4.
    """
    for name, value in fields:
        if name in SECURITY_TXT_FIELDS and value and not value.startswith(" "):
            yield "no-space", Clause.of("{field} has no space after the colon", field=Word(name.capitalize()))
            break
    has_contact = any(name == "contact" and SECURITY_TXT_CONTACT.fullmatch(value.strip()) for name, value in fields)
    for name, value in fields:
        if name == "contact" and not has_contact:
            continue  # The fault of the contact is enough.
        if name in SECURITY_TXT_LINKS and value.strip().lower().startswith("http:"):
            yield "http-link", Clause.of("{field} is not an https: address", field=Word(name.capitalize()))
            break
    if sum(name == "preferred-languages" for name, _ in fields) > 1:
        yield "repeated", Clause.of("Preferred-Languages is given more than once")


def canonical_faults(file: SecurityTxt, fields: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Clause]]:
    """Yield a fault if the file's address is not among its Canonical fields.

    RFC 9116, section 2.5.2.
    """
    canonicals = [value for name, value in fields if name == "canonical"]
    urls = [Url.parse(text) for text in (file.requested_url, file.response.url if file.response else "")]
    own = {normal_form(url.href) for url in urls if url is not None}
    if canonicals and not any((url := Url.parse(value)) and normal_form(url.href) in own for value in canonicals):
        yield "canonical", Clause.of("Canonical names {url}, not this address", url=Address(canonicals[0]))


def content_faults(fields: Sequence[tuple[str, str]], now: datetime) -> Iterator[tuple[str, Clause]]:
    """Yield the faults of security.txt as (outcome, clause).

    The outcome applies if the file has only one fault.
    """
    contacts = [value for name, value in fields if name == "contact"]
    if not contacts:
        yield "no-contact", Clause.of("Contact is missing")
    elif not any(SECURITY_TXT_CONTACT.fullmatch(value) for value in contacts):
        yield "no-contact", Clause.of("no Contact is a mailto:, https: or tel: address")
    expiries = [value for name, value in fields if name == "expires"]
    if not expiries:
        yield "no-expiry", Clause.of("Expires is missing")
    elif len(expiries) > 1:
        yield "no-expiry", Clause.of("Expires is given more than once")
    elif (moment := _parse_date(expiries[0])) is None:
        yield "no-expiry", Clause.of("Expires cannot be read: “{expires}”", expires=Excerpt(expiries[0], 60))
    elif moment <= now:
        yield "expired", Clause.of("it expired on {day}", day=Word(str(moment.date())))


def _parse_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.upper().replace(" ", "T")) if RFC_3339_DATE.fullmatch(text) else None
    except ValueError:
        return None
