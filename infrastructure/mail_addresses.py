"""Normal form for e-mail addresses.

Python and PostgreSQL use it to find people and apply limits.

PostgreSQL's `lower` depends on the database's locale, and Python's on its version of Unicode: one of them makes `i` of
`İ` (U+0130), the other does not. So the normal form folds ASCII letters only, which both do alike. Its domain is the
one to which Django sends the mail, because each fullwidth letter of a domain reaches the same mailbox as an ASCII one.
"""

from __future__ import annotations

import string

from django.db.models import TextField
from django.db.models.expressions import Combinable
from django.db.models.functions import Collate, Lower
from django.utils.encoding import punycode

# Maximum length of an address in an e-mail (RFC 5321, section 4.5.3.1.3). Longer text is not an address.
MAX_CHARACTERS = 254
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def normal_form(email: str) -> str:
    """Return an address's normal form.

    Other text is stripped, and its ASCII letters become lower case.
    """
    local, at, domain = email.strip().rpartition("@")
    return f"{local.translate(_ASCII_LOWER)}{at}{normal_domain(domain)}"


def normal_domain(domain: str) -> str:
    """Return a domain in lower case and in Unicode.

    `MÜLLER.de` and `xn--mller-kva.de` both become `müller.de`.
    """
    lower = domain.translate(_ASCII_LOWER)
    if len(domain) > MAX_CHARACTERS or (domain.isascii() and "xn--" not in lower):
        return lower
    try:
        return punycode(lower).encode("ascii").decode("idna").translate(_ASCII_LOWER)
    except UnicodeError:
        # Nobody can send e-mail to this text, because it is not a domain.
        return lower


def with_normal_domain(email: str) -> str:
    """Return an address for storage.

    The part before the `@` is unchanged, and the domain has its normal form.
    """
    local, at, domain = email.strip().rpartition("@")
    return f"{local}{at}{normal_domain(domain)}"


def domain_of(email: str) -> str:
    """Return the normal form of the domain in an address."""
    return normal_domain(email.strip().rpartition("@")[2])


def spellings(email: str) -> set[str]:
    """Return all spellings of an address that old rows may contain.

    Addresses had no normal form when these rows were stored.
    """
    local, at, domain = normal_form(email).rpartition("@")
    stored = {email.strip().translate(_ASCII_LOWER), f"{local}{at}{domain}"}
    try:
        return {*stored, f"{local}{at}{punycode(domain)}"}
    except UnicodeError:
        return stored


def sql_normal_form(expression: str) -> str:
    """Return an SQL expression for a stored address's normal form."""
    return f'lower({expression} COLLATE "C")'


class NormalForm(Lower):
    """Database function that returns a stored address's normal form."""

    def __init__(self, expression: Combinable | str) -> None:
        super().__init__(Collate(expression, "C"), output_field=TextField())
