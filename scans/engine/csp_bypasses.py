"""Hosts in a script-src that undo it: public libraries with old frameworks, JSONP endpoints, anybody's uploads.

Names collected from: Weichselbaum, Spagnuolo, Lekies, Janc: "CSP Is Dead, Long Live CSP! On the Insecurity of
Whitelists and the Future of Content Security Policy" (CCS 2016), and the hosts' own documentation.
"""

from __future__ import annotations

import re

HOSTS = frozenset(
    {
        # Any version of AngularJS and the like
        *("ajax.googleapis.com", "cdnjs.cloudflare.com", "cdn.jsdelivr.net", "unpkg.com", "code.angularjs.org"),
        *("ajax.aspnetcdn.com", "yastatic.net", "lib.baomitu.com", "cdn.bootcdn.net", "esm.sh", "jspm.dev"),
        # JSONP endpoints
        *("accounts.google.com", "clients1.google.com", "www.google.com", "maps.googleapis.com", "maps.google.com"),
        *("translate.googleapis.com", "www.googleapis.com", "api.vk.com", "graph.facebook.com", "api.flickr.com"),
        *("dev.virtualearth.net", "mc.yandex.ru", "query.yahooapis.com", "api.twitter.com", "cse.google.com"),
        # What anybody uploads or pushes
        *("raw.githubusercontent.com", "cdn.rawgit.com", "rawgit.com", "gist.githubusercontent.com"),
        *("storage.googleapis.com", "s3.amazonaws.com", "pastebin.com", "gitcdn.xyz"),
    }
)
# Below these, public libraries serve every package there is, so that such a path keeps nothing out.
_OPEN_PATHS = frozenset({"", "/", "/npm/", "/gh/", "/combine/", "/ajax/", "/ajax/libs/"})
_SOURCE = re.compile(r"(?:https?://)?(?P<host>[*a-z0-9.-]{1,255})(?::(?:\d{1,5}|\*))?(?P<path>/.*)?", re.IGNORECASE)


def bypass_host(source: str) -> str | None:
    """The known host that a source expression lets in; None where there is none, or a path keeps it narrow."""
    matched = _SOURCE.fullmatch(source)
    if matched is None or (matched["path"] or "").lower() not in _OPEN_PATHS:
        return None
    host = matched["host"].lower()
    if host in HOSTS:
        return host
    if host.startswith("*.") and "." in host[2:]:
        return next((each for each in sorted(HOSTS) if each.endswith(host[1:])), None)
    return None
