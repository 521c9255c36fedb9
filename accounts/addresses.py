"""E-mail addresses: which of them reach the same mailbox."""

from __future__ import annotations

import re

# Subaddresses (RFC 5233): "ada+scans@example.com" reaches Ada. For Python and for PostgreSQL; replace it by MAILBOX.
SUBADDRESS = r"^([^+@]+)[+][^@]*@"
MAILBOX = r"\1@"


def mailbox(email: str) -> str:
    """Return the address of the mailbox, in lower case and without a subaddress. Limits count by it.

    Where "+" is an ordinary letter, two people share a limit.
    """
    return re.sub(SUBADDRESS, MAILBOX, email.strip().lower())
