"""Tests for addresses in names, and for normal forms of mailboxes."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from accounts.addresses import mailbox, without_addresses
from accounts.models import Organization, User
from accounts.services import sign_up_token
from tests.factories import Member, browser_of, person_of

ADDRESSES = [
    "Your invoice is due: https://evil.example/pay",
    "pay at evil.com now",
    "Evil.COM",
    "www.evil",
    "evil.co.uk",
    "m\u00fcller.de",
    "xn--mller-kva.de",
    "evil.xn--p1ai",
    "ring billing@evil",
    "93.184.215.14",
    "http://evil",
    "evil\uff0ecom",
    "evil\u3002com",
    "evil\uff61com",
    "evil\u2024com",
    "\uff45\uff56\uff49\uff4c.com",
    "(evil.com)",
    "evil.com.",
    "a.co.kg",
]
NAMES = [
    "Acme, Inc.",
    "St. John's Hospital",
    "St.Gallen",
    "E.ON SE",
    "J.P. Morgan & Co.",
    "U.S. Steel",
    "Bakers GmbH & Co.KG",
    "Sakura Co.Ltd",
    "Sportverein 1899 e.V.",
    "Fratelli S.p.A.",
    "Node.js Foundation",
    "Yahoo! / Verizon",
    "R&D: web, mail",
    "Team 3.14",
    "10.000 Schritte",
    "v2.0.1",
    "\u682a\u5f0f\u4f1a\u793e\u30d1\u30f3\u5c4b\u3002",
    "Caf\u00e9 \u2026 and more",
]


@pytest.mark.parametrize("name", ADDRESSES)
def test_name_with_an_address_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="Use a name without web and e-mail addresses"):
        without_addresses(name)


@pytest.mark.parametrize("name", NAMES)
def test_names_with_punctuation_are_accepted(name: str) -> None:
    without_addresses(name)


@pytest.mark.parametrize(
    ("email", "expected"),
    [
        ("Ada@People.test", "ada@people.test"),
        ("ada+scans@people.test", "ada@people.test"),
        ("ada+a+b@people.test", "ada@people.test"),
        ("+ada@people.test", "+ada@people.test"),
        ("ada.l@people.test", "ada.l@people.test"),
        ("not an address", "not an address"),
    ],
)
def test_subaddress_belongs_to_the_same_mailbox(email: str, expected: str) -> None:
    assert mailbox(email) == expected


def test_forms_refuse_names_with_addresses(home: Member) -> None:
    owner = person_of(home, "owner", "ada@people.test")
    staff = browser_of(User.objects.create_superuser("root@people.test"))
    name = "Pay at evil.com"
    link = f"/signup/{sign_up_token('bob@people.test')}/"
    answers = [
        browser_of(owner).post("/o/home/settings/", {"name": name}),
        browser_of(owner).post("/organizations/new", {"organization": name}),
        Client().post(link, {"organization": name, "password": "correct horse 9"}),
        staff.post(f"/admin/accounts/organization/{home.organization.pk}/change/", {"name": name}),
        staff.post(f"/admin/accounts/user/{owner.pk}/change/", {"first_name": name}),
        staff.post(f"/admin/accounts/user/{owner.pk}/change/", {"last_name": name}),
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert "Use a name without web and e-mail addresses." in answer.content.decode()
    assert not Organization.objects.filter(name=name).exists()
