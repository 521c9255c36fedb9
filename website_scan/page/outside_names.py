"""Names of other sites without an address: whether they are missing for everybody or only for this scanner."""

from __future__ import annotations

from website_scan.net.addresses import is_loopback_name
from website_scan.net.client import Network
from website_scan.net.errors import NetError, NotReachable, Refused
from website_scan.net.targets import Target
from website_scan.page.evidence import Page
from website_scan.page.registrable_domain import is_same_site


class OutsideNames:
    """Names of other sites than the page's. In a closed network none has an address, which proves nothing about them.

    Thread-safe.
    """

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._has_found_one = False
        self._are_known: bool | None = None

    def note(self, host: str) -> None:
        """Remember that a name has an address, if it is another site's and name servers had to tell it."""
        is_looked_up = not (is_loopback_name(host) or ":" in host or host.rpartition(".")[2].isdigit())
        if is_looked_up and not is_same_site(host, self._page.target.host):
            self._has_found_one = True

    def is_missing(self, host: str) -> bool:
        """Return True if the name servers say that it has no address. They are asked anew, as they may have failed."""
        try:
            has_address = any(self._network.records(host, kind).records for kind in ("A", "AAAA"))
        except NetError:
            return False
        if has_address:
            self.note(host)
        return not has_address

    def are_known(self) -> bool:
        """Return True if a name noted has an address, or else if the name servers know the domain “com”."""
        if not self._has_found_one and self._are_known is None:
            try:
                self._are_known = bool(self._network.records("com", "NS").records)
            except NetError:
                self._are_known = False
        return self._has_found_one or bool(self._are_known)

    def may_exist(self, target: Target, error: NotReachable) -> bool:
        """Return True if another site's name has no address for the scanner, but may have one for visitors."""
        if isinstance(error, Refused) or is_same_site(target.host, self._page.target.host):
            return False
        try:
            self._network.addresses(target.host, target.port)
        except NotReachable:
            return not (self.is_missing(target.host) and self.are_known())
        except NetError:
            return False
        return False
