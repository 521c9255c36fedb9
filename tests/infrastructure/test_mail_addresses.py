"""Tests that Python and PostgreSQL normalize addresses in the same way.

Sources: SpecialCasing.txt and CaseFolding.txt of Unicode for letters whose case depends on language or length, RFC 3490
(IDNA 2003, by which Django sends mail) for domains.
"""

from __future__ import annotations

import pytest
from django.db import connection

from accounts.models import User
from infrastructure.mail_addresses import MAX_CHARACTERS, domain_of, normal_form, sql_normal_form, with_normal_domain

ADDRESS = "ada.lovelace-isk@people.example.com"
# All these spellings of ADDRESS reach the same mailbox.
SAME = {
    "upper case": "ADA.LOVELACE-ISK@PEOPLE.EXAMPLE.COM",
    "spaces": f"  {ADDRESS}\t",
    "fullwidth domain": "ada.lovelace-isk@\uff50eople.example.com",
    "fullwidth capital of the domain": "ada.lovelace-isk@\uff30eople.example.com",
    "mathematical letter in the domain": "ada.lovelace-isk@\U0001d429eople.example.com",
    "ideographic full stop": "ada.lovelace-isk@people\u3002example.com",
    "soft hyphen in the domain": "ada.lovelace-isk@peo\u00adple.example.com",
}
# Addresses that only look like ADDRESS.
OTHERS = {
    "dotted capital I": ADDRESS.replace("i", "\u0130"),
    "dotless i": ADDRESS.replace("i", "\u0131"),
    "i with combining dot": ADDRESS.replace("i", "i\u0307"),
    "long s": ADDRESS.replace("s", "\u017f"),
    "Kelvin sign": ADDRESS.replace("k", "\u212a"),
    "fullwidth letter before the @": "\uff41da.lovelace-isk@people.example.com",
    "Cyrillic a": ADDRESS.replace("a", "\u0430", 1),
    "accent": ADDRESS.replace("a", "\u00e1", 1),
    "zero-width space": ADDRESS.replace(".", ".\u200b", 1),
    "dotted capital I in the domain": "ada.lovelace-isk@people.example.com".replace("people", "peop\u0130e"),
    "subaddress": ADDRESS.replace("@", "+x@"),
}
# Locale and version decide how PostgreSQL and Python fold these letters.
UNICODE = [
    *SAME.values(),
    *OTHERS.values(),
    "\u039f\u0394\u039f\u03a3@example.com",  # Capital sigma at the end of a word.
    "stra\u1e9ee@stra\u1e9ee.de",
    "\u01c5@example.com",
    "\U00010400@example.com",
    "\u10a0\ua64a\u0345@example.com",
    "ada@M\u00dcLLER.de",
    "ada@xn--mller-kva.de",
    "ada@XN--MLLER-KVA.de",
    "ada@fa\u00df.de",
    "ada@xn--fa-hia.de",
    "ada@xn--.example.com",
    "ada@\u0130stanbul.example.com",
    "ada@\u212aelvin.example.com",
    "ada@" + "\u00e4" * 80 + ".com",
]


@pytest.mark.parametrize("spelling", SAME.values(), ids=SAME)
def test_spellings_have_the_same_normal_form(spelling: str) -> None:
    assert normal_form(spelling) == ADDRESS


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_lookalike_addresses_stay_different(other: str) -> None:
    assert normal_form(other) != ADDRESS


@pytest.mark.parametrize("email", UNICODE)
def test_normal_form_is_idempotent(email: str) -> None:
    assert normal_form(normal_form(email)) == normal_form(email) == normal_form(with_normal_domain(email))


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ("MÜLLER.de", "müller.de"),
        ("xn--mller-kva.de", "müller.de"),
        ("XN--Mller-KVA.de", "müller.de"),
        ("faß.de", "fass.de"),  # Django sends mail for this domain to fass.de.
        ("xn--fa-hia.de", "xn--fa-hia.de"),  # This domain has no other spelling in IDNA 2003.
        ("\u212aelvin.example", "kelvin.example"),
        ("", ""),
    ],
)
def test_domain_of_returns_the_mail_domain(domain: str, expected: str) -> None:
    assert domain_of(f"ada@{domain}") == expected


def test_too_long_domain_is_not_normalized() -> None:
    assert domain_of("ada@" + "\uff41" * (MAX_CHARACTERS + 1)) == "\uff41" * (MAX_CHARACTERS + 1)


@pytest.mark.django_db
@pytest.mark.parametrize("email", UNICODE)
def test_postgresql_normalizes_like_python(email: str) -> None:
    with connection.cursor() as cursor:
        # The SQL expression is a constant, not user input.
        cursor.execute(f"SELECT {sql_normal_form('%s::text')}", [with_normal_domain(email)])
        assert cursor.fetchone() == (normal_form(email),)


@pytest.mark.django_db
@pytest.mark.parametrize("email", UNICODE)
def test_any_spelling_finds_the_account(email: str) -> None:
    user = User.objects.create_user(email)
    assert User.objects.get_by_natural_key(email) == user
    assert User.objects.get_by_natural_key(user.email) == user
    assert User.objects.get_by_natural_key(normal_form(email)) == user


@pytest.mark.django_db
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_lookalike_does_not_find_the_account(other: str) -> None:
    User.objects.create_user(ADDRESS)
    with pytest.raises(User.DoesNotExist):
        User.objects.get_by_natural_key(other)


@pytest.mark.django_db
@pytest.mark.parametrize("stored", ["ada@müller.de", "ada@xn--mller-kva.de", "ADA@MÜLLER.de"])
@pytest.mark.parametrize("typed", ["ada@müller.de", "ada@xn--mller-kva.de", "Ada@MÜLLER.de"])
def test_old_domain_spelling_finds_the_account(stored: str, typed: str) -> None:
    user = User(email=stored)
    user.save()
    assert User.objects.get_by_natural_key(typed) == user


@pytest.mark.django_db
@pytest.mark.parametrize("typed", ["", "a\0@example.com", "a" * 300, None])
def test_invalid_address_finds_nobody(typed: str | None) -> None:
    with pytest.raises(User.DoesNotExist):
        User.objects.get_by_natural_key(typed)
