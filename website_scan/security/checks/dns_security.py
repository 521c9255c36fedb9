"""Checks of DNSSEC, and of the DNS records that protect certificates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt, some
from website_scan.net.dnssec.answers import Security, Signature, SignatureFault, ZoneTrust
from website_scan.outcomes import Fail, Fix, Language, Note, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Clock
from website_scan.security.caa import read_caa
from website_scan.security.dane import read_tlsa
from website_scan.security.dns_places import (
    NO_OWN_DOMAIN,
    CaaRow,
    DnsRecord,
    KeyRow,
    SignatureRow,
)
from website_scan.security.dnssec_algorithms import (
    MIN_RSA_BITS,
    OBSOLETE_ALGORITHMS,
    SHA1_ALGORITHMS,
    SHA1_DIGEST,
    algorithm_name,
)
from website_scan.security.domain_evidence import (
    CaaRecords,
    DnssecRecords,
    TlsaRecords,
)
from website_scan.security.evidence import TlsPeer
from website_scan.values import Count, Excerpt, Word

CATEGORY = Category("DNS security", weight=2)

NO_SIGNATURES = NotApplicable("Not tested: the name servers of this installation deliver no DNSSEC signatures.")
# Signers renew signatures long before this share of their lifetime remains, except signers that sign each answer.
MIN_REMAINING_SHARE = 0.05
MIN_LIFETIME = timedelta(days=4)
# RFC 9276, section 3.2: validating resolvers may treat zones with more iterations as unsigned, or refuse to answer.
MAX_ITERATIONS = 100

FAULTS = {
    SignatureFault.NO_KEYS: "the zone has no DNSKEY record that belongs to the DS record of its parent",
    SignatureFault.DS_MISMATCH: "no key of the zone belongs to the DS record of its parent",
    SignatureFault.NO_SIGNATURE: "records have no signature",
    SignatureFault.EXPIRED: "signatures have expired",
    SignatureFault.NOT_YET_VALID: "signatures are not valid yet",
    SignatureFault.WRONG_SIGNATURE: "signatures are wrong",
    SignatureFault.NO_PROOF: "nothing proves that records do not exist",
}
REJECTED = "Many visitors cannot open your site, because their internet provider rejects its address as forged."


@check(
    "dnssec",
    name="DNSSEC is enabled",
    outcomes={
        "off": outcome("DNSSEC is not enabled", LOW),
        "no-keys": "DNSSEC keys are missing",
        "no-ds": outcome("DNSSEC has no DS record", LOW),
        "broken": "DNSSEC chain is broken",
        "expired": "DNSSEC signatures have expired",
        "expires-soon": outcome("DNSSEC signatures expire soon", MEDIUM),
        "unsupported": outcome("DNSSEC uses only unknown algorithms", LOW),
    },
    why="Without valid signatures, resolvers cannot tell a forged DNS answer from a genuine one.",
    consequence=REJECTED,
    severity=HIGH,
    fix=Fix(
        "Enable DNSSEC at your DNS provider, and give its DS record to your registrar.",
        {Language.DNS: "example.com. DS KEY-TAG 13 2 DIGEST"},
    ),
    judged="The scanner validates the chain of trust from the root itself. Signatures expire soon if less than 5 % of "
    "their lifetime remains.",
    references=("RFC 4033", "RFC 4035, section 5", "RFC 9364"),
)
def dnssec(dnssec_records: DnssecRecords, clock: Clock) -> Verdict:
    trust = dnssec_records.trust
    if dnssec_records.domain is None or trust is None:
        return NO_OWN_DOMAIN
    domain, keys = Excerpt(dnssec_records.domain), KeyRow.of(trust)
    if trust.security is Security.UNKNOWN:
        return NO_SIGNATURES
    if (broken := _broken_part(dnssec_records)) is not None:
        if dnssec_records.is_authenticated:
            return NotApplicable("The name servers of this installation accept signatures that this scanner does not.")
        return _rejected(dnssec_records.domain, *broken, keys)
    if trust.security is Security.INSECURE:
        if trust.has_unsupported_algorithms:
            return Warn(
                "unsupported",
                "{domain} is signed only with algorithms that resolvers do not know, so it counts as unsigned.",
                domain=domain,
                details=keys,
            )
        if dnssec_records.has_keys:
            return Warn(
                "no-ds",
                "{domain} has keys, but no DS record at its parent, so resolvers do not validate its signatures.",
                domain=domain,
            )
        if not dnssec_records.is_parent_signed:
            return NotApplicable("The domain above is not signed, so this one cannot be validated.")
        return Warn("off", "{domain} is not signed.", domain=domain)
    signatures = _signatures(dnssec_records)
    first = min(signatures, key=lambda signature: signature.expiration)
    lifetime, remaining = first.expiration - first.inception, first.expiration - clock.now
    rows = [*keys, *SignatureRow.of(signatures)]
    if lifetime >= MIN_LIFETIME and remaining < lifetime * MIN_REMAINING_SHARE:
        return Warn(
            "expires-soon",
            "Signatures of {domain} expire on {moment}, and have not been renewed.",
            domain=domain,
            moment=Word(f"{first.expiration:%Y-%m-%d %H:%M} UTC"),
            details=rows,
            fix="Check that your name server still signs the zone: its signing process or key may have failed.",
        )
    names = sorted({algorithm_name(key.algorithm) for key in trust.keys})
    return Pass("{domain} is signed with {algorithms}.", domain=domain, algorithms=Word(some(names)), details=rows)


@check(
    "dnssec-algorithms",
    name="DNSSEC algorithms are current",
    outcomes={
        "sha-1": outcome("DNSSEC uses SHA-1", MEDIUM),
        "obsolete": outcome("DNSSEC uses an obsolete algorithm", MEDIUM),
        "sha-1-digest": "DS record uses SHA-1",
        "short-key": "DNSSEC key is short",
    },
    why="Resolvers ignore outdated algorithms, so that the domain is unprotected, or refuse to resolve it.",
    severity=LOW,
    fix="Roll over to the algorithm ECDSA P-256 with SHA-256 (13) at your DNS provider, and replace the DS record.",
    references=("RFC 9904", "RFC 9905", "NIST SP 800-131A"),
)
def dnssec_algorithms(dnssec_records: DnssecRecords) -> Verdict:
    trust = dnssec_records.trust
    if dnssec_records.domain is None or trust is None:
        return NO_OWN_DOMAIN
    if not trust.delegations or trust.security is Security.UNKNOWN:
        return NotApplicable("The domain is not signed.")
    domain, rows = Excerpt(dnssec_records.domain), KeyRow.of(trust)
    used = {key.algorithm for key in trust.keys} | {ds.algorithm for ds in trust.delegations}
    for name, outdated in (("obsolete", OBSOLETE_ALGORITHMS), ("sha-1", SHA1_ALGORITHMS)):
        if both := sorted(used & outdated):
            return Fail(
                name,
                "{domain} is signed with {algorithm}, which RFC 9904 forbids.",
                domain=domain,
                algorithm=Word(algorithm_name(both[0])),
                details=rows,
            )
    if {ds.digest_type for ds in trust.delegations} == {SHA1_DIGEST}:
        return Warn("sha-1-digest", "The DS record of {domain} has a SHA-1 digest.", domain=domain, details=rows)
    if short := [key for key in trust.keys if 0 < key.bits < MIN_RSA_BITS]:
        return Warn(
            "short-key",
            "{domain} has an RSA key of {bits} bits. At least {least} are recommended.",
            domain=domain,
            bits=min(key.bits for key in short),
            least=MIN_RSA_BITS,
            details=rows,
        )
    names = sorted({algorithm_name(number) for number in used})
    return Pass("{domain} uses {algorithms}.", domain=domain, algorithms=Word(some(names)), details=rows)


@check(
    "dnssec-nsec3",
    name="NSEC3 has no extra iterations",
    outcomes={
        "iterations": "NSEC3 has extra iterations",
        "many-iterations": outcome("NSEC3 has so many iterations that resolvers refuse them", MEDIUM),
        "salt": "NSEC3 has a salt",
    },
    why="Iterations and salt protect nothing, but cost every resolver processor time, so many resolvers limit them.",
    severity=LOW,
    fix=Fix(
        "Set the iterations to 0 and the salt to `-`, for example with `nsec3param iterations 0 salt-length 0` in a "
        "`dnssec-policy` of BIND, or `pdnsutil set-nsec3 example.com '1 0 0 -'` in PowerDNS.",
        {Language.DNS: "example.com. NSEC3PARAM 1 0 0 -"},
    ),
    references=("RFC 9276, section 3.1", "RFC 9276, section 3.2"),
)
def dnssec_nsec3(dnssec_records: DnssecRecords) -> Verdict:
    if dnssec_records.domain is None:
        return NO_OWN_DOMAIN
    parameters = next((answer.nsec3 for answer in dnssec_records.answers if answer.nsec3 is not None), None)
    if parameters is None:
        return NotApplicable("The domain has no NSEC3 records.")
    domain, iterations = Excerpt(dnssec_records.domain), Count(parameters.iterations, "extra iteration")
    if parameters.iterations > MAX_ITERATIONS:
        return Fail(
            "many-iterations",
            "NSEC3 records of {domain} have {iterations}. Resolvers treat the domain as unsigned, or do not answer.",
            domain=domain,
            iterations=iterations,
        )
    if parameters.iterations:
        return Warn("iterations", "NSEC3 records of {domain} have {iterations}.", domain=domain, iterations=iterations)
    if parameters.salt_bytes:
        return Note(
            "salt",
            "NSEC3 records of {domain} have a salt of {size}.",
            domain=domain,
            size=Count(parameters.salt_bytes, "byte"),
        )
    return Pass("NSEC3 records of {domain} have no extra iterations and no salt.", domain=domain)


@check(
    "caa",
    name="Certificate authorities restricted (CAA)",
    outcomes={
        "missing": "No CAA record",
        "no-issue": "CAA records have no issue property",
        "invalid": "CAA record is invalid",
        "critical": "CAA record has an unknown critical property",
    },
    why="Without an issue property in a CAA record, any certificate authority may issue certificates for the domain.",
    severity=LOW,
    fix=Fix(
        "Publish a CAA record for the authority that you use. It can also name your account (`accounturi`) and the "
        "methods by which the authority may validate the domain (`validationmethods`).",
        {
            Language.DNS: 'example.com. CAA 0 issue "letsencrypt.org; '
            'accounturi=https://acme-v02.api.letsencrypt.org/acme/acct/YOUR-NUMBER; validationmethods=dns-01"'
        },
    ),
    references=("RFC 8659", "RFC 8657"),
)
def caa(caa_records: CaaRecords) -> Verdict:
    if caa_records.domain is None:
        return NO_OWN_DOMAIN
    if not caa_records.records:
        return Warn("missing", "{domain} has no CAA record.", domain=Excerpt(caa_records.domain))
    properties = read_caa(caa_records.records)
    name, rows = Excerpt(caa_records.name), CaaRow.of(properties)
    if unknown := [known for known in properties if known.is_unknown_and_critical]:
        return Fail(
            "critical",
            "A CAA record of {name} has the critical property {tag}, so authorities must not issue certificates.",
            name=name,
            tag=Word(excerpt(unknown[0].tag, 40)),
            details=rows,
        )
    issuers = [known for known in properties if known.tag == "issue"]
    if faulty := [known for known in properties if known.fault]:
        records, fault = Count(len(faulty), "CAA record"), Excerpt(faulty[0].fault, 200)
        text = "{records} of {name} {records:is|are} invalid: {fault}."
        # One valid `issue` record suffices for certificates of websites, and records with other tags do not matter.
        if issuers and all(known.fault for known in issuers):
            text += " Authorities issue no certificates because of it."
        return Warn("invalid", text, records=records, name=name, fault=fault, details=rows)
    if not issuers:
        return Warn("no-issue", "The CAA records of {name} have no issue property.", name=name, details=rows)
    bound = sum(bool(known.accounts) for known in issuers if known.issuer)
    if bound:
        return Pass(
            "{name} has {records}, {bound} of them bound to an account.",
            name=name,
            records=Count(len(rows), "CAA record"),
            bound=bound,
            details=rows,
        )
    return Pass("{name} has {records}.", name=name, records=Count(len(rows), "CAA record"), details=rows)


@check(
    "dane",
    name="TLSA record matches the certificate (DANE)",
    outcomes={
        "mismatch": "TLSA record does not match the certificate",
        "unusable": "TLSA record is unusable",
    },
    why="Clients that support DANE refuse to connect if no TLSA record matches the server's certificate.",
    severity=MEDIUM,
    fix="Publish the TLSA record of the next certificate before you change it, or keep the key. For example: "
    "`openssl x509 -in cert.pem -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256`.",
    references=("RFC 6698", "RFC 7671"),
)
def dane(tlsa: TlsaRecords, peer: TlsPeer) -> Verdict:
    if tlsa.domain is None:
        return NO_OWN_DOMAIN
    if tlsa.answer is None or tlsa.answer.security is not Security.SECURE:
        return NotApplicable("DANE needs a domain with DNSSEC.")
    if not tlsa.answer.records:
        return NotApplicable("The server has no TLSA record.")
    if peer.handshake is None:
        return NotApplicable("The server did not complete a TLS handshake.")
    rows = DnsRecord.from_records("TLSA", tlsa.answer.records)
    usable = [record for record in read_tlsa(tlsa.answer.records) if record.is_usable]
    if not usable:
        return Warn("unusable", "No client understands the TLSA records.", details=rows)
    handshake = peer.handshake
    # A root that the server does not send is part of the verified path.
    matching = [record for record in usable if record.matches(handshake.chain) or record.matches(handshake.path)]
    if not matching:
        return Fail(
            "mismatch",
            "None of the {records} matches the server's certificates.",
            records=Count(len(usable), "TLSA record"),
            details=rows,
        )
    return Pass(
        "{records} {records:matches|match} the server's certificate.",
        records=Count(len(matching), "TLSA record"),
        details=rows,
    )


def _broken_part(records: DnssecRecords) -> tuple[SignatureFault, str] | None:
    """Return the first fault because of which validating resolvers reject the domain, with its zone."""
    parts: Sequence[ZoneTrust | None] = [records.trust]
    for part in (*parts, *records.answers):
        if part is not None and part.security is Security.BOGUS and part.fault is not None:
            return part.fault, part.fault_zone
    return None


def _rejected(domain: str, fault: SignatureFault, zone: str, keys: Sequence[KeyRow]) -> Verdict:
    if fault is SignatureFault.NO_KEYS:
        return Fail(
            "no-keys",
            "{domain} has a DS record at its parent, but no DNSKEY, so validating resolvers reject its answers.",
            domain=Excerpt(domain),
            details=keys,
            fix="Ask your registrar to delete the DS record, or let your DNS provider sign the zone with the same key.",
        )
    return Fail(
        "expired" if fault is SignatureFault.EXPIRED else "broken",
        "Validating resolvers reject answers for {domain}, because in the zone {zone}, {fault}.",
        domain=Excerpt(domain),
        zone=Excerpt(zone or "."),
        fault=Word(FAULTS[fault]),
        details=keys,
        fix="Sign the zone again at your DNS provider, and compare the DS record at your registrar with the one that "
        "your provider shows. If that takes long, ask the registrar to delete the DS record until then.",
    )


def _signatures(records: DnssecRecords) -> list[Signature]:
    """Return the verified signatures of the domain's keys and of the records in its zone."""
    own = records.trust.signatures if records.trust is not None else ()
    return [*own, *(signature for answer in records.answers for signature in answer.signatures)]
