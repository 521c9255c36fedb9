"""Addresses of one site, in the one form in which they are listed and compared."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

import ada_url

from scanner.crawl.robots import normalised_path
from scanner.net.targets import DEFAULT_PORTS, MAX_LENGTH, Target

MAX_REFERENCE = 4096  # characters as written; the longest address that can be scanned has half of them

# What servers and PHP write into addresses where a browser keeps no cookies.
SESSION_IN_PATH = re.compile(
    r";(?:jsessionid|phpsessid|sessionid|sid)=[^/?;]*|/\([SFAX]\([^()/]*\)\)(?=/)", re.IGNORECASE
)
# Names that carry a session or the way by which a visitor came, and never say which page is meant.
SESSION = re.compile(
    r"phpsessid|jsessionid|aspsessionid\w*|session_?id|sess_?id|cfid|cftoken|oscsid|xtcsid|zenid", re.IGNORECASE
)
TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|mc_[ce]id|mkt_tok"
    r"|_ga|_gl|_hsenc|_hsmi|hsctatracking|vero_id|oly_(?:anon|enc)_id|s_kwcid|srsltid|mtm_\w+|matomo_\w+|piwik_\w+"
    r"|pk_(?:campaign|kwd|keyword|source|medium|content|cid)",
    re.IGNORECASE,
)
# Names that often carry a session, and often an ordinary number: the value tells which.
PERHAPS_SESSION = re.compile(r"s|sid|sess|session", re.IGNORECASE)
RANDOM = re.compile(r"(?=[^0-9]*[0-9])[0-9A-Za-z,_-]{16,}")

# Files that are no pages, by the ends of their names. Scripts are not linked, but pages about Node.js are.
FILES = re.compile(
    r"7z|aac|apk|atom|avif?|bin|bmp|bz2|css|csv|dmg|doc[mx]?|dot|eot|epub|exe|flac|flv|gif|gpx|gz|ico|ics|img|iso|jar"
    r"|jpe?g|json|jsonld|km[lz]|m4[av]|md5|midi?|mk[av]|mobi|mov|mp[34]|mpe?g|msi|od[psgt]|og[gv]|otf"
    r"|pdf|pkg|pls|png|pp[st]x?|psd?|rar|rpm|rss|rtf|sh|svgz?|swf|tar|tgz|tiff?|torrent|tt[cf]|txt|vcf|vsd|wasm|wav"
    r"|web[mp]|webmanifest|wm[av]|woff2?|xls[mx]?|xml|xz|zip",
    re.IGNORECASE,
)
ENCODED_CONTROL = re.compile(r"%(?:[01][0-9a-f]|7f)", re.IGNORECASE)
# A path that a URL parser would leave as it is.
PLAIN_PATH = re.compile(r"/(?:[A-Za-z0-9_~@/-]|\.(?=[A-Za-z0-9_~@-]))*")


class Site:
    """A host and port, where the start page ended.

    Its twins are this site, too: the host with `www.` or without, and with default ports http as well as https. Their
    addresses are listed under the host where the start page ended.
    """

    def __init__(self, start: Target) -> None:
        self.start = start
        self.origin = start.origin
        self._host = start.host.removeprefix("www.")

    def path(self, reference: str, base: str) -> str | None:
        """The path with query of an address of this site, without fragment, session and tracking; None of any other.

        `reference` is as written on the page at `base`. None as well for what can't be scanned: other schemes,
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
        """The canonical URL of a path."""
        return self.origin + path

    def _parsed_path(self, reference: str, base: str) -> str | None:
        try:
            url = ada_url.URL(reference, base)
        except ValueError:
            return None
        scheme = url.protocol.removesuffix(":")
        if scheme not in DEFAULT_PORTS or url.username or url.password:
            return None
        port = int(url.port) if url.port else DEFAULT_PORTS[scheme]
        if not self._is_own(scheme, url.hostname.strip("[]").removesuffix("."), port):
            return None
        path = url.pathname + url.search
        return None if ENCODED_CONTROL.search(path) else path

    def _is_own(self, scheme: str, host: str, port: int) -> bool:
        if host.removeprefix("www.") != self._host:
            return False
        if (scheme, port) == (self.start.scheme, self.start.port):
            return True
        return port == DEFAULT_PORTS[scheme] and self.start.port == DEFAULT_PORTS[self.start.scheme]


def identity(path: str) -> str:
    """The form in which two addresses of one page are equal.

    Escapes are undone where they are needless, the parameters of the query are in order, and a slash at the end counts
    for nothing: servers redirect from one to the other, or answer both alike.
    """
    return identity_of_normalised(normalised_path(path))


def identity_of_normalised(path: str) -> str:
    """The same for a path that is in the form of `normalised_path`."""
    address, _, query = path.partition("?")
    address = address.removesuffix("/") or "/"
    return f"{address}?{'&'.join(sorted(query.split('&')))}" if query else address


def is_file(path: str) -> bool:
    """Whether an address ends like a file that is no page. A wiki's `File:Map.png` is a page about one."""
    name, dot, ending = path.partition("?")[0].rpartition("/")[2].rpartition(".")
    return bool(dot) and FILES.fullmatch(ending) is not None and ":" not in name and "%3a" not in name.lower()


def _without_sessions(path: str) -> str:
    address, _, query = path.partition("?")
    address = SESSION_IN_PATH.sub("", address)
    kept = "&".join(each for each in query.split("&") if each and not _is_of_visitor(each))
    return f"{address}?{kept}" if kept else address


def _is_of_visitor(parameter: str) -> bool:
    """Whether a parameter says who comes from where, not which page is meant."""
    name, _, value = parameter.partition("=")
    name = unquote_plus(name)
    if SESSION.fullmatch(name) or TRACKING.fullmatch(name):
        return True
    return bool(PERHAPS_SESSION.fullmatch(name) and RANDOM.fullmatch(value))
