"""The autocomplete attribute (HTML Standard, section 4.10.18.7.1), with what axe-core tolerates beyond it."""

from __future__ import annotations

from enum import Enum, auto


class Purpose(Enum):
    """What an autocomplete attribute comes to."""

    VALID = auto()
    UNCERTAIN = auto()  # no token of the standard, but perhaps a name that was meant for people
    INVALID = auto()


SWITCHES = frozenset({"on", "off"})
# Habits that switch autofill on or off in one browser or another, and mislead nobody.
TOLERATED = frozenset({"none", "false", "true", "disabled", "enabled", "undefined", "null", "xon", "xoff"})
NOT_JUDGED = frozenset({"text", "pronouns", "gender", "message", "content"})
SECTION = "section-"
LOCATIONS = frozenset({"shipping", "billing"})
# Which of several telephones or addresses for messages: only before a field of CONTACT_FIELDS.
CONTACTS = frozenset({"home", "work", "mobile", "fax", "pager"})
CONTACT_FIELDS = frozenset(
    {"tel", "tel-country-code", "tel-national", "tel-area-code", "tel-local", "tel-local-prefix", "tel-local-suffix"}
    | {"tel-extension", "email", "impp"}
)
FIELDS = frozenset(
    {"name", "honorific-prefix", "given-name", "additional-name", "family-name", "honorific-suffix", "nickname"}
    | {"username", "new-password", "current-password", "one-time-code", "organization-title", "organization"}
    | {"street-address", "address-line1", "address-line2", "address-line3", "address-level4", "address-level3"}
    | {"address-level2", "address-level1", "country", "country-name", "postal-code", "cc-name", "cc-given-name"}
    | {"cc-additional-name", "cc-family-name", "cc-number", "cc-exp", "cc-exp-month", "cc-exp-year", "cc-csc"}
    | {"cc-type", "transaction-currency", "transaction-amount", "language", "bday", "bday-day", "bday-month"}
    | {"bday-year", "sex", "url", "photo"}
)
CREDENTIAL = "webauthn"


def purpose(value: str) -> Purpose:
    """Judge an attribute's value: [section-*] [shipping|billing] ([contact] contact field|field) [webauthn]."""
    tokens = value.lower().split()
    if not tokens or (len(tokens) == 1 and tokens[0] in SWITCHES | TOLERATED):
        return Purpose.VALID
    if tokens[-1] == CREDENTIAL:
        tokens.pop()
    if tokens and tokens[0].startswith(SECTION) and tokens[0] != SECTION:
        tokens.pop(0)
    if tokens and tokens[0] in LOCATIONS:
        tokens.pop(0)
    fields = FIELDS | CONTACT_FIELDS
    if tokens and tokens[0] in CONTACTS:
        tokens.pop(0)
        fields = CONTACT_FIELDS
    if len(tokens) != 1:
        return Purpose.INVALID
    if tokens[0] in NOT_JUDGED:
        return Purpose.UNCERTAIN
    return Purpose.VALID if tokens[0] in fields else Purpose.INVALID
