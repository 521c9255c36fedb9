"""Normalization of a site's URLs: the single form in which they are listed and compared."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from website_scan.crawl.robots import normalised_path
from website_scan.net.targets import MAX_LENGTH, Target
from website_scan.urls import DEFAULT_PORTS, Url

MAX_REFERENCE = 4096  # characters as written; the longest URL that can be scanned has half as many

# Session IDs that servers and PHP write into the path if a browser keeps no cookies.
SESSION_IN_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sessionid|sid)=[^/?;]*|/\([SFAX]\([^()/]*\)\)(?=/)", re.IGNORECASE
)
# Query parameters with a session or the source of a visit. They never identify a page.
SESSION = re.compile(
    r"phpsessid|jsessionid|aspsessionid\w*|session_?id|sess_?id|cfid|cftoken|oscsid|xtcsid|zenid", re.IGNORECASE
)
TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|mc_[ce]id|mkt_tok"
    r"|_ga|_gl|_hsenc|_hsmi|hsctatracking|vero_id|oly_(?:anon|enc)_id|s_kwcid|srsltid|mtm_\w+|matomo_\w+|piwik_\w+"
    r"|pk_(?:campaign|kwd|keyword|source|medium|content|cid)",
    re.IGNORECASE,
)
# Parameters that often have a session, and often an ordinary number: the value decides.
PERHAPS_SESSION = re.compile(r"s|sid|sess|session", re.IGNORECASE)
RANDOM = re.compile(r"(?=[^0-9]*[0-9])[0-9A-Za-z,_-]{16,}")

# Extensions of files that are not pages. Scripts (.js) are missing because nobody links to them, but pages about
# Node.js end in .js.
FILES = re.compile(
    r"7z|aac|apk|atom|avif?|bin|bmp|bz2|css|csv|dmg|doc[mx]?|dot|eot|epub|exe|flac|flv|gif|gpx|gz|ico|ics|img|iso|jar"
    r"|jpe?g|json|jsonld|km[lz]|m4[av]|md5|midi?|mk[av]|mobi|mov|mp[34]|mpe?g|msi|od[psgt]|og[gv]|otf"
    r"|pdf|pkg|pls|png|pp[st]x?|psd?|rar|rpm|rss|rtf|sh|svgz?|swf|tar|tgz|tiff?|torrent|tt[cf]|txt|vcf|vsd|wasm|wav"
    r"|web[mp]|webmanifest|wm[av]|woff2?|xls[mx]?|xml|xz|zip",
    re.IGNORECASE,
)
ENCODED_CONTROL = re.compile(r"%(?:[01][0-9a-f]|7f)", re.IGNORECASE)
# A path that a URL parser would not change.
PLAIN_PATH = re.compile(r"/(?:[A-Za-z0-9_~@/-]|\.(?=[A-Za-z0-9_~@-]))*")


class Site:
    """A host and port: those of the final URL of the start page.

    Variants belong to the site, too: the host with or without `www.`, and with default ports both http and https. Their
    URLs are listed with the host of the start page's final URL.
    """

    def __init__(self, start: Target) -> None:
        self.start = start
        self.origin = start.origin
        self._host = start.host.removeprefix("www.")

    def path(self, reference: str, base: str) -> str | None:
        """Return path and query of a URL of this site, without fragment, session and tracking; None for any other URL.

        `reference` is as written on the page at `base`. Also None for URLs that can't be scanned: other schemes,
        credentials, encoded control characters, more than 2,048 characters.
        """
        reference = reference.strip()
        if len(reference) > MAX_REFERENCE:
            return None
        path = reference.removeprefix(self.origin)
        if len(path) == len(reference) or not PLAIN_PATH.fullmatch(path):
            found = self._parsed_path(reference, base)
            if found is None:
                return None
            path = _without_sessions(found)
        return path if len(self.origin) + len(path) <= MAX_LENGTH else None

    def url(self, path: str) -> str:
        """Return the canonical URL of a path."""
        return self.origin + path

    def _parsed_path(self, reference: str, base: str) -> str | None:
        url = Url.parse(reference, base)
        if url is None or not url.is_http or url.has_credentials or not self._is_own(url):
            return None
        return None if ENCODED_CONTROL.search(url.path_and_query) else url.path_and_query

    def _is_own(self, url: Url) -> bool:
        if url.host.removesuffix(".").removeprefix("www.") != self._host:
            return False
        if (url.scheme, url.port) == (self.start.scheme, self.start.port):
            return True
        return url.port == DEFAULT_PORTS[url.scheme] and self.start.port == DEFAULT_PORTS[self.start.scheme]


def identity(path: str) -> str:
    """Return a key that is equal for two URLs of one page.

    Needless escapes are undone, query parameters sorted, and a slash at the end is ignored, because servers redirect
    from one form to the other, or answer both alike.
    """
    return identity_of_normalised(normalised_path(path))


def identity_of_normalised(path: str) -> str:
    """Return the `identity` of a path that is already in the form of `normalised_path`."""
    address, _, query = path.partition("?")
    address = address.removesuffix("/") or "/"
    return f"{address}?{'&'.join(sorted(query.split('&')))}" if query else address


def is_file(path: str) -> bool:
    """Return True if a URL ends like a file that is not a page. A wiki's `File:Map.png` is a page about one."""
    name, dot, ending = path.partition("?")[0].rpartition("/")[2].rpartition(".")
    return bool(dot) and FILES.fullmatch(ending) is not None and ":" not in name and "%3a" not in name.lower()


def _without_sessions(path: str) -> str:
    address, _, query = path.partition("?")
    address = SESSION_IN_PATH.sub("", address)
    kept = "&".join(each for each in query.split("&") if each and not _is_of_visitor(each))
    return f"{address}?{kept}" if kept else address


def _is_of_visitor(parameter: str) -> bool:
    """Return True if a parameter identifies a visitor or the source of a visit, not the page."""
    name, _, value = parameter.partition("=")
    name = unquote_plus(name)
    if SESSION.fullmatch(name) or TRACKING.fullmatch(name):
        return True
    return bool(PERHAPS_SESSION.fullmatch(name) and RANDOM.fullmatch(value))
