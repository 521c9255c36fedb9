"""DNS queries about a domain: its records with their validation, and queries to its name servers.

Each record is queried once in a scan, and all queries count in one limit.
"""

from __future__ import annotations

import concurrent.futures
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from website_scan.net.budget import ConnectionGuard, Meter, SharedBudget
from website_scan.net.deadline import Deadline, GuardedSocket
from website_scan.net.dialer import DNS_PORT, Dialer
from website_scan.net.dns_records import DnsAnswer, Lookup
from website_scan.net.dnssec.answers import Security, SignedAnswer, ZoneTrust
from website_scan.net.errors import NetError
from website_scan.net.policy import Policy

if TYPE_CHECKING:
    from dns.message import Message
    from dns.name import Name

    from website_scan.net.dnssec.chain import Validator, Zone
    from website_scan.net.server_queries import ServerAnswer

T = TypeVar("T")
SERVER_TIMEOUT_S = 3.0
# IPv6 addresses of root name servers, which answer everybody: k.root-servers.net and a.root-servers.net
# (https://www.iana.org/domains/root/servers).
IPV6_REFERENCES = ("2001:7fe::53", "2001:503:ba3e::2:30")


# Zones near the root are the same for many domains. Their keys are cached in this process.
TOP_ZONE_LIFETIME_S = 3600.0
MAX_TOP_ZONES = 2_000
MAX_TOP_ZONE_LABELS = 2  # The label of the root counts.


class TopZones:
    """Cache of validated zones for the root and top-level domains, by trust anchors and name servers. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zones: dict[tuple[str, ...], dict[Name, tuple[float, Zone]]] = {}

    def find(self, key: tuple[str, ...]) -> dict[Name, Zone]:
        now = time.monotonic()
        with self._lock:
            return {name: zone for name, (expiry, zone) in self._zones.get(key, {}).items() if expiry > now}

    def store(self, key: tuple[str, ...], zones: Mapping[Name, Zone]) -> None:
        """Store the zones whose status is certain."""
        expiry = time.monotonic() + TOP_ZONE_LIFETIME_S
        with self._lock:
            if sum(map(len, self._zones.values())) > MAX_TOP_ZONES:
                self._zones.clear()
            known = self._zones.setdefault(key, {})
            for name, zone in zones.items():
                is_certain = zone.trust.security in (Security.SECURE, Security.INSECURE) and zone.trust.is_zone
                if len(name) <= MAX_TOP_ZONE_LABELS and is_certain:
                    known.setdefault(name, (expiry, zone))


_top_zones = TopZones()


class DomainQueries:
    """DNS queries of a scan. Thread-safe."""

    def __init__(
        self,
        policy: Policy,
        lookup: Lookup,
        dialer: Dialer,
        meter: Meter,
        deadline: Deadline,
        shared: SharedBudget | None,
        query_timeout_s: float,
    ) -> None:
        self._policy = policy
        self._lookup = lookup
        self._dialer = dialer
        self._meter = meter
        self._deadline = deadline
        self._shared = shared
        self._query_timeout_s = query_timeout_s
        self._lock = threading.Lock()
        self._answers: dict[Hashable, concurrent.futures.Future[object]] = {}
        self._validating = threading.Lock()
        self._validator: Validator | None = None

    @property
    def queries(self) -> int:
        """Return the number of queries so far."""
        return self._meter.dns_queries

    def records(self, name: str, record_type: str) -> DnsAnswer:
        """Return DNS records as text, without validation.

        Raises NotReachable, TimedOut or BudgetExceeded.
        """

        def query() -> DnsAnswer:
            self._meter.dns_query()
            return self._lookup.lookup(name, record_type, self._deadline.within(self._query_timeout_s))

        return self._once(("records", _normal(name), record_type), query)

    def unvalidated_records(self, name: str, record_type: str) -> SignedAnswer:
        """Return DNS records, aliases and the response code of an answer whose signatures are not validated.

        `signed_records` uses the same answer. Raises NotReachable, TimedOut or BudgetExceeded.
        """
        from website_scan.net.dnssec.chain import read_response

        return read_response(self._signed_response(name, record_type), _normal(name), record_type)

    def signed_records(self, name: str, record_type: str, domain: str, now: datetime) -> SignedAnswer:
        """Return DNS records and the response code, validated as far as they are in `domain`.

        The domain "." validates all records, also those of aliases elsewhere. Raises NotReachable, TimedOut or
        BudgetExceeded.
        """

        def query() -> SignedAnswer:
            self._signed_response(name, record_type)
            return self._validate(now, lambda validator: validator.answer(_normal(name), record_type, domain))

        return self._once(("signed", _normal(name), record_type, _normal(domain)), query)

    def trust(self, zone: str, now: datetime) -> ZoneTrust:
        """Return the chain of trust to a zone."""
        return self._validate(now, lambda validator: validator.trust(_normal(zone)))

    def ask_server(self, server: str, address: str, name: str, record_type: str) -> ServerAnswer:
        """Query one address of a domain's name server `server`.

        Raises Blocked, NotReachable, TimedOut or BudgetExceeded.
        """
        from website_scan.net.server_queries import query_server

        deadline = self._deadline.within(SERVER_TIMEOUT_S)

        def query() -> ServerAnswer:
            return query_server(self._opener(server, address, deadline), name, record_type, deadline)

        return self._once(("server", address, _normal(name), record_type), query)

    def transfers_zone(self, server: str, address: str, zone: str) -> bool:
        """Return True if a name server begins to transfer the zone to this scanner.

        Raises Blocked, NotReachable, TimedOut or BudgetExceeded.
        """
        from website_scan.net.server_queries import transfers_zone

        deadline = self._deadline.within(SERVER_TIMEOUT_S)

        def query() -> bool:
            return transfers_zone(self._opener(server, address, deadline), zone)

        return self._once(("transfer", address, _normal(zone)), query)

    def has_ipv6(self) -> bool:
        """Return True if this installation reaches name servers of the root over IPv6."""
        for address in IPV6_REFERENCES:
            try:
                self.ask_server("root-servers.net", address, ".", "SOA")
            except NetError:
                continue
            return True
        return False

    def _opener(self, server: str, address: str, deadline: Deadline) -> Callable[[bool], GuardedSocket]:
        def open_connection(over_tcp: bool) -> GuardedSocket:
            self._meter.dns_query()
            if self._shared is not None:
                self._shared.request(server, DNS_PORT, [address])
            connection = self._dialer.open_name_server(server, address, deadline, over_tcp=over_tcp)
            connection.guard = ConnectionGuard(deadline, self._meter)
            return connection

        return open_connection

    def _signed_response(self, name: str, record_type: str) -> Message:
        def query() -> Message:
            self._meter.dns_query()
            return self._lookup.signed_response(name, record_type, self._deadline.within(self._query_timeout_s))

        return self._once(("response", _normal(name), record_type), query)

    def _validate(self, now: datetime, use: Callable[[Validator], T]) -> T:
        """Use the validator, which only one thread may use at a time."""
        with self._validating:
            validator = self._validator_at(now)
            result = use(validator)
            _top_zones.store(self._top_zones_key, validator.zones)
            return result

    def _validator_at(self, now: datetime) -> Validator:
        if self._validator is None:
            from website_scan.net.dnssec.anchors import anchor_records
            from website_scan.net.dnssec.chain import Validator

            anchors = anchor_records(self._policy.trust_anchors)
            self._validator = Validator(self._signed_response, anchors, now, _top_zones.find(self._top_zones_key))
        return self._validator

    @property
    def _top_zones_key(self) -> tuple[str, ...]:
        return (*self._policy.trust_anchors, *self._policy.name_servers)

    def _once(self, key: Hashable, query: Callable[[], T]) -> T:
        """Return the result of a query that is sent only once. Other threads wait for it."""
        with self._lock:
            future = self._answers.get(key)
            is_first = future is None
            if future is None:
                future = self._answers[key] = concurrent.futures.Future()
        if is_first:
            try:
                future.set_result(query())
            except BaseException as error:  # noqa: BLE001 -- the future raises it below, and in other threads
                future.set_exception(error)
        result: object = future.result()
        return result  # type: ignore[return-value]  # the key determines the type


def _normal(name: str) -> str:
    return name.lower().rstrip(".") or "."
