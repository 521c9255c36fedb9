"""Normalize a site's URLs for lists without duplicates."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from website_scan.crawl.robots import normalised_path
from website_scan.net.targets import MAX_LENGTH, Target
from website_scan.urls import DEFAULT_PORTS, Url

# The longest URL that can be scanned has half as many characters.
MAX_REFERENCE_LENGTH = 4096

# Servers write session IDs into paths for browsers without cookies.
SESSION_ID_IN_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sessionid|sid)=[^/?;]*|/\([SFAX]\([^()/]*\)\)(?=/)", re.IGNORECASE
)
# Query parameters for sessions and tracking, which never identify a page.
SESSION = re.compile(
    r"phpsessid|jsessionid|aspsessionid\w*|session_?id|sess_?id|cfid|cftoken|oscsid|xtcsid|zenid", re.IGNORECASE
)
TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|mc_[ce]id|mkt_tok"
    r"|_ga|_gl|_hsenc|_hsmi|hsctatracking|vero_id|oly_(?:anon|enc)_id|s_kwcid|srsltid|mtm_\w+|matomo_\w+|piwik_\w+"
    r"|pk_(?:campaign|kwd|keyword|source|medium|content|cid)",
    re.IGNORECASE,
)
# Only a random value of these parameters counts as a session ID.
POSSIBLE_SESSION_PARAMETER = re.compile(r"s|sid|sess|session", re.IGNORECASE)
RANDOM = re.compile(r"(?=[^0-9]*[0-9])[0-9A-Za-z,_-]{16,}")

# Pages about Node.js have URLs that end in .js, so this extension is missing.
FILES = re.compile(
    r"7z|aac|apk|atom|avif?|bin|bmp|bz2|css|csv|dmg|doc[mx]?|dot|eot|epub|exe|flac|flv|gif|gpx|gz|ico|ics|img|iso|jar"
    r"|jpe?g|json|jsonld|km[lz]|m4[av]|md5|midi?|mk[av]|mobi|mov|mp[34]|mpe?g|msi|od[psgt]|og[gv]|otf"
    r"|pdf|pkg|pls|png|pp[st]x?|psd?|rar|rpm|rss|rtf|sh|svgz?|swf|tar|tgz|tiff?|torrent|tt[cf]|txt|vcf|vsd|wasm|wav"
    r"|web[mp]|webmanifest|wm[av]|woff2?|xls[mx]?|xml|xz|zip",
    re.IGNORECASE,
)
ENCODED_CONTROL_CHARACTER = re.compile(r"%(?:[01][0-9a-f]|7f)", re.IGNORECASE)
# Paths that a URL parser would not change.
PLAIN_PATH = re.compile(r"/(?:[A-Za-z0-9_~@/-]|\.(?=[A-Za-z0-9_~@-]))*")


class Site:
    """Site that an audit scans.

    It is the host and port of the start page's final URL, with and without `www.`. With default ports, http and https
    are the same site. URLs are listed with the start page's scheme and host.
    """

    def __init__(self, start: Target) -> None:
        self.start = start
        self.origin = start.origin
        self._host = start.host.removeprefix("www.")

    def path(self, reference: str, base: str) -> str | None:
        """Return path and query of a URL without session parameters.

        Tracking parameters are left out, too. None if the URL is not of this site. `reference` is as written on the
        page at `base`. Also None for URLs that can't be scanned: other schemes, credentials, encoded control
        characters, more than 2,048 characters.
        """
        reference = reference.strip()
        if len(reference) > MAX_REFERENCE_LENGTH:
            return None
        path = reference.removeprefix(self.origin)
        if len(path) == len(reference) or not PLAIN_PATH.fullmatch(path):
            parsed_path = self._parse_path(reference, base)
            if parsed_path is None:
                return None
            path = _remove_sessions(parsed_path)
        return path if len(self.origin) + len(path) <= MAX_LENGTH else None

    def url(self, path: str) -> str:
        """Return the absolute URL of a path on this site."""
        return self.origin + path

    def _parse_path(self, reference: str, base: str) -> str | None:
        url = Url.parse(reference, base)
        if url is None or not url.is_http or url.has_credentials or not self._is_url_of_site(url):
            return None
        return None if ENCODED_CONTROL_CHARACTER.search(url.path_and_query) else url.path_and_query

    def _is_url_of_site(self, url: Url) -> bool:
        if url.host.removesuffix(".").removeprefix("www.") != self._host:
            return False
        if (url.scheme, url.port) == (self.start.scheme, self.start.port):
            return True
        return url.port == DEFAULT_PORTS[url.scheme] and self.start.port == DEFAULT_PORTS[self.start.scheme]


def identity(path: str) -> str:
    """Return a key that is equal for all URLs of the same page.

    Needless percent escapes are decoded, query parameters are sorted, and a slash at the end is ignored, because
    servers redirect from one form to the other, or respond to both with the same page.
    """
    return key_of_normalised_path(normalised_path(path))


def key_of_normalised_path(path: str) -> str:
    """Return the `identity` of a normalized path.

    `normalised_path` has already normalized the path.
    """
    address, _, query = path.partition("?")
    address = address.removesuffix("/") or "/"
    return f"{address}?{'&'.join(sorted(query.split('&')))}" if query else address


def has_file_extension(path: str) -> bool:
    """Return True if a URL has the extension of a file that is not a page.

    Wiki pages like `File:Map.png` are pages.
    """
    name, dot, ending = path.partition("?")[0].rpartition("/")[2].rpartition(".")
    return bool(dot) and FILES.fullmatch(ending) is not None and ":" not in name and "%3a" not in name.lower()


def _remove_sessions(path: str) -> str:
    address, _, query = path.partition("?")
    address = SESSION_ID_IN_PATH.sub("", address)
    parameters = (parameter for parameter in query.split("&") if parameter)
    remaining = "&".join(parameter for parameter in parameters if not _is_session_or_tracking(parameter))
    return f"{address}?{remaining}" if remaining else address


def _is_session_or_tracking(parameter: str) -> bool:
    """Return True for query parameters of sessions and tracking.

    They do not identify the page.
    """
    name, _, value = parameter.partition("=")
    name = unquote_plus(name)
    if SESSION.fullmatch(name) or TRACKING.fullmatch(name):
        return True
    return bool(POSSIBLE_SESSION_PARAMETER.fullmatch(name) and RANDOM.fullmatch(value))
