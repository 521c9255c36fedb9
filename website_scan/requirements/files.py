"""Probe of the files that own requirements name: one request a path, and its redirects on the origin."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from website_scan.catalogue import Need, Probe
from website_scan.errors import Refusal
from website_scan.net.client import Network
from website_scan.net.errors import NetError
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl, Target
from website_scan.page.evidence import Page
from website_scan.page.fetch import ACCEPT, SiteProtected, detect_challenge, raise_if_rate_limited
from website_scan.page.soft_404 import resembles
from website_scan.requirements.model import FileRule
from website_scan.security.evidence import NotFoundBaseline

MAX_BODY_BYTES = 64 * 1024
REQUEST_TIMEOUT_S = 10.0
MAX_REDIRECTS = 5
PROTECTED = frozenset({401, 403})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
PROBE_NAME_DIGITS = 12


class FileUnavailable(Refusal):
    """Raised for a file of which nobody knows whether it exists. It has the code and the message of its cause."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class FileAnswer(Struct, frozen=True):
    """Response of the origin for the path of a file.

    `status` is that of the last response. `leads_to` is the address of another origin to which the path redirects.
    `is_soft_404`: the origin answers in the same way for paths that do not exist. Without a usable response,
    `error_code` and `error` say why; an audit pickles the answer, which not all exceptions support.
    """

    status: int | None = None
    leads_to: str = ""
    is_soft_404: bool = False
    error_code: str = ""
    error: str = ""

    @property
    def exists(self) -> bool:
        return self.status is not None and 200 <= self.status < 300 and not self.is_soft_404 and not self.leads_to


class OwnFiles(Struct, frozen=True):
    """Responses for the files of own requirements, by rule."""

    answers: Mapping[FileRule, FileAnswer]


def file_probe(rules: Iterable[FileRule]) -> Probe:
    """Return the probe for these files.

    Its name differs for other files, because an audit shares the evidence of an origin by the name of the probe.
    """
    unique_rules = tuple(dict.fromkeys(rules))
    digest = hashlib.sha256(repr([(rule.file, rule.absent) for rule in unique_rules]).encode()).hexdigest()
    return Probe(
        f"own_files_{digest[:PROBE_NAME_DIGITS]}",
        OwnFiles,
        _requests_for(unique_rules),
        (
            Need("page", Page, optional=False),
            Need("baseline", NotFoundBaseline, optional=False),
            Need("network", Network, optional=False),
        ),
        essential=False,
        applies_to_whole_origin=True,
        needs_idle_network=False,
    )


def _requests_for(rules: tuple[FileRule, ...]) -> Callable[..., OwnFiles]:
    def load_own_files(page: Page, baseline: NotFoundBaseline, network: Network) -> OwnFiles:
        return OwnFiles({rule: _answer(rule, page, baseline, network) for rule in rules})

    return load_own_files


def _answer(rule: FileRule, page: Page, baseline: NotFoundBaseline, network: Network) -> FileAnswer:
    try:
        return _follow(rule, page.target, baseline, network, has_credentials=page.has_credentials)
    except (NetError, SiteProtected, InvalidUrl) as refusal:
        return FileAnswer(error_code=refusal.code, error=str(refusal))


def _follow(
    rule: FileRule, page: Target, baseline: NotFoundBaseline, network: Network, *, has_credentials: bool
) -> FileAnswer:
    target = page.join(rule.file)
    for hop in range(MAX_REDIRECTS + 1):
        # A file of the repository may choose the path, so the request has no credentials, which could change something.
        response = network.fetch(
            Request(
                target,
                headers=ACCEPT,
                max_bytes=MAX_BODY_BYTES,
                timeout_s=REQUEST_TIMEOUT_S,
                verify=False,
                reuse=Reuse.ALLOWED,
            )
        )
        raise_if_rate_limited(response)
        if sign := detect_challenge(response):
            raise SiteProtected(f"The site's protection answered a further request: {sign}.")
        if response.status in PROTECTED and has_credentials and not rule.absent:
            raise SiteProtected("The site asks for credentials, which are not sent with requests for files.")
        location = response.headers.get("Location")
        if response.status not in REDIRECTS or not location:
            is_soft_404 = _is_like_missing_path(response, target, page, baseline)
            # Sites send visitors of missing pages to their start page.
            is_start_page = hop > 0 and target.path == "/"
            return FileAnswer(response.status, is_soft_404=is_soft_404 or is_start_page)
        if any(other.status in REDIRECTS and other.headers.get("Location") == location for other in baseline.answers):
            return FileAnswer(response.status, is_soft_404=True)
        target = target.join(location)
        if target.origin != page.origin:
            return FileAnswer(response.status, leads_to=target.url)
    return FileAnswer(response.status)


def _is_like_missing_path(response: Response, target: Target, page: Target, baseline: NotFoundBaseline) -> bool:
    return any(
        resembles(response, target.path, other, other.url.removeprefix(page.origin)) for other in baseline.answers
    )
