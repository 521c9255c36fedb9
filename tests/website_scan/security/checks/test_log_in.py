from __future__ import annotations

from typing import Any

import pytest

from tests.website_scan.cast import outcome, rows
from tests.website_scan.journey_cast import cookie, journey_state
from tests.website_scan.security.cast import page
from website_scan.journeys.walk import PasswordField, StorageEntry
from website_scan.security.checks import log_in as checks

OLD, NEW = cookie("sessionid", "old"), cookie("sessionid", "new")
LANGUAGE, AUTH = cookie("lang", "en"), cookie("shop_key", "a")
TOKEN = StorageEntry("localStorage", "jwt", "token", 200)
SECRET = StorageEntry("sessionStorage", "form", "secret", 20)
OTHER = StorageEntry("localStorage", "theme", "other", 4)
PASSWORD_PAGE = '<html><body><form><input name="p" type="password"></form></body></html>'
PRIVATE_PAGE = "<html><body><p>Signed in as {{user}}</p></body></html>"
DAY_S = 86_400.0


@pytest.mark.parametrize(
    ("blocked", "expected"),
    [((), "n/a"), ((False,), "pass"), ((True,), "blocked"), ((False, True), "blocked"), ((False, False), "pass")],
)
def test_password_paste(blocked: tuple[bool, ...], expected: str) -> None:
    fields = tuple(PasswordField(f"#p{number}", "Password", value) for number, value in enumerate(blocked))
    assert outcome(checks.password_paste(journey_state(security={"password_fields": fields}))) == expected


def test_password_paste_names_the_fields_that_block_it() -> None:
    fields = (PasswordField("#old", "Old", blocks_paste=False), PasswordField("#new", "New", blocks_paste=True))
    finding = checks.password_paste(journey_state(security={"password_fields": fields}))
    assert rows(finding) == [{"name": "New", "selector": "#new"}]


@pytest.mark.parametrize(
    ("before", "after", "fields", "expected"),
    [
        ([OLD], [OLD], {}, "same"),
        ([OLD], [NEW], {}, "pass"),
        ([], [NEW], {}, "pass"),
        ([LANGUAGE], [LANGUAGE], {}, "n/a"),  # No cookie has the name of a session.
        ([OLD], [OLD, AUTH], {}, "n/a"),  # The log-in may be in the other cookie.
        ([OLD], [OLD], {"security": {"storage": (TOKEN,)}}, "n/a"),  # The log-in may be in the token.
        ([OLD], [OLD], {"document": PASSWORD_PAGE}, "n/a"),  # The password was wrong.
        (None, [OLD], {}, "n/a"),  # The journey has typed no secret.
        ([cookie("sid", domain="cdn.example.net")], [cookie("sid", domain="cdn.example.net")], {}, "n/a"),
    ],
)
def test_session_fixation(before: Any, after: Any, fields: dict[str, Any], expected: str) -> None:
    state = journey_state(before=before, cookies=after, **fields)
    assert outcome(checks.session_fixation(state, page())) == expected


@pytest.mark.parametrize(
    ("lifetime_s", "expected"),
    [(None, "pass"), (30 * DAY_S, "pass"), (90 * DAY_S, "pass"), (91 * DAY_S, "long"), (365 * DAY_S, "long")],
)
def test_session_lifetime(lifetime_s: float | None, expected: str) -> None:
    state = journey_state(before=[OLD], cookies=[cookie("sessionid", "new", expires_in_s=lifetime_s)])
    assert outcome(checks.session_lifetime(state, page())) == expected


def test_session_lifetime_without_log_in_is_not_applicable() -> None:
    state = journey_state(cookies=[cookie("sessionid", expires_in_s=900 * DAY_S)])
    assert outcome(checks.session_lifetime(state, page())) == "n/a"


@pytest.mark.parametrize(
    ("before", "addresses", "expected"),
    [
        ([OLD], ("https://site.example.com/session?password={{password}}",), "sent"),
        ([OLD], (), "pass"),
        (None, (), "n/a"),
    ],
)
def test_secret_in_address(before: Any, addresses: tuple[str, ...], expected: str) -> None:
    state = journey_state(before=before, security={"secrets_in_addresses": addresses})
    assert outcome(checks.secret_in_address(state)) == expected


@pytest.mark.parametrize(
    ("before", "storage", "expected"),
    [
        ([OLD], (OTHER,), "pass"),
        ([OLD], (OTHER, TOKEN), "token"),
        ([OLD], (TOKEN, SECRET), "secret"),
        (None, (TOKEN,), "n/a"),  # Anonymous visitors have tokens of analytics, too.
    ],
)
def test_token_in_storage(before: Any, storage: tuple[StorageEntry, ...], expected: str) -> None:
    state = journey_state(before=before, security={"storage": storage})
    assert outcome(checks.token_in_storage(state)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("no-store", "pass"),
        ("private, no-store", "pass"),
        ("No-Store", "pass"),
        ("private, max-age=60", "stored"),
        ("no-cache", "stored"),
        ("", "stored"),
        ("public, max-age=60", "shared"),
        ("s-maxage=60", "shared"),
        ("private, s-maxage=60", "stored"),  # Shared caches must not store it.
        ("public, no-store", "pass"),
    ],
)
def test_private_cache(value: str, expected: str) -> None:
    headers = [("Cache-Control", value)] if value else []
    state = journey_state(before=[OLD], cookies=[NEW], document=PRIVATE_PAGE, is_navigation=True)
    assert outcome(checks.private_cache(state, page(*headers))) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"is_navigation": False},  # The page was loaded before.
        {"document": "<html><body><p>Tea for everybody</p></body></html>"},  # It may be the same for all visitors.
        {"document": PASSWORD_PAGE + "{{user}}"},  # The log-in form shows the user's name.
        {"before": None},
    ],
)
def test_private_cache_does_not_judge_other_pages(fields: dict[str, Any]) -> None:
    usual: dict[str, Any] = {
        "before": [OLD], "cookies": [NEW], "document": PRIVATE_PAGE, "is_navigation": True,
    }  # fmt: skip
    assert outcome(checks.private_cache(journey_state(**usual | fields), page(("Cache-Control", "public")))) == "n/a"


def test_places_contain_no_values() -> None:
    state = journey_state(before=[OLD], cookies=[OLD])
    assert rows(checks.session_fixation(state, page())) == [{"cookie": "sessionid", "host": "site.example.com"}]
