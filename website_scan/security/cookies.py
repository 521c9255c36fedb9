"""Parser of Set-Cookie headers.

RFC 6265bis, sections 5.4 to 5.7. A cookie's name shows its purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from website_scan.net.http.response import Response
from website_scan.page.registrable_domain import is_same_site, site_of
from website_scan.security.load_balancers import is_load_balancer_cookie
from website_scan.urls import Url

MAX_NAME_AND_VALUE_BYTES = 4096
MAX_ATTRIBUTE_BYTES = 1024
MAX_COOKIES = 300
# If one prefix begins with another, the longer one comes first.
PREFIXES = ("__Host-Http-", "__Host-", "__Http-", "__Secure-")

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MAX_AGE_VALUE = re.compile(r"-?[0-9]+")
# Any text without a leading digit may follow a part of a date (RFC 6265bis, section 5.1.1).
_DATE_DELIMITER = re.compile(r"[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])")
_MONTH = re.compile("(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE | re.ASCII)
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MIN_YEAR = 1601
# Single word of a name in camelCase.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SESSION_WORDS = frozenset(
    {
        *("sid", "sess", "session", "sessionid", "sessid", "auth", "token", "jwt", "phpsessid", "jsessionid"),
        *("aspxauth", "cftoken", "authtoken", "accesstoken", "authorization", "sessiontoken", "sso", "login"),
    }
)
# Flags, themes and languages have shorter values than an unguessable session ID.
_MIN_SESSION_ID_CHARACTERS = 8
# Names of session cookies with any value, such as those from PHP, Java and Drupal.
_SESSION_NAMES = re.compile(
    r"(?:__(?:host-http|host|http|secure)-)?(?:sid|sess|session|jwt|connect\.sid)|(?:\w*_|j)?sess(?:ion)?[._-]?(?:id|hash)"
    r"|[a-z]{2,4}sess(?:id|ionhash)"
    r"|aspsessionid[a-z]{8}|s?sess[0-9a-f]{32}|wordpress(?:_sec|_logged_in)?_[0-9a-f]{32}|asp\.net_sessionid"
    r"|\.aspnetcore\.(?:session|cookies|identity\.application)|\.aspnet\.applicationcookie|\.aspxauth"
    r"|oscsid|(?:fe|be)_typo_user|remember_web_[0-9a-f]{40}",
    re.IGNORECASE,
)
# Names of analytics cookies, such as those from Hotjar, Google and Adobe.
_TRACKERS = re.compile(
    r"_?(?:ai|ga|gd|rl|mtc|utm|amplitude|intercom|crisp|optimizely|nrba)[_.-]|_hj|__stripe_|s_sess\Z",
    re.IGNORECASE,
)
# Words about a session or log-in in cookie names that do not identify the session.
_NON_SESSION_WORDS = frozenset(
    {
        *("affinity", "sticky", "route", "routing", "balancer", "analytics", "tracking", "stats", "visit", "visits"),
        *("hint", "redirect", "return", "referrer", "referer", "url", "type", "provider", "method", "mode", "state"),
        *("consent", "banner", "popup", "seen", "dismissed", "theme", "lang", "language", "locale", "country"),
        *("timeout", "expires", "expiry", "expiration", "expired", "start", "started", "time", "timestamp", "count"),
        *("counter", "depth", "views", "pages", "test", "check", "enabled", "status", "flag", "captcha", "recaptcha"),
        *("experiment", "variant", "bucket", "error", "message", "attempts", "preferences", "currency"),
    }
)
# Parts of the names of CSRF tokens. The last two are from ASP.NET.
_CSRF = re.compile(r"csrf|xsrf|antiforgery|requestverificationtoken", re.IGNORECASE)


class Cookie(Struct, frozen=True):
    """Parsed Set-Cookie header.

    `same_site` is None without the attribute, "" if its value is unknown.
    """

    name: str
    host: str  # Host of the response that set the cookie.
    is_sent_over_https: bool
    value_length: int  # Number of characters of the value, which is never stored.
    domain: str | None = None
    path: str | None = None
    secure: bool = False
    http_only: bool = False
    same_site: str | None = None
    # None for a cookie that expires with the browser's session.
    expires: datetime | None = None

    @property
    def is_csrf_token(self) -> bool:
        """Return True if the cookie has the name of a CSRF token.

        Scripts send the token back (double submit).
        """
        return _names_csrf_token(self.name)

    @property
    def is_session_like(self) -> bool:
        """Return True if the cookie probably authenticates the user."""
        return names_session(self.name, self.value_length)

    @property
    def is_set_by_load_balancer(self) -> bool:
        """Return True if the cookie is from a load balancer.

        Sites often cannot change its attributes.
        """
        return is_load_balancer_cookie(self.name)

    @property
    def violated_prefix_rule(self) -> str | None:
        """Return the name prefix rule that the cookie violates, or None.

        Layered Cookies, section 4.1.3.

        The rule is a clause, such as "__Secure- requires Secure over HTTPS".
        """
        prefix = self.prefix
        if prefix in ("__Host-", "__Host-Http-"):
            if self.domain is not None:
                return f"{prefix} forbids Domain"
            if self.path != "/":
                return f"{prefix} requires Path=/"
        if prefix is not None and not (self.secure and self.is_sent_over_https):
            return f"{prefix} requires Secure over HTTPS"
        if prefix in ("__Http-", "__Host-Http-") and not self.http_only:
            return f"{prefix} requires HttpOnly"
        return None

    @property
    def prefix(self) -> str | None:
        """Return the known prefix of the cookie's name, or None."""
        return next((prefix for prefix in PREFIXES if self.name.lower().startswith(prefix.lower())), None)


def names_session(name: str, value_length: int) -> bool:
    """Return True if a cookie with this name and length of its value probably authenticates the user."""
    words = _split_words(name)
    has_other_purpose = _names_csrf_token(name) or _TRACKERS.match(name) or not _NON_SESSION_WORDS.isdisjoint(words)
    if has_other_purpose or is_load_balancer_cookie(name) or value_length == 0:
        return False
    if _SESSION_NAMES.fullmatch(name):
        return True
    return value_length >= _MIN_SESSION_ID_CHARACTERS and not _SESSION_WORDS.isdisjoint(words)


def _names_csrf_token(name: str) -> bool:
    return _CSRF.search(name) is not None


class Cookies(Struct, frozen=True):
    """First-party cookies of the page.

    They include cookies that violate the rules of their name prefix.
    """

    sent: tuple[Cookie, ...]

    @property
    def accepted(self) -> list[Cookie]:
        """Return the cookies that follow the rules of their name prefix.

        Browsers reject the others.
        """
        return [cookie for cookie in self.sent if cookie.violated_prefix_rule is None]


def read_cookies(hops: Iterable[Response], site_host: str, now: datetime) -> list[Cookie]:
    """Return the first-party cookies that a browser has after the page.

    Redirects may have set or deleted some.

    Later cookies replace or delete earlier ones. Cookies that break the rules of their name prefix are included.
    """
    jar: dict[tuple[str, str, str], Cookie] = {}
    for hop in hops:
        address = Url.of(hop.url)
        host = address.hostname
        if not is_same_site(host, site_host):
            continue
        for line in hop.headers.all("Set-Cookie")[:MAX_COOKIES]:
            cookie = parse_cookie(line, host, now, is_sent_over_https=address.scheme == "https")
            if cookie is None or (
                cookie.secure and not cookie.is_sent_over_https and cookie.violated_prefix_rule is None
            ):
                continue  # Browsers reject a Secure cookie over plain HTTP.
            key = (cookie.name, cookie.domain or host, cookie.path or address.path.rpartition("/")[0] or "/")
            if cookie.expires is not None and cookie.expires <= now:
                jar.pop(key, None)
            else:
                jar[key] = cookie
    return list(jar.values())


def parse_cookie(line: str, host: str, now: datetime, *, is_sent_over_https: bool) -> Cookie | None:
    """Parse a Set-Cookie header.

    None if browsers ignore the cookie.
    """
    pair, *parts = line.split(";")
    name, equals, value = pair.partition("=")
    if not equals:
        name, value = "", pair
    name, value = name.strip(" \t"), value.strip(" \t")
    if not name and value.lower().startswith(tuple(prefix.lower() for prefix in PREFIXES)):
        return None  # Servers would read the value as a name with a prefix (RFC 6265bis, section 5.7).
    if _CONTROL.search(line) or not (name or value) or len(name) + len(value) > MAX_NAME_AND_VALUE_BYTES:
        return None
    attributes = dict(_parse_attributes(parts))
    domain = attributes.get("domain", "").removeprefix(".").lower() or None
    if domain is not None and not _is_allowed_domain(domain, host):
        return None
    same_site = attributes.get("samesite")
    if same_site is not None:
        same_site = same_site.lower() if same_site.lower() in ("strict", "lax", "none") else ""
    path = attributes.get("path", "")
    return Cookie(
        name=name,
        host=host,
        is_sent_over_https=is_sent_over_https,
        value_length=len(value),
        domain=domain,
        path=path if path.startswith("/") else None,
        secure="secure" in attributes,
        http_only="httponly" in attributes,
        same_site=same_site,
        expires=_compute_expiry_date(attributes, now),
    )


def _parse_attributes(parts: list[str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        name, _, value = part.partition("=")
        value = value.strip(" \t")
        name = name.strip(" \t").lower()
        if len(value) <= MAX_ATTRIBUTE_BYTES and _is_parsable_attribute(name, value):
            yield name, value


def _is_parsable_attribute(name: str, value: str) -> bool:
    """Return True if browsers can parse the cookie attribute.

    Otherwise an earlier attribute with the same name counts.
    """
    if name == "max-age":
        return _MAX_AGE_VALUE.fullmatch(value) is not None
    return name != "expires" or parse_date(value) is not None


def _is_allowed_domain(domain: str, host: str) -> bool:
    """Return True if the host may set a cookie for the domain.

    The domain must be the host itself or a parent, but not a public suffix.
    """
    if domain == host:
        return True
    return host.endswith(f".{domain}") and domain.endswith(site_of(host))


def _compute_expiry_date(attributes: dict[str, str], now: datetime) -> datetime | None:
    if "max-age" in attributes:
        seconds = int(attributes["max-age"])
        return now if seconds <= 0 else now + timedelta(seconds=min(seconds, 10**9))
    return parse_date(attributes["expires"]) if "expires" in attributes else None


def parse_date(text: str) -> datetime | None:
    """Parse a cookie date as browsers do.

    Time zone and weekday are ignored (RFC 6265bis, section 5.1.1).

    None if invalid.
    """
    parts: dict[re.Pattern[str], re.Match[str]] = {}
    for token in _DATE_DELIMITER.split(text):
        # Each token of the text sets the first missing part of the date that the token matches (section 5.1.1, step 2).
        for part in (_TIME, _DAY, _MONTH, _YEAR):
            if part not in parts and (match := part.match(token)) is not None:
                parts[part] = match
                break
    if len(parts) < 4:
        return None
    year = int(parts[_YEAR][1])
    if year < 100:
        year += 1900 if year >= 70 else 2000
    month = _MONTHS.index(parts[_MONTH][1].lower()) + 1
    hour, minute, second = map(int, parts[_TIME].groups())
    try:
        date = datetime(year, month, int(parts[_DAY][1]), hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return date if year >= _MIN_YEAR else None


def _split_words(name: str) -> set[str]:
    """Return the words of a cookie name in lower case.

    The name is split at punctuation and capitals.
    """
    parts = re.split(r"[^0-9A-Za-z]+", name)
    return {part.lower() for part in parts} | {word.lower() for part in parts for word in _WORD.findall(part)}
