"""Mailboxes of e-mail addresses, and a validator for names that must not contain addresses."""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError

from website_scan.page.registrable_domain import is_public_name

# Pattern of a subaddress (RFC 5233), such as "ada+scans@example.com", and its replacement, for Python and PostgreSQL.
SUBADDRESS = r"^([^+@]+)[+][^@]*@"
MAILBOX = r"\1@"
# Patterns of text that a reader or a mail program takes for an address: URLs, IPv4 addresses and names with dots.
ADDRESS_MARK = re.compile(r"@|://|\bwww\.", re.IGNORECASE)
IPV4 = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
DOTTED = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]++)++")
IDEOGRAPHIC_STOP = "\u3002"  # Browsers treat this character as a dot in host names.
# Legal forms that end like a domain when the space is missing, as in "Bakers Co.KG".
LEGAL_FORMS = frozenset({"co.kg", "co.ltd", "co.inc", "co.llc", "pvt.ltd", "pte.ltd"})


def mailbox(email: str) -> str:
    """Return the address of the mailbox, in lower case and without a subaddress, for limits per mailbox.

    If a provider treats "+" as an ordinary letter, two people share a limit.
    """
    return re.sub(SUBADDRESS, MAILBOX, email.strip().lower())


def without_addresses(name: str) -> None:
    """Refuse addresses in names of organizations and people, because e-mails to strangers contain these names."""
    plain = unicodedata.normalize("NFKC", name).replace(IDEOGRAPHIC_STOP, ".")
    if ADDRESS_MARK.search(plain) or IPV4.search(plain) or any(map(_is_host, DOTTED.findall(plain))):
        raise ValidationError("Use a name without web and e-mail addresses.")


def _is_host(word: str) -> bool:
    return word.lower() not in LEGAL_FORMS and is_public_name(word)
