"""Set-Cookie as browsers parse it (RFC 6265bis, sections 5.4 to 5.7), and the purpose that a cookie's name shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from website_scan.net.http.response import Response
from website_scan.page.registrable_domain import is_same_site, site_of
from website_scan.security.load_balancers import is_load_balancer_cookie
from website_scan.urls import Url

MAX_PAIR = 4096
MAX_ATTRIBUTE = 1024
MAX_COOKIES = 300

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MAX_AGE = re.compile(r"-?[0-9]+")
# The grammar of dates (section 5.1.1). A part may be followed by anything that does not begin with a digit.
_DATE_DELIMITER = re.compile(r"[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])")
_MONTH = re.compile("(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE | re.ASCII)
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIRST_YEAR = 1601
# Splits camelCase and ALLCAPSWord, so that a word is matched with its boundaries on both sides.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SESSION_WORDS = frozenset(
    {
        *("sid", "sess", "session", "sessionid", "sessid", "auth", "token", "jwt", "phpsessid", "jsessionid"),
        *("aspxauth", "cftoken", "authtoken", "accesstoken", "authorization", "sessiontoken", "sso", "login"),
    }
)
# Minimum length of a session ID. One that can't be guessed is longer than the value of a flag, a theme or a language.
_MIN_VALUE = 8
# Names that only sessions have, no matter the value: of PHP, Java, ASP, ASP.NET, Drupal, WordPress, TYPO3, ….
_SESSION_NAMES = re.compile(
    r"(?:__(?:host|secure)-)?(?:sid|sess|session|jwt|connect\.sid)|(?:\w*_|j)?sess(?:ion)?[._-]?(?:id|hash)"
    r"|[a-z]{2,4}sess(?:id|ionhash)"
    r"|aspsessionid[a-z]{8}|s?sess[0-9a-f]{32}|wordpress(?:_sec|_logged_in)?_[0-9a-f]{32}|asp\.net_sessionid"
    r"|\.aspnetcore\.(?:session|cookies|identity\.application)|\.aspnet\.applicationcookie|\.aspxauth"
    r"|oscsid|(?:fe|be)_typo_user|remember_web_[0-9a-f]{40}",
    re.IGNORECASE,
)
# Cookies of analytics: Application Insights, Hotjar, Google, Adobe, Stripe, Mautic, ….
_TRACKERS = re.compile(
    r"_?(?:ai|ga|gd|rl|mtc|utm|amplitude|intercom|crisp|optimizely|nrba)[_.-]|_hj|__stripe_|s_sess\Z",
    re.IGNORECASE,
)
# A cookie with one of these words is about a session or a log-in, but is not the session itself.
_OTHER_WORDS = frozenset(
    {
        *("affinity", "sticky", "route", "routing", "balancer", "analytics", "tracking", "stats", "visit", "visits"),
        *("hint", "redirect", "return", "referrer", "referer", "url", "type", "provider", "method", "mode", "state"),
        *("consent", "banner", "popup", "seen", "dismissed", "theme", "lang", "language", "locale", "country"),
        *("timeout", "expires", "expiry", "expiration", "expired", "start", "started", "time", "timestamp", "count"),
        *("counter", "depth", "views", "pages", "test", "check", "enabled", "status", "flag", "captcha", "recaptcha"),
        *("experiment", "variant", "bucket", "error", "message", "attempts", "preferences", "currency"),
    }
)
# No other name contains these words, so they need no boundaries. The last two are ASP.NET's.
_CSRF = re.compile(r"csrf|xsrf|antiforgery|requestverificationtoken", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie as a server sent it. `same_site` is None when absent, "" when it is not a known value."""

    name: str
    host: str  # the host whose response set it
    over_https: bool
    value_length: int  # the value itself is not kept
    domain: str | None = None
    path: str | None = None
    secure: bool = False
    http_only: bool = False
    same_site: str | None = None
    expires: datetime | None = None  # from Max-Age or Expires; None: expires with the browser's session

    @property
    def is_csrf_token(self) -> bool:
        """True if the name is that of a CSRF token that scripts send back (double submit)."""
        return _CSRF.search(self.name) is not None

    @property
    def is_session_like(self) -> bool:
        """True if the cookie probably authenticates the user, by its name and the length of its value."""
        words = _words(self.name)
        is_other = self.is_csrf_token or _TRACKERS.match(self.name) or not _OTHER_WORDS.isdisjoint(words)
        if is_other or self.is_of_load_balancer or self.value_length == 0:
            return False
        if _SESSION_NAMES.fullmatch(self.name):
            return True
        return self.value_length >= _MIN_VALUE and not _SESSION_WORDS.isdisjoint(words)

    @property
    def is_of_load_balancer(self) -> bool:
        """True if the cookie only names the server that answers. The site often cannot change its attributes."""
        return is_load_balancer_cookie(self.name)

    @property
    def broken_prefix(self) -> str | None:
        """The rule of the name's prefix that the cookie breaks, as a clause. None if it breaks none (section 4.1.3)."""
        name = self.name.lower()
        if name.startswith("__host-"):
            if self.domain is not None:
                return "__Host- forbids Domain"
            if self.path != "/":
                return "__Host- requires Path=/"
        if name.startswith(("__host-", "__secure-")) and not (self.secure and self.over_https):
            return f"{self.name[: self.name.index('-') + 1]} requires Secure over HTTPS"
        return None


@dataclass(frozen=True, slots=True)
class Cookies:
    """The site's own cookies after the page's responses, including those that break the rules of their prefix."""

    sent: tuple[Cookie, ...]

    @property
    def kept(self) -> list[Cookie]:
        """Return the cookies that browsers accept."""
        return [each for each in self.sent if each.broken_prefix is None]


def cookies_of(hops: Iterable[Response], site_host: str, now: datetime) -> list[Cookie]:
    """Return the site's own cookies in a browser after these responses, including those that break their prefix.

    Later cookies replace earlier ones and may delete them. Cookies of other sites on the way do not count.
    """
    jar: dict[tuple[str, str, str], Cookie] = {}
    for hop in hops:
        address = Url.of(hop.url)
        host = address.hostname
        if not is_same_site(host, site_host):
            continue
        for line in hop.headers.all("Set-Cookie")[:MAX_COOKIES]:
            cookie = parse_cookie(line, host, now, over_https=address.scheme == "https")
            if cookie is None or (cookie.secure and not cookie.over_https and cookie.broken_prefix is None):
                continue  # browsers reject a Secure cookie over plain HTTP
            key = (cookie.name, cookie.domain or host, cookie.path or address.path.rpartition("/")[0] or "/")
            if cookie.expires is not None and cookie.expires <= now:
                jar.pop(key, None)
            else:
                jar[key] = cookie
    return list(jar.values())


def parse_cookie(line: str, host: str, now: datetime, *, over_https: bool) -> Cookie | None:
    """Parse one field line. None if browsers ignore it."""
    pair, *parts = line.split(";")
    name, equals, value = pair.partition("=")
    if not equals:
        name, value = "", pair
    name, value = name.strip(" \t"), value.strip(" \t")
    if _CONTROL.search(line) or not (name or value) or len(name) + len(value) > MAX_PAIR:
        return None
    attributes = dict(_attributes(parts))
    domain = attributes.get("domain", "").removeprefix(".").lower() or None
    if domain is not None and not _covers(domain, host):
        return None
    same_site = attributes.get("samesite")
    if same_site is not None:
        same_site = same_site.lower() if same_site.lower() in ("strict", "lax", "none") else ""
    path = attributes.get("path", "")
    return Cookie(
        name=name,
        host=host,
        over_https=over_https,
        value_length=len(value),
        domain=domain,
        path=path if path.startswith("/") else None,
        secure="secure" in attributes,
        http_only="httponly" in attributes,
        same_site=same_site,
        expires=_expiry(attributes, now),
    )


def _attributes(parts: list[str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        name, _, value = part.partition("=")
        value = value.strip(" \t")
        name = name.strip(" \t").lower()
        if len(value) <= MAX_ATTRIBUTE and _is_readable(name, value):
            yield name, value


def _is_readable(name: str, value: str) -> bool:
    """Return True unless browsers ignore the attribute, so that an earlier one of the same name counts."""
    if name == "max-age":
        return _MAX_AGE.fullmatch(value) is not None
    return name != "expires" or parse_date(value) is not None


def _covers(domain: str, host: str) -> bool:
    """Return True if a host may set a cookie for a domain: its own or a parent, but never a public suffix."""
    if domain == host:
        return True
    return host.endswith(f".{domain}") and domain.endswith(site_of(host))


def _expiry(attributes: dict[str, str], now: datetime) -> datetime | None:
    if "max-age" in attributes:
        seconds = int(attributes["max-age"])
        return now if seconds <= 0 else now + timedelta(seconds=min(seconds, 10**9))
    return parse_date(attributes["expires"]) if "expires" in attributes else None


def parse_date(text: str) -> datetime | None:
    """Parse a cookie date as browsers do (section 5.1.1): zone and weekday do not count. None if it is not a date."""
    found: dict[re.Pattern[str], re.Match[str]] = {}
    for token in _DATE_DELIMITER.split(text):
        # A token is the first of these parts that is still missing and that it matches.
        for part in (_TIME, _DAY, _MONTH, _YEAR):
            if part not in found and (match := part.match(token)) is not None:
                found[part] = match
                break
    if len(found) < 4:
        return None
    year = int(found[_YEAR][1])
    if year < 100:
        year += 1900 if year >= 70 else 2000
    month = _MONTHS.index(found[_MONTH][1].lower()) + 1
    hour, minute, second = map(int, found[_TIME].groups())
    try:
        date = datetime(year, month, int(found[_DAY][1]), hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return date if year >= _FIRST_YEAR else None


def _words(name: str) -> set[str]:
    """Split a name into words by punctuation and by capitals."""
    parts = re.split(r"[^0-9A-Za-z]+", name)
    return {part.lower() for part in parts} | {word.lower() for part in parts for word in _WORD.findall(part)}
