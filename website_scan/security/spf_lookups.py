"""DNS look-ups that mail of an unknown sender causes at a receiver because of an SPF record.

RFC 7208, section 4.6.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from website_scan.security.spf import (
    MAX_LOOKUPS,
    MAX_MX_HOSTS,
    MAX_VOID_LOOKUPS,
    HostLookup,
    SpfError,
    SpfTerm,
    effective_terms,
    parse_spf,
)


class SpfLookup(Struct, frozen=True):
    """DNS look-up of a term in the record of `domain`.

    `depth` is the number of records through which receivers reach that record. `records` is the number of SPF records
    of the domain that the term uses, and `hosts` that of addresses or mail servers; None for other terms, and without
    an answer.
    """

    term: str
    domain: str
    depth: int
    records: int | None = None
    hosts: int | None = None
    is_beyond_limit: bool = False


class SpfLookups:
    """Look-ups of an SPF record in the order of a receiver, until a limit or an error ends its evaluation.

    `records_of` returns the SPF records of a domain, and `hosts_of` the number of hosts; None without an answer.
    """

    def __init__(
        self,
        records_of: Callable[[str], Sequence[str] | None],
        hosts_of: Callable[[HostLookup], int | None],
    ) -> None:
        self._records_of = records_of
        self._hosts_of = hosts_of
        self._lookups: list[SpfLookup] = []

    def of(self, domain: str, record: str) -> list[SpfLookup]:
        """Return the look-ups of a domain's record. One beyond the limit is the last."""
        self._lookups = []
        self._evaluate(domain, record, 0)
        return self._lookups

    def _evaluate(self, domain: str, record: str, depth: int) -> bool:
        """Return False if the evaluation ends here."""
        try:
            terms = effective_terms(parse_spf(domain, record))
        except SpfError:
            return False
        return all(self._look_up(term, domain, depth) for term in terms if term.needs_lookup)

    def _look_up(self, term: SpfTerm, domain: str, depth: int) -> bool:
        if len(self._lookups) == MAX_LOOKUPS:
            self._lookups.append(SpfLookup(term.text, domain, depth, is_beyond_limit=True))
            return False
        if term.names_domain:
            other = term.value.lower().rstrip(".")
            records = self._records_of(other)
            count = None if records is None else len(records)
            self._lookups.append(SpfLookup(term.text, domain, depth, records=count))
            if records is None:
                return True
            return len(records) == 1 and self._evaluate(other, records[0], depth + 1)
        lookup = term.host_lookup(domain)
        hosts = None if lookup is None else self._hosts_of(lookup)
        self._lookups.append(SpfLookup(term.text, domain, depth, hosts=hosts))
        void = sum(looked_up.hosts == 0 for looked_up in self._lookups)
        has_too_many = lookup is not None and lookup.type == "MX" and (hosts or 0) > MAX_MX_HOSTS
        return void <= MAX_VOID_LOOKUPS and not has_too_many
