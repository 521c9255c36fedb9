"""Normalize e-mail addresses, and refuse web and e-mail addresses in names."""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError

from infrastructure.mail_addresses import normal_form
from website_scan.page.registrable_domain import is_public_name

# Regular expression for subaddresses (RFC 5233), such as "ada+scans@example.com", and its replacement. Python and
# PostgreSQL use both.
SUBADDRESS = r"^([^+@]+)[+][^@]*@"
MAILBOX = r"\1@"
# Regular expressions for text that readers or mail programs take for an address: URLs, IPv4 addresses, dotted names.
ADDRESS_PATTERN = re.compile(r"@|://|\bwww\.", re.IGNORECASE)
IPV4 = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
DOTTED_NAME = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]++)++")
IDEOGRAPHIC_FULL_STOP = "\u3002"  # Browsers treat this character as a dot in host names.
# Legal forms of companies that look like a domain if the space is missing, as in "Bakers Co.KG".
LEGAL_FORMS = frozenset({"co.kg", "co.ltd", "co.inc", "co.llc", "pvt.ltd", "pte.ltd"})


def mailbox(email: str) -> str:
    """Return an e-mail address's normal form without a subaddress, so that limits apply per mailbox.

    If a provider treats "+" as an ordinary letter, two people share a limit.
    """
    return re.sub(SUBADDRESS, MAILBOX, normal_form(email))


def without_addresses(name: str) -> None:
    """Validate that a name contains no web or e-mail address, because e-mails to strangers contain these names."""
    plain = unicodedata.normalize("NFKC", name).replace(IDEOGRAPHIC_FULL_STOP, ".")
    if ADDRESS_PATTERN.search(plain) or IPV4.search(plain) or any(map(_is_host_name, DOTTED_NAME.findall(plain))):
        raise ValidationError("Use a name without web and e-mail addresses.")


def _is_host_name(word: str) -> bool:
    return word.lower() not in LEGAL_FORMS and is_public_name(word)
