"""Chain of trust from the root to a zone, and validation of answers (RFC 4035, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.DS import DS
from dns.rdtypes.ANY.RRSIG import RRSIG
from msgspec import Struct, field
from msgspec.structs import replace

from website_scan.net.dnssec.answers import (
    Nsec3,
    Security,
    Signature,
    SignatureFault,
    SignedAnswer,
    ZoneTrust,
)
from website_scan.net.dnssec.denial import Denial, denial_of, nsec3_parameters
from website_scan.net.dnssec.signatures import (
    TooManyVerifications,
    Verification,
    describe_delegation,
    describe_key,
    is_supported,
    matches,
    signatures_of,
    zone_keys,
)
from website_scan.net.errors import NetError
from website_scan.net.name_servers import record_text

DENIAL_TYPES = (dns.rdatatype.NSEC, dns.rdatatype.NSEC3)
MAX_DELEGATIONS = 8
MAX_RECORDS = 100
MAX_ALIASES = 12
MAX_DEPTH = 12

Ask = Callable[[str, str], dns.message.Message]


class Zone(Struct):
    """Zone with its verified keys. They are empty if the zone is not secure."""

    name: dns.name.Name
    trust: ZoneTrust
    keys: Sequence[DNSKEY] = ()


class _Denied(Struct):
    """Zone of a negative answer, what the answer proves, its signatures and its NSEC3 parameters."""

    zone: Zone
    denial: Denial
    signatures: Sequence[Signature]
    nsec3: Nsec3 | None = None


class _Status(Struct):
    """Status of an answer, as far as its records are verified."""

    security: Security = Security.SECURE
    fault: SignatureFault | None = None
    fault_zone: str = ""
    signatures: list[Signature] = field(default_factory=list)
    nsec3: Nsec3 | None = None
    from_wildcard: bool = False

    def add_zone(self, trust: ZoneTrust) -> None:
        self.security = _weaker(self.security, trust.security)
        if trust.security is Security.BOGUS and trust.fault is not None:
            self.add_fault(trust.fault, trust.fault_zone)

    def add_fault(self, fault: SignatureFault, zone: str) -> None:
        self.security = Security.BOGUS
        if self.fault is None:
            self.fault, self.fault_zone = fault, zone


class Validator:
    """Validator of the answers of a resolver.

    `ask` returns a response with signatures, or raises a NetError. `zones` are the zones whose trust is known.
    """

    def __init__(
        self, ask: Ask, anchors: Sequence[DS], now: datetime, zones: Mapping[dns.name.Name, Zone] | None = None
    ) -> None:
        self.ask = ask
        self.anchors = anchors
        self.zones = dict(zones or {})
        self._verification = Verification(now)

    def trust(self, zone: str) -> ZoneTrust:
        """Return the chain of trust to a zone."""
        try:
            return self._zone(dns.name.from_text(zone)).trust
        except (NetError, TooManyVerifications):
            return ZoneTrust(zone, Security.UNKNOWN)

    def answer(self, name: str, record_type: str, domain: str) -> SignedAnswer:
        """Return the validated answer for a name and type.

        Only records in `domain` are validated: those of a CNAME record's target elsewhere are not. Raises NetError if
        the name servers give no answer.
        """
        response = self.ask(name, record_type)
        read = read_response(response, name, record_type)
        try:
            return self._validated(response, read, dns.name.from_text(domain))
        except (NetError, TooManyVerifications):
            return read

    def _validated(self, response: dns.message.Message, read: SignedAnswer, domain: dns.name.Name) -> SignedAnswer:
        status = _Status()
        for records in response.answer:
            is_signature = records.rdtype == dns.rdatatype.RRSIG
            if not is_signature and records.name.is_subdomain(domain) and not _is_synthesized(records, response.answer):
                self._add_records(status, records, signatures_of(response.answer, records))
        last = _last_name(read)
        if not read.records and last.is_subdomain(domain):
            self._add_denial(status, response, last, dns.rdatatype.from_text(read.record_type))
        if status.from_wildcard and status.nsec3 is None:
            status.nsec3 = nsec3_parameters(response.authority)
        return replace(
            read,
            security=status.security,
            fault=status.fault,
            fault_zone=status.fault_zone,
            signatures=tuple(status.signatures),
            nsec3=status.nsec3,
            from_wildcard=status.from_wildcard,
        )

    def _add_records(self, status: _Status, records: dns.rrset.RRset, signatures: Sequence[RRSIG]) -> None:
        zone, result = self._verify(records, signatures)
        status.add_zone(zone.trust)
        if isinstance(result, Signature):
            status.signatures.append(result)
            status.from_wildcard |= any(signature.labels < _labels(records.name) for signature in signatures)
        elif zone.trust.security is Security.SECURE:
            status.add_fault(result, zone.trust.zone)

    def _add_denial(
        self,
        status: _Status,
        response: dns.message.Message,
        name: dns.name.Name,
        record_type: dns.rdatatype.RdataType,
    ) -> None:
        denied = self._denial(response, name, record_type)
        status.add_zone(denied.zone.trust)
        status.signatures += denied.signatures
        status.nsec3 = denied.nsec3
        if denied.zone.trust.security is not Security.SECURE:
            return
        if denied.denial is Denial.NOTHING:
            status.add_fault(SignatureFault.NO_PROOF, denied.zone.trust.zone)
        elif denied.denial in (Denial.NOT_COMPUTED, Denial.OPTED_OUT):
            status.security = _weaker(status.security, Security.INSECURE)

    def _verify(self, records: dns.rrset.RRset, signatures: Sequence[RRSIG]) -> tuple[Zone, Signature | SignatureFault]:
        """Verify records with the keys of the zone that signed them, or whose signature is missing."""
        signer = _signer(records.name, signatures)
        zone = self._zone(signer) if signer is not None else self._enclosing_zone(records.name)
        if zone.trust.security is not Security.SECURE:
            return zone, SignatureFault.NO_SIGNATURE
        return zone, self._verification.verify(records, signatures, zone.keys)

    def _zone(self, name: dns.name.Name) -> Zone:
        known = self.zones.get(name)
        if known is None:
            if len(name) > MAX_DEPTH:
                raise TooManyVerifications
            known = self._root() if name == dns.name.root else self._delegated_zone(name)
            self.zones[name] = known
        return known

    def _root(self) -> Zone:
        zone = self._keys_of_zone(dns.name.root, self.anchors)
        if zone.trust.security is Security.BOGUS:
            # The name servers remove signatures or use another root, which is no fault of any domain.
            return Zone(zone.name, replace(zone.trust, security=Security.UNKNOWN, fault=None, fault_zone=""))
        return zone

    def _delegated_zone(self, name: dns.name.Name) -> Zone:
        response = self.ask(name.to_text(omit_final_dot=True), "DS")
        text = name.to_text(omit_final_dot=True)
        records = _find(response.answer, name, dns.rdatatype.DS)
        if records is not None:
            signatures = signatures_of(response.answer, records)
            signer = _signer(name, signatures)
            parent = self._zone(signer) if signer not in (None, name) else self._enclosing_zone(name.parent())
            if parent.trust.security is not Security.SECURE:
                return _below(parent, text)
            result = self._verification.verify(records, signatures, parent.keys)
            if isinstance(result, SignatureFault):
                return Zone(name, ZoneTrust(text, Security.BOGUS, result, parent.trust.zone))
            return self._keys_of_zone(name, [record for record in records if isinstance(record, DS)])
        if _find(response.answer, name, dns.rdatatype.CNAME) is not None:
            parent = self._enclosing_zone(name.parent())
            return Zone(parent.name, replace(parent.trust, is_zone=False), parent.keys)
        denied = self._denial(response, name, dns.rdatatype.DS)
        parent, denial = denied.zone, denied.denial
        if parent.trust.security is not Security.SECURE:
            return _below(parent, text)
        if denial is Denial.NOTHING:
            return Zone(name, ZoneTrust(text, Security.BOGUS, SignatureFault.NO_PROOF, parent.trust.zone))
        if denial in (Denial.NO_RECORDS, Denial.NO_NAME):
            return Zone(parent.name, replace(parent.trust, is_zone=False), parent.keys)
        return Zone(name, ZoneTrust(text, Security.INSECURE))

    def _keys_of_zone(self, name: dns.name.Name, delegations: Sequence[DS]) -> Zone:
        text = name.to_text(omit_final_dot=True)
        described = tuple(describe_delegation(record) for record in delegations[:MAX_DELEGATIONS])
        trust = ZoneTrust(text, Security.BOGUS, None, text, delegations=described)
        usable = [record for record in delegations[:MAX_DELEGATIONS] if is_supported(record)]
        if not usable:
            # RFC 4035, section 5.2: such a zone counts as unsigned.
            return Zone(name, replace(trust, security=Security.INSECURE, has_unsupported_algorithms=True))
        response = self.ask(text or ".", "DNSKEY")
        records = _find(response.answer, name, dns.rdatatype.DNSKEY)
        if records is None:
            if response.rcode() not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
                return Zone(name, replace(trust, security=Security.UNKNOWN, fault_zone=""))
            return Zone(name, replace(trust, fault=SignatureFault.NO_KEYS))
        keys = zone_keys(records)
        trust = replace(trust, keys=tuple(describe_key(key) for key in keys))
        trusted = [key for key in keys if any(matches(record, key, name) for record in usable)]
        if not trusted:
            return Zone(name, replace(trust, fault=SignatureFault.DS_MISMATCH))
        result = self._verification.verify(records, signatures_of(response.answer, records), trusted)
        if isinstance(result, SignatureFault):
            return Zone(name, replace(trust, fault=result))
        return Zone(name, replace(trust, security=Security.SECURE, fault_zone="", signatures=(result,)), keys)

    def _enclosing_zone(self, name: dns.name.Name) -> Zone:
        """Return the zone that has a name, by asking for delegations from the root downwards."""
        zone = self._zone(dns.name.root)
        for labels in range(2, len(name) + 1):
            if zone.trust.security is not Security.SECURE:
                return zone
            zone = self._zone(dns.name.Name(name.labels[-labels:]))
        return zone

    def _denial(
        self, response: dns.message.Message, name: dns.name.Name, record_type: dns.rdatatype.RdataType
    ) -> _Denied:
        """Return what a negative answer proves, and in which zone."""
        verified: list[dns.rrset.RRset] = []
        signatures: list[Signature] = []
        zone: Zone | None = None
        for records in response.authority:
            if records.rdtype not in (*DENIAL_TYPES, dns.rdatatype.SOA):
                continue
            checked = signatures_of(response.authority, records)
            signer = _signer(records.name, checked)
            if signer is None or not name.is_subdomain(signer):
                continue
            if record_type == dns.rdatatype.DS and signer == name:
                continue  # The parent has to deny a DS record.
            zone = zone or self._zone(signer)
            if zone.name != signer or zone.trust.security is not Security.SECURE:
                continue
            result = self._verification.verify(records, checked, zone.keys)
            if isinstance(result, Signature):
                signatures.append(result)
                if records.rdtype in DENIAL_TYPES:
                    verified.append(records)
        if zone is None:
            zone = self._enclosing_zone(name.parent() if record_type == dns.rdatatype.DS else name)
        if zone.trust.security is not Security.SECURE:
            return _Denied(zone, Denial.NOTHING, signatures)
        denial = denial_of(name, record_type, zone.name, verified)
        return _Denied(zone, denial, signatures, nsec3_parameters(verified))


def read_response(response: dns.message.Message, name: str, record_type: str) -> SignedAnswer:
    """Return the content of a response, before its validation."""
    owner, wanted = dns.name.from_text(name), dns.rdatatype.from_text(record_type)
    aliases: list[str] = []
    while (alias := _find(response.answer, owner, dns.rdatatype.CNAME)) is not None and wanted != dns.rdatatype.CNAME:
        owner = alias[0].target
        aliases.append(owner.to_text(omit_final_dot=True).lower())
        if len(aliases) >= MAX_ALIASES:
            break
    found = _find(response.answer, owner, wanted)
    records = tuple(record_text(record) for record in list(found or ())[:MAX_RECORDS])
    code = dns.rcode.to_text(response.rcode())
    return SignedAnswer(name, record_type, code, records, tuple(aliases))


def _find(
    section: Sequence[dns.rrset.RRset], name: dns.name.Name, record_type: dns.rdatatype.RdataType
) -> dns.rrset.RRset | None:
    return next((rrset for rrset in section if rrset.name == name and rrset.rdtype == record_type), None)


def _signer(owner: dns.name.Name, signatures: Sequence[RRSIG]) -> dns.name.Name | None:
    """Return the zone that signed records: the signer's name, if the owner may be in that zone."""
    return next((signature.signer for signature in signatures if owner.is_subdomain(signature.signer)), None)


def _is_synthesized(records: dns.rrset.RRset, section: Sequence[dns.rrset.RRset]) -> bool:
    """Return True for a CNAME record that a server made from a DNAME record, and did not sign (RFC 6672)."""
    return records.rdtype == dns.rdatatype.CNAME and any(
        rrset.rdtype == dns.rdatatype.DNAME and records.name.is_subdomain(rrset.name) and records.name != rrset.name
        for rrset in section
    )


def _below(parent: Zone, zone: str) -> Zone:
    """Return a zone below one that is not secure, which has its status."""
    trust = ZoneTrust(zone, parent.trust.security, parent.trust.fault, parent.trust.fault_zone)
    return Zone(dns.name.from_text(zone), trust)


def _labels(name: dns.name.Name) -> int:
    """Return the number of labels as in RRSIG records (RFC 4034, section 3.1.3)."""
    return len(name) - 1 - (1 if name.is_wild() else 0)


def _last_name(answer: SignedAnswer) -> dns.name.Name:
    return dns.name.from_text(answer.aliases[-1] if answer.aliases else answer.name)


def _weaker(first: Security, second: Security) -> Security:
    order = (Security.SECURE, Security.INSECURE, Security.UNKNOWN, Security.BOGUS)
    return max(first, second, key=order.index)
