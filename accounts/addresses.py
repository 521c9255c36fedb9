"""Addresses: which e-mail addresses reach the same mailbox, and names without addresses in them."""

from __future__ import annotations

import re
import unicodedata

from django.core.exceptions import ValidationError

from website_scan.page.registrable_domain import is_public_name

# Subaddresses (RFC 5233): "ada+scans@example.com" reaches Ada. For Python and for PostgreSQL; replace it by MAILBOX.
SUBADDRESS = r"^([^+@]+)[+][^@]*@"
MAILBOX = r"\1@"
# What a reader or a mail program takes for an address: marks of one, numbers of IPv4, and names with dots in between.
MARKED = re.compile(r"@|://|\bwww\.", re.IGNORECASE)
IPV4 = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
DOTTED = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]++)++")
IDEOGRAPHIC_STOP = "\u3002"  # browsers read it as a dot in host names
# Legal forms that end like a domain when the space is missing, as in "Bakers Co.KG".
LEGAL_FORMS = frozenset({"co.kg", "co.ltd", "co.inc", "co.llc", "pvt.ltd", "pte.ltd"})


def mailbox(email: str) -> str:
    """Return the address of the mailbox, in lower case and without a subaddress. Limits count by it.

    Where "+" is an ordinary letter, two people share a limit.
    """
    return re.sub(SUBADDRESS, MAILBOX, email.strip().lower())


def without_addresses(name: str) -> None:
    """Validator of names of organizations and people: they stand in e-mails to strangers, which must not lead away."""
    plain = unicodedata.normalize("NFKC", name).replace(IDEOGRAPHIC_STOP, ".")
    if MARKED.search(plain) or IPV4.search(plain) or any(map(_is_host, DOTTED.findall(plain))):
        raise ValidationError("Use a name without web and e-mail addresses.")


def _is_host(word: str) -> bool:
    return word.lower() not in LEGAL_FORMS and is_public_name(word)
