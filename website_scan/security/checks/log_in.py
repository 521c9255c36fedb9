"""Checks of a log-in: password fields, the session, secrets in addresses and storage, and private pages in caches."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, ClassVar

from website_scan.browser.journey.judged import JourneyState
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.journeys.walk import Cookie, NotTested, PageAnswer
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Page
from website_scan.page.log_in import ACCESS_REFUSED
from website_scan.page.registrable_domain import is_same_site
from website_scan.places import Column, Identity, Place, as_host, as_name, as_prose, as_written
from website_scan.security.cookies import names_session
from website_scan.values import Address, Code, Count, Number

CATEGORY = Category("Log-in", weight=20)

NO_LOG_IN = NotApplicable("The journey is not logged in.")
NO_SECRET = NotApplicable("The journey has typed no secret before this state.")
# Reasons why a log-out cannot be judged.
UNTESTED_LOG_OUTS = {
    NotTested.NO_COOKIES: NotApplicable("The browser had no cookies for the page before the log-out."),
    NotTested.NOT_REPEATABLE: NotApplicable(
        "The page before the log-out cannot be requested again, because a form has opened it, or its address has a "
        "secret."
    ),
    NotTested.UNREADABLE: NotApplicable("The browser has not stored the page before the log-out."),
    NotTested.NOT_LOGGED_OUT: NotApplicable("This state does not show that the log-out has succeeded."),
    NotTested.NO_SIGN: NotApplicable(
        "The HTML of the page before the log-out, as sent by the server, does not show that somebody is logged in."
    ),
    NotTested.CACHED: NotApplicable("After the log-out, a cache and not the server has answered."),
    NotTested.UNANSWERED: NotApplicable("After the log-out, the server has not shown whether the session exists."),
}
OK = 200
MAX_SESSION_DAYS = 90
DAY_S = 86_400.0
DIRECTIVE = re.compile(r"[\w-]+")


class SessionCookie(Place, frozen=True):
    """Cookie of the browser after a log-in, without its value."""

    kind: ClassVar[str] = "session-cookie"

    cookie: Annotated[str, Identity(as_name), Column("Cookie", "mono")]
    host: Annotated[str, Identity(as_host), Column("Host", "mono")]
    days: Annotated[float | None, Column("Expires after days", "number")]


class StoredToken(Place, frozen=True):
    """Entry of the browser's storage that holds a token or a secret, without its value."""

    kind: ClassVar[str] = "stored-token"

    area: Annotated[str, Column("Storage", "mono")]
    key: Annotated[str, Identity(as_name), Column("Key", "mono")]
    content: Annotated[str, Column("Content", "short")]


class AddressWithSecret(Place, frozen=True):
    """Requested address that contains a secret, which is replaced by its name."""

    kind: ClassVar[str] = "address-with-secret"

    url: Annotated[str, Identity(as_name), Column("Address", "address")]


class PasteField(Place, frozen=True):
    """Password field that blocks pasting."""

    kind: ClassVar[str] = "paste-field"

    name: Annotated[str, Identity(as_prose), Column("Field")]
    selector: Annotated[str, Identity(as_written), Column("Selector", "code")]


@check(
    "password-paste",
    name="Passwords can be pasted",
    outcomes={
        "blocked": outcome(
            "Password fields that block pasting",
            consequence="Visitors cannot paste long passwords, so they choose short ones that others can guess.",
        )
    },
    why="People who cannot paste passwords from a password manager choose short ones that they can type.",
    judged="Visible and empty fields get a `paste` event without text. A page that reads the clipboard blocks nothing.",
    severity=LOW,
    fix="Remove the listener or attribute that cancels `paste` events of password fields, such as "
    '`onpaste="return false"`.',
    references=("NIST SP 800-63B, section 5.1.1.2", "UK NCSC: Let them paste passwords"),
)
def password_paste(state: JourneyState) -> Verdict:
    fields = state.state.security.password_fields
    if not fields:
        return NotApplicable("This state has no empty password field.")
    blocked = [field for field in fields if field.blocks_paste]
    if not blocked:
        return Pass("Pasting is not blocked in {fields}.", fields=Count(len(fields), "password field"))
    places = [PasteField(excerpt(field.name), field.selector) for field in blocked]
    return Warn(
        "blocked", "Pasting is blocked in {fields}.", fields=Count(len(blocked), "password field"), places=places
    )


@check(
    "session-fixation",
    name="Log-in starts a new session",
    outcomes={
        "same": outcome(
            "Session is the same after the log-in",
            consequence="Someone who has prepared a visitor's browser can use the account after the visitor's log-in.",
        )
    },
    why="Whoever knows the session from before the log-in, for example on a shared computer, is logged in as well.",
    judged="A cookie with the name of a session has the same value, and the log-in has set no cookie or token.",
    severity=HIGH,
    fix="Create a new session ID on each log-in, such as with `session_regenerate_id(true)` in PHP.",
    references=("CWE-384",),
)
def session_fixation(state: JourneyState, page: Page) -> Verdict:
    if not state.is_after_log_in:
        return NO_LOG_IN
    if any(map(_is_session, state.new_cookies)):
        return Pass("The log-in has set a new session cookie.")
    same = [cookie for cookie in _own(state.unchanged_cookies, page) if _is_session(cookie)]
    if not same:
        return NotApplicable("No session cookie of the site was set before the log-in.")
    if _own(state.new_cookies, page) or any(entry.kind == "token" for entry in state.state.security.storage):
        return NotApplicable("The log-in has set something else that may be the session.")
    return Fail(
        "same",
        "{cookies} {count:has|have} the same value before and after the log-in.",
        cookies=Count(len(same), "session cookie"),
        count=Count(len(same)),
        places=_places(same),
    )


@check(
    "session-lifetime",
    name="Session ends after some weeks",
    outcomes={"long": "Session lasts for months"},
    why="Whoever gets the cookie from a lost or sold device can use the account for that long.",
    judged=f"Session cookies that a log-in has set, above {MAX_SESSION_DAYS} days.",
    severity=LOW,
    fix="Let sessions end after some days without use, and after some weeks in any case.",
    references=("CWE-613",),
)
def session_lifetime(state: JourneyState, page: Page) -> Verdict:
    sessions = [cookie for cookie in _own(state.new_cookies, page) if _is_session(cookie)]
    if not sessions:
        return NO_LOG_IN
    long = [cookie for cookie in sessions if (cookie.expires_in_s or 0.0) > MAX_SESSION_DAYS * DAY_S]
    if not long:
        return Pass("The session cookies of the log-in expire within {limit} days.", limit=Number(MAX_SESSION_DAYS, 0))
    days = max((cookie.expires_in_s or 0.0) / DAY_S for cookie in long)
    return Warn("long", "A session cookie lasts {days} days.", days=Number(days, 0), places=_places(long))


@check(
    "log-out",
    name="Log-out ends the session",
    outcomes={"valid": "Session is still valid after the log-out"},
    why="Whoever has copied the session's cookies, for example on a shared computer, can use the account after the "
    "log-out.",
    judged="The page before the log-out is requested again. With the cookies from before, it is still the private "
    "page, and with those that the browser has after the log-out, it is not.",
    severity=MEDIUM,
    fix="Delete the session on the server when somebody logs out, such as with `session_destroy()` in PHP, and not "
    "only its cookie in the browser. Servers that store no sessions need a list of revoked tokens.",
    references=("OWASP ASVS 5.0, section 7.4.1", "CWE-613"),
)
def log_out(state: JourneyState) -> Verdict:
    """A public page may show its user, too, so only what it does not show without the log-in counts."""
    test = state.state.security.log_out
    if test is None:
        return NotApplicable("The journey has not logged out since the state before.")
    if test.problem is not None or test.page is None or test.old is None:
        return UNTESTED_LOG_OUTS[test.problem or NotTested.UNANSWERED]
    page, old, new = test.page, test.old, test.new
    url = Address(test.url)
    if _refuses(old):
        return Pass("{url} is not shown with the cookies from before the log-out.", url=url)
    if old.status != OK or new is None or not (new.status == OK or _refuses(new)):
        return UNTESTED_LOG_OUTS[NotTested.UNANSWERED]
    remaining = page.signs & old.signs
    if not remaining:
        return Pass("{url} shows no user any more with the cookies from before the log-out.", url=url)
    if not remaining - new.signs:
        return NotApplicable("The page before the log-out looks the same without a log-in.")
    if not old.resembles_page or (old.asks_log_in and not page.asks_log_in):
        return NotApplicable("After the log-out, the page is another one, which may or may not be private.")
    return Fail("valid", "{url} is still shown with the cookies from before the log-out.", url=url)


@check(
    "secret-in-address",
    name="No secret is sent in an address",
    outcomes={
        "sent": outcome(
            "Secrets in requested addresses",
            consequence="Visitors' passwords appear in the browser's history and in the logs of servers.",
        )
    },
    why="Addresses are in the browser's history, in the logs of servers and proxies, and in the Referer of requests.",
    severity=HIGH,
    fix='Send secrets in the body of a POST request: `<form method="post">`.',
    references=("CWE-598",),
)
def secret_in_address(state: JourneyState) -> Verdict:
    if not state.has_typed_secret:
        return NO_SECRET
    addresses = state.state.security.secrets_in_addresses
    if not addresses:
        return Pass("No requested address contains a secret of the journey.")
    return Fail(
        "sent",
        "{addresses} {count:contains|contain} a secret that the journey has typed.",
        addresses=Count(len(addresses), "requested address", "requested addresses"),
        count=Count(len(addresses)),
        places=[AddressWithSecret(excerpt(address)) for address in addresses],
    )


@check(
    "token-in-storage",
    name="Scripts cannot read the session",
    outcomes={
        "token": "Token in the browser's storage",
        "secret": outcome(
            "Password in the browser's storage",
            HIGH,
            consequence="Passwords stay in visitors' browsers, where other people at the same device can read them.",
        ),
    },
    why="Every script on the page can read the storage, also one that an attacker has injected.",
    judged="Entries of localStorage and sessionStorage whose key or value looks like a token.",
    severity=MEDIUM,
    fix=Fix(
        "Keep the session in a cookie that scripts cannot read.",
        {Language.HEADER: "Set-Cookie: __Host-session=value; Path=/; Secure; HttpOnly; SameSite=Lax"},
    ),
    references=("CWE-922",),
)
def token_in_storage(state: JourneyState) -> Verdict:
    if not state.has_typed_secret:
        return NO_SECRET
    entries = state.state.security.storage
    secrets = [entry for entry in entries if entry.kind == "secret"]
    tokens = [entry for entry in entries if entry.kind == "token"]
    if not secrets and not tokens:
        return Pass("The browser's storage contains no token.")
    reported = secrets or tokens
    places = [StoredToken(entry.area, excerpt(entry.key), entry.kind) for entry in reported]
    count = Count(len(reported), "entry of the storage", "entries of the storage")
    if secrets:
        return Fail("secret", "A secret that the journey has typed is in {entries}.", entries=count, places=places)
    return Warn("token", "A token is in {entries}.", entries=count, places=places)


@check(
    "private-cache",
    name="Private pages are not stored",
    outcomes={
        "shared": outcome(
            "Private page may be stored for all visitors",
            HIGH,
            consequence="Visitors may see other people's private pages, because a cache stores one copy for all.",
        ),
        "stored": "Private page is stored in the browser",
    },
    why="The next person at the device can open the page from the browser's cache after a log-out.",
    judged="Pages that show a secret of the journey, such as the user name: `no-store` is good, `public` is not.",
    severity=LOW,
    fix=Fix("Forbid caches to store pages behind a log-in.", {Language.HEADER: "Cache-Control: no-store"}),
    references=("RFC 9111, section 5.2.2.5", "CWE-525"),
)
def private_cache(state: JourneyState, page: Page) -> Verdict:
    if not state.is_after_log_in or not state.state.is_navigation or not state.shows_secret:
        return NotApplicable("The page has not been loaded with a log-in, or shows no secret of the journey.")
    value = page.headers.get("Cache-Control") or ""
    directives = {name.lower() for name in DIRECTIVE.findall(value)}
    if "no-store" in directives:
        return Pass("Cache-Control is {value}.", value=Code(value))
    if directives & {"public", "s-maxage"} and "private" not in directives:
        return Fail("shared", "Cache-Control is {value}, which lets shared caches store the page.", value=Code(value))
    if value:
        return Warn(
            "stored", "Cache-Control is {value}, without {missing}.", value=Code(value), missing=Code("no-store")
        )
    return Warn("stored", "The page is sent without Cache-Control.")


def _refuses(answer: PageAnswer) -> bool:
    return answer.redirects or answer.status in ACCESS_REFUSED


def _is_session(cookie: Cookie) -> bool:
    return names_session(cookie.name, cookie.value_length)


def _own(cookies: Iterable[Cookie], page: Page) -> list[Cookie]:
    return [cookie for cookie in cookies if is_same_site(cookie.domain, page.target.host)]


def _places(cookies: Iterable[Cookie]) -> list[SessionCookie]:
    return [
        SessionCookie(
            excerpt(cookie.name, 100),
            cookie.domain,
            None if cookie.expires_in_s is None else round(cookie.expires_in_s / DAY_S, 1),
        )
        for cookie in cookies
    ]
