"""Detection of missing names of other sites.

Names that only this scanner cannot resolve may exist.
"""

from __future__ import annotations

from website_scan.net.addresses import is_loopback_name
from website_scan.net.client import Network
from website_scan.net.errors import NetError, NotReachable, Refused
from website_scan.net.targets import Target
from website_scan.page.evidence import Page
from website_scan.page.registrable_domain import is_same_site


class OutsideNames:
    """Checker of other sites' names.

    In a closed network, no public name resolves, which proves nothing about the name. Thread-safe.
    """

    def __init__(self, page: Page, network: Network) -> None:
        self._page = page
        self._network = network
        self._has_resolved_other_site = False
        self._resolves_com: bool | None = None

    def note(self, host: str) -> None:
        """Record that name servers have resolved another site's name."""
        needs_dns_lookup = not (is_loopback_name(host) or ":" in host or host.rpartition(".")[2].isdigit())
        if needs_dns_lookup and not is_same_site(host, self._page.target.host):
            self._has_resolved_other_site = True

    def is_missing(self, host: str) -> bool:
        """Return True if the name servers know no address for the name.

        They are queried again, because they may have failed before.
        """
        try:
            has_address = any(self._network.records(host, kind).records for kind in ("A", "AAAA"))
        except NetError:
            return False
        if has_address:
            self.note(host)
        return not has_address

    def resolves_public_names(self) -> bool:
        """Return True if the name servers resolve public names.

        Such a name is a recorded name or the domain “com”.
        """
        if not self._has_resolved_other_site and self._resolves_com is None:
            try:
                self._resolves_com = bool(self._network.records("com", "NS").records)
            except NetError:
                self._resolves_com = False
        return self._has_resolved_other_site or bool(self._resolves_com)

    def may_exist(self, target: Target, error: NotReachable) -> bool:
        """Return True if another site's name may resolve for visitors.

        The scanner could not resolve it.
        """
        if isinstance(error, Refused) or is_same_site(target.host, self._page.target.host):
            return False
        try:
            self._network.addresses(target.host, target.port)
        except NotReachable:
            return not (self.is_missing(target.host) and self.resolves_public_names())
        except NetError:
            return False
        return False
