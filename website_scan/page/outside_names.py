"""Names of other sites that do not resolve: whether they are missing for everybody or only for this scanner."""

from __future__ import annotations

from website_scan.net.addresses import is_loopback_name
from website_scan.net.client import Network
from website_scan.net.errors import NetError, NotReachable, Refused
from website_scan.net.targets import Target
from website_scan.page.evidence import Page
from website_scan.page.registrable_domain import is_same_site


class OutsideNames:
    """Names of other sites than the page's. In a closed network, none of them resolves, which proves nothing about
    them.

    Thread-safe.
    """

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._has_resolved_one = False
        self._resolves_com: bool | None = None

    def note(self, host: str) -> None:
        """Record that a name has resolved, if it is another site's name and name servers resolved it."""
        is_looked_up = not (is_loopback_name(host) or ":" in host or host.rpartition(".")[2].isdigit())
        if is_looked_up and not is_same_site(host, self._page.target.host):
            self._has_resolved_one = True

    def is_missing(self, host: str) -> bool:
        """Return True if the name servers, queried again in case they had failed, have no address for the name."""
        try:
            has_address = any(self._network.records(host, kind).records for kind in ("A", "AAAA"))
        except NetError:
            return False
        if has_address:
            self.note(host)
        return not has_address

    def are_known(self) -> bool:
        """Return True if name servers resolve public names: a recorded name, or else the domain “com”."""
        if not self._has_resolved_one and self._resolves_com is None:
            try:
                self._resolves_com = bool(self._network.records("com", "NS").records)
            except NetError:
                self._resolves_com = False
        return self._has_resolved_one or bool(self._resolves_com)

    def may_exist(self, target: Target, error: NotReachable) -> bool:
        """Return True if another site's name does not resolve for the scanner, but may resolve for visitors."""
        if isinstance(error, Refused) or is_same_site(target.host, self._page.target.host):
            return False
        try:
            self._network.addresses(target.host, target.port)
        except NotReachable:
            return not (self.is_missing(target.host) and self.are_known())
        except NetError:
            return False
        return False
