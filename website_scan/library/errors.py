"""Exceptions of the library. What a site does never raises one: a scan that fails is a report with an `error`."""

from __future__ import annotations


class WebsiteScanError(Exception):
    """Base class of all exceptions of this library."""


class InvalidUrl(WebsiteScanError, ValueError):
    """Raised for a URL that is not http(s), is malformed, or has a forbidden part or port.

    `url` is the URL, without a password.
    """

    def __init__(self, url: str, message: str) -> None:
        super().__init__(url, message)
        self.url = url
        self.message = message

    def __str__(self) -> str:
        return self.message


class Blocked(InvalidUrl):
    """Raised for the URL of a host that is not public, such as 127.0.0.1, unless `allow_networks` allows it."""


class InvalidOption(WebsiteScanError, ValueError):
    """Raised for an invalid argument other than the URL, or an invalid environment variable."""


class InvalidDocument(WebsiteScanError, ValueError):
    """Raised by `read` for text that is not a report in JSON with all details."""


class BrowserUnavailable(WebsiteScanError):
    """Raised if a scan requires a browser, and none is installed."""
