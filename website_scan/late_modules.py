"""Import modules before scans need them.

Scans otherwise import them only when a page needs them. Each import takes 4 to 60 ms. The command scans few pages, so
it imports them on first use. A process that scans many pages, or whose forks do, imports them at its start: forks then
share their memory.
"""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "http_sfv",
    "langcodes",
    "psutil",
    "website_scan.browser.journey.walker",
    "website_scan.net.name_servers",
    "website_scan.net.proxy",
    "website_scan.net.tls.handshake",
    "tldextract",
)


def import_late_modules() -> None:
    for name in MODULES:
        import_module(name)
