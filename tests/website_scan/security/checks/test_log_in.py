from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import outcome, rows
from tests.website_scan.journey_cast import cookie, journey_state
from tests.website_scan.security.cast import page
from website_scan.journeys.walk import LogOut, NotTested, PageAnswer, PasswordField, StorageEntry
from website_scan.security.checks import log_in as checks

OLD, NEW = cookie("sessionid", "old"), cookie("sessionid", "new")
LANGUAGE, AUTH = cookie("lang", "en"), cookie("shop_key", "a")
TOKEN = StorageEntry("localStorage", "jwt", "token", 200)
SECRET = StorageEntry("sessionStorage", "form", "secret", 20)
OTHER = StorageEntry("localStorage", "theme", "other", 4)
PASSWORD_PAGE = '<html><body><form><input name="p" type="password"></form></body></html>'
PRIVATE_PAGE = "<html><body><p>Signed in as {{user}}</p></body></html>"
ACCOUNT = PageAnswer(200, has_log_out=True, shows_secret=True, resembles_page=True)
LOG_IN_PAGE = PageAnswer(200, asks_log_in=True)
REDIRECT = PageAnswer(302, redirects=True)
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
    ("old", "new", "expected"),
    [
        (ACCOUNT, LOG_IN_PAGE, "valid"),
        (ACCOUNT, REDIRECT, "valid"),
        (ACCOUNT, PageAnswer(403), "valid"),
        (REDIRECT, None, "pass"),
        (PageAnswer(401), None, "pass"),
        (PageAnswer(403), None, "pass"),
        (LOG_IN_PAGE, LOG_IN_PAGE, "pass"),
        (PageAnswer(200), PageAnswer(200), "pass"),
        # The page shows its user, and the control to log out, only with the cookies from before.
        (ACCOUNT, replace(ACCOUNT, has_log_out=False), "valid"),
        (replace(ACCOUNT, shows_secret=False), LOG_IN_PAGE, "valid"),
        (replace(ACCOUNT, has_log_out=False), LOG_IN_PAGE, "valid"),
        (ACCOUNT, ACCOUNT, "n/a"),  # The page is public, or the browser is still logged in.
        # The log-in form has the user's name.
        (replace(LOG_IN_PAGE, shows_secret=True), LOG_IN_PAGE, "n/a"),
        (replace(ACCOUNT, asks_log_in=True), LOG_IN_PAGE, "n/a"),
        (replace(ACCOUNT, resembles_page=False), LOG_IN_PAGE, "n/a"),
        (PageAnswer(302), None, "n/a"),  # It redirects to itself.
        (PageAnswer(503), None, "n/a"),
        (PageAnswer(404), None, "n/a"),
        (ACCOUNT, PageAnswer(429), "n/a"),
        (ACCOUNT, None, "n/a"),
    ],
)
def test_log_out(old: PageAnswer, new: PageAnswer | None, expected: str) -> None:
    test = LogOut("https://site.example.com/account", ACCOUNT, old, new)
    assert outcome(checks.log_out(journey_state(security={"log_out": test}))) == expected


def test_log_in_field_of_the_private_page_is_no_sign_of_a_log_out() -> None:
    page = replace(ACCOUNT, asks_log_in=True)  # For example, it changes the password.
    test = LogOut("https://site.example.com/account", page, page, LOG_IN_PAGE)
    assert outcome(checks.log_out(journey_state(security={"log_out": test}))) == "valid"


@pytest.mark.parametrize("problem", NotTested)
def test_log_out_that_was_not_tested_is_not_applicable(problem: NotTested) -> None:
    state = journey_state(security={"log_out": LogOut(problem=problem)})
    assert outcome(checks.log_out(state)) == "n/a"


def test_state_without_log_out_is_not_applicable() -> None:
    assert outcome(checks.log_out(journey_state(before=[OLD], cookies=[NEW]))) == "n/a"


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
