"""Trust anchors of DNSSEC."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

import dns.name
import dns.rdataclass
import dns.rdataset
import dns.rdatatype
from dns.rdtypes.ANY.DS import DS


@cache
def root_anchors() -> tuple[str, ...]:
    """Return IANA's trust anchors of the root zone, as texts of DS records."""
    data = tomllib.loads(resources.files(__package__).joinpath("root_anchors.toml").read_text(encoding="utf-8"))
    return tuple(str(anchor["ds"]) for anchor in data["anchor"])


def anchor_records(texts: Sequence[str]) -> tuple[DS, ...]:
    """Return the trust anchors of the root zone as DS records, those of IANA if `texts` is empty."""
    rdataset = dns.rdataset.from_text(dns.rdataclass.IN, dns.rdatatype.DS, 0, *(texts or root_anchors()))
    return tuple(record for record in rdataset if isinstance(record, DS))
