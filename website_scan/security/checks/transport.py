"""Transport security checks: HTTPS, TLS, certificates, HSTS and mixed content."""

from __future__ import annotations

from datetime import timedelta

from website_scan.catalogue import Category, check
from website_scan.findings import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    EvidenceItem,
    Fail,
    Finding,
    Fix,
    NotApplicable,
    Pass,
    Warn,
)
from website_scan.messages import clause, counted, duration, excerpt, some
from website_scan.net.targets import Target
from website_scan.net.tls.ciphers import TlsVersion, is_forward_secret, weakness
from website_scan.page.evidence import Clock, Document, Page
from website_scan.page.markup import http_equivs
from website_scan.security.certificates import (
    FULL_CHAIN,
    LEGACY_OFF,
    MODERN_ON,
    STRONG_SUITES,
    distrust,
    facts,
    fix_of_distrust,
    is_due_for_renewal,
)
from website_scan.security.csp import Policies
from website_scan.security.evidence import HttpsAnswer, PlainHttp, TlsPeer, TlsSupport
from website_scan.security.hsts import HEADER as HSTS_HEADER
from website_scan.security.hsts import BadHsts, is_preloaded, parse_hsts, preload_faults, valid_policy
from website_scan.security.mixed_content import has_password_field, insecure_forms, insecure_resources
from website_scan.urls import Url

CATEGORY = Category("Transport security", weight=30)

HALF_A_YEAR_S = 15_552_000  # 180 days

NO_TLS = NotApplicable("Nothing answers over TLS on the host.")


@check(
    "https-available",
    name="HTTPS available",
    found="HTTPS not available",
    why="Over plain HTTP, anyone on the network can read and change what visitors see and send.",
    severity=CRITICAL,
    fix="Get a certificate (over ACME it is free and renews itself), and serve the site over TLS.",
    references=("RFC 9110, section 4.2.2", "RFC 9325", "CWE-319"),
)
def https_available(target: Target, peer: TlsPeer, support: TlsSupport) -> Finding:
    place = f"{peer.host}:{peer.port}"
    if peer.handshake is not None:
        return Pass(f"{place} answers over {peer.handshake.version.label} with {peer.handshake.cipher}.")
    versions = sorted(support.versions)
    if versions and versions[-1] > TlsVersion.SSL3_0:
        return Pass(f"{place} accepts {versions[-1].label}, though a full handshake failed: {peer.error}")
    if versions:
        message = f"{place} supports SSL 3.0 only, which browsers reject."
        fix = Fix("Accept TLS 1.2 and 1.3 only ({example}).", LEGACY_OFF)
        return Fail(message, fix=fix, covers_category=True, title="HTTPS with SSL 3.0 only")
    risk = "" if target.is_https else ", so the page was loaded over plain HTTP"
    return Fail(f"No HTTPS connection to {place} is possible ({clause(peer.error)}){risk}.", covers_category=True)


@check(
    "http-to-https-redirect",
    name="Redirect from HTTP to HTTPS",
    found="No redirect from HTTP to HTTPS",
    why="Anyone on the network can read and change what is sent over plain HTTP.",
    severity=HIGH,
    fix="Answer every request on port 80 with a 301 or 308 to the same host and path: Location: https://HOST/PATH",
    references=("RFC 6797, section 7.2", "CWE-319"),
)
def http_to_https_redirect(plain: PlainHttp) -> Finding:
    if plain.url is None:
        return NotApplicable("The page's port is not 443, so no address for plain HTTP is known.")
    if not plain.hops:
        return Pass(f"Nothing answers plain HTTP at {excerpt(plain.url)}, so nothing is sent in the clear.")
    urls = [hop.url for hop in plain.hops] + ([plain.next_url] if plain.next_url else [])
    chain: list[EvidenceItem] = [{"hop": number, "url": excerpt(url)} for number, url in enumerate(urls, 1)]
    if len(urls) == 1:
        message = f"Plain HTTP answers with status {plain.hops[0].status} and does not redirect to HTTPS"
        if plain.hops[0].status >= 400:
            return Warn(f"{message}.", LOW, chain)
        return Fail(f"{message} (a redirect in the page itself comes too late).", evidence=chain)
    try:
        start, first, last = (Url.of(urls[index]) for index in (0, 1, -1))
    except ValueError:
        message = f"Plain HTTP redirects to “{excerpt(urls[-1])}”, which is not a URL."
        return Fail(message, evidence=chain, title="Redirect from HTTP is invalid")
    if last.scheme != "https":
        message = f"Redirects from plain HTTP end at {excerpt(last.href)}, without TLS."
        return Fail(message, evidence=chain, title="Redirects from HTTP do not lead to HTTPS")
    if first.scheme != "https":
        message = f"Plain HTTP redirects to a second unprotected address, {excerpt(first.href)}."
        return Warn(message, MEDIUM, chain, title="Redirect from HTTP leads to plain HTTP again")
    if first.hostname != start.hostname:
        other = f"Plain HTTP redirects to another host first, {first.hostname}"
        return Warn(
            f"{other}, so browsers get no HSTS header from {start.hostname}.",
            LOW,
            chain,
            title="Redirect from HTTP leads to another host first",
        )
    return Pass(f"Plain HTTP redirects straight to {excerpt(first.href)}.", evidence=chain)


@check(
    "tls-cert-trusted",
    name="Certificate is trusted",
    found="Certificate is not trusted",
    why="Browsers that do not trust a certificate show a warning instead of the site; API clients refuse to connect.",
    judged="Also fails if browsers refuse a chain with a trusted root: MD5, SHA-1 or an RSA key below 1024 bits under "
    "it, or a certificate that is valid for too long.",
    severity=CRITICAL,
    fix=Fix(
        "Install a certificate from a public authority with its full chain, leaf first, then each intermediate "
        "({example}).",
        FULL_CHAIN,
    ),
    references=("RFC 5280, section 6", "RFC 8446, section 4.4.2", "CWE-295"),
)
def tls_cert_trusted(peer: TlsPeer) -> Finding:
    if peer.handshake is None:
        return NO_TLS
    trust, leaf = peer.handshake.trust, peer.handshake.leaf
    chain = [facts(each) for each in peer.handshake.chain]
    fault = distrust(peer.handshake)
    if fault is None:
        return Pass(f"The chain from “{excerpt(leaf.subject)}” leads to a trusted root.", chain)
    return Fail(fault.message, evidence=chain, fix=fix_of_distrust(trust), title=fault.title)


@check(
    "tls-cert-hostname",
    name="Certificate matches the host name",
    found="Certificate does not match the host name",
    why="Browsers cannot tell the server from an impostor, so they show a warning instead of the site.",
    severity=CRITICAL,
    fix="Get a certificate whose subjectAltName lists every host name of the site.",
    references=("RFC 9525, section 6", "RFC 9110, section 4.3.4", "CWE-297"),
)
def tls_cert_hostname(peer: TlsPeer) -> Finding:
    if peer.handshake is None:
        return NO_TLS
    leaf = peer.handshake.leaf
    names = (*leaf.dns_names, *leaf.ip_addresses)
    shown = some([excerpt(name) for name in names])
    evidence = [facts(leaf)]
    if leaf.matches(peer.host):
        return Pass(f"The certificate names {peer.host} (subjectAltName: {shown}).", evidence)
    if not leaf.names_readable:
        return Fail(
            "The certificate's subjectAltName can't be read, so it names no host.",
            evidence=evidence,
            title="Certificate names no host",
        )
    if not names:
        common_name = f"its common name “{excerpt(leaf.common_name)}” does not count"
        return Fail(
            f"The certificate has no subjectAltName; {common_name}.",
            evidence=evidence,
            title="Certificate names no host",
        )
    return Fail(f"The certificate is not for {peer.host}, but for {shown}.", evidence=evidence)


@check(
    "tls-cert-expiry",
    name="Certificate is within its validity period",
    found="Certificate has expired",
    why="Outside the validity period of its certificate, browsers show a warning instead of the site.",
    severity=CRITICAL,
    fix="Renew the certificate, and let an ACME client renew it when a third of its lifetime is left.",
    references=("RFC 5280, section 4.1.2.5", "CWE-298"),
)
def tls_cert_expiry(peer: TlsPeer, clock: Clock) -> Finding:
    if peer.handshake is None:
        return NO_TLS
    leaf = peer.handshake.leaf
    evidence = [facts(leaf)]
    if clock.now < leaf.not_before:
        return Fail(
            f"The certificate becomes valid on {leaf.not_before:%F %H:%M} UTC.",
            evidence=evidence,
            title="Certificate is not valid yet",
        )
    left = leaf.not_after - clock.now
    if left < timedelta(0):
        expired = f"The certificate expired on {leaf.not_after:%F %H:%M} UTC, {duration(-left)} ago."
        return Fail(expired, evidence=evidence)
    if is_due_for_renewal(leaf, clock.now):
        return Warn(
            f"The certificate expires on {leaf.not_after:%F %H:%M} UTC, and should have been renewed by now.",
            MEDIUM,
            evidence,
            title=f"Certificate expires in {duration(left)}",
        )
    return Pass(
        f"The certificate is valid for another {duration(left)}, until {leaf.not_after:%F %H:%M} UTC.", evidence
    )


@check(
    "tls-cert-strength",
    name="Certificate has a strong key and signature",
    found="Certificate is weak",
    why="With enough computing power, a weak key or signature can be broken, and the server impersonated.",
    severity=HIGH,
    fix="Get a certificate with an ECDSA P-256 or RSA 2048-bit key, signed with SHA-256.",
    references=("RFC 9325, section 4.5", "NIST SP 800-131A", "CWE-326"),
)
def tls_cert_strength(peer: TlsPeer) -> Finding:
    if peer.handshake is None:
        return NO_TLS
    judged = peer.handshake.signed
    leaf = judged[0]
    weak = [(each.subject, fault) for each in judged if (fault := each.weak_point)]
    evidence = [facts(each) for each in judged]
    if weak:
        shown = some([f"“{excerpt(subject)}” has {fault}" for subject, fault in weak])
        return Fail(f"Weak certificate: {shown}.", evidence=evidence, title=f"Certificate has {weak[0][1]}")
    bits = f" {leaf.key_bits} bits" if leaf.key_bits else ""
    signature = leaf.signature_hash or "a modern algorithm"
    return Pass(f"{leaf.key_type}{bits}, signed with {signature}.", evidence)


@check(
    "tls-legacy-protocols",
    name="Outdated TLS versions are refused",
    found="Outdated TLS versions are accepted",
    why="Versions before TLS 1.2 have known weaknesses, and attackers can downgrade connections to them.",
    severity=MEDIUM,
    fix=Fix("Accept TLS 1.2 and 1.3 only ({example}).", LEGACY_OFF),
    references=("RFC 8996", "RFC 7568", "CWE-327"),
)
def tls_legacy_protocols(support: TlsSupport) -> Finding:
    if not support.versions:
        return NO_TLS
    legacy = [version for version in sorted(support.versions) if version < TlsVersion.TLS1_2]
    if not legacy:
        return Pass("TLS 1.1, TLS 1.0 and SSL 3.0 are refused.")
    evidence = [{"version": each.label, "cipher": support.versions[each]} for each in legacy]
    names = " and ".join(version.label for version in legacy)
    severity = HIGH if TlsVersion.SSL3_0 in legacy else None
    title = f"{names} is accepted" if len(legacy) == 1 else ""
    return Fail(f"The server accepts {names}.", severity, evidence, title=title)


@check(
    "tls-modern-protocols",
    name="TLS 1.3 is supported",
    found="TLS 1.3 is not supported",
    why="TLS 1.3 connects one round trip faster, and lacks the features that known attacks exploit.",
    severity=HIGH,
    fix=Fix("Enable TLS 1.3 beside TLS 1.2, with OpenSSL 1.1.1 or later ({example}).", MODERN_ON),
    references=("RFC 9325, section 3.1", "RFC 8446", "CWE-327"),
)
def tls_modern_protocols(support: TlsSupport) -> Finding:
    if not support.versions:
        return NO_TLS
    if TlsVersion.TLS1_3 in support.versions:
        return Pass("The server supports TLS 1.3.")
    newest = max(support.versions)
    if newest is TlsVersion.TLS1_2:
        return Warn("The newest version that the server supports is TLS 1.2.", LOW)
    return Fail(f"The newest version that the server supports is {newest.label}, which browsers reject.")


@check(
    "tls-weak-ciphers",
    name="No weak cipher suites",
    found="Weak cipher suites are accepted",
    why="Weak cipher suites can be broken; without forward secrecy, a stolen key also decrypts recorded traffic.",
    severity=HIGH,
    fix=Fix("Offer only AEAD suites with forward secrecy ({example}).", STRONG_SUITES),
    references=("RFC 9325, section 4.1", "RFC 7465", "CWE-327"),
)
def tls_weak_ciphers(support: TlsSupport) -> Finding:
    if not support.versions:
        return NO_TLS
    weak = [(name, kind) for name in support.weak_ciphers if (kind := weakness(name)) is not None]
    if weak:
        evidence = [{"cipher": name, "weakness": kind.value} for name, kind in weak]
        shown = ", ".join(f"{name} ({kind.value})" for name, kind in weak)
        return Fail(f"The server accepts weak cipher suites: {shown}.", evidence=evidence)
    newest = max(support.versions)
    chosen = support.versions[newest]
    if not is_forward_secret(chosen):
        message = f"With {newest.label} the server chooses {chosen}, without forward secrecy."
        return Warn(message, title="No forward secrecy")
    return Pass(f"No NULL, EXPORT, anonymous, RC4, DES or 3DES suite; {newest.label} uses {chosen}.")


@check(
    "hsts",
    name="HTTP Strict Transport Security",
    found="No HSTS header",
    why="Without a lasting HSTS policy, browsers may send a request over plain HTTP, where it can be intercepted.",
    judged=f"Passes with a max-age of at least 180 days ({HALF_A_YEAR_S:,} s) that browsers read; a shorter one warns.",
    severity=HIGH,
    fix="Send on every HTTPS response: Strict-Transport-Security: max-age=31536000; includeSubDomains",
    references=("RFC 6797, section 6.1", "CWE-319", "CWE-523", "MDN: Strict-Transport-Security"),
)
def hsts(page: Page, document: Document, answer: HttpsAnswer) -> Finding:
    if answer.response is None:
        return NO_TLS
    values = answer.response.headers.all(HSTS_HEADER)
    evidence = [{"header": HSTS_HEADER, "value": excerpt(value)} for value in values]
    if is_preloaded(page.target.host):
        return Pass(
            "The top-level domain is in browsers' HSTS preload list, so they never use plain HTTP here.", evidence
        )
    if not values:
        elsewhere = ""
        if not page.target.is_https and HSTS_HEADER in page.headers:
            elsewhere = "; over plain HTTP it is sent, but ignored there"
        elif http_equivs(document, HSTS_HEADER):
            elsewhere = "; in <meta> it is ignored"
        return Fail(
            f"The HTTPS response has no {HSTS_HEADER} header{elsewhere} (browsers' preload lists were not checked)."
        )
    tls = answer.response.tls
    if tls is not None and tls.trust_error is not None:
        return Fail(
            f"{HSTS_HEADER} came over a connection whose certificate is not trusted, so browsers ignore it.",
            evidence=evidence,
            title="HSTS header is ignored",
        )
    try:
        policy = parse_hsts(values[0])
    except BadHsts as error:
        header = f"header “{excerpt(values[0])}”" if values[0] else "empty header"
        message = f"Browsers ignore the {header}: {excerpt(str(error))}."
        return Fail(message, evidence=evidence, title="HSTS header is invalid")
    if policy.max_age_s == 0:
        return Fail("max-age=0 switches HSTS off.", evidence=evidence, title="HSTS is switched off")
    lasts = _lasts(policy.max_age_s)
    message = f"max-age={policy.max_age_s} ({lasts})"
    if policy.max_age_s < HALF_A_YEAR_S:
        message = f"HSTS lasts {lasts} (max-age={policy.max_age_s}), less than 180 days."
        return Warn(message, evidence=evidence, title=f"HSTS lasts {lasts}")
    if len(values) > 1:
        severity = LOW if len(set(values)) == 1 else MEDIUM
        return Warn(
            f"The header is sent {len(values)} times; browsers read the first only.",
            severity,
            evidence,
            title="HSTS header is repeated",
        )
    return Pass(f"{message}, {'with' if policy.include_subdomains else 'without'} subdomains.", evidence)


@check(
    "hsts-preload-consistency",
    name="HSTS preload requirements",
    found="HSTS preload requirements not met",
    why="Preload lists drop domains whose header does not meet their requirements.",
    severity=LOW,
    fix="Either remove preload, or meet its requirements: max-age=31536000; includeSubDomains; preload",
    references=("RFC 6797, section 12.3", "MDN: Strict-Transport-Security"),
)
def hsts_preload_consistency(answer: HttpsAnswer) -> Finding:
    policy = valid_policy(answer.response.headers) if answer.response else None
    if policy is None:
        return NotApplicable("The host sends no valid HSTS policy.")
    if not policy.preload:
        return Pass("The policy does not ask to be preloaded, and need not.")
    if faults := preload_faults(policy):
        return Warn(f"The policy asks to be preloaded, but {' and '.join(faults)}.")
    return Pass(f"preload with includeSubDomains and max-age={policy.max_age_s}.")


@check(
    "mixed-content",
    name="No mixed content",
    found="Mixed content",
    why="Browsers block scripts, styles and frames over plain HTTP, and anyone on the network can change the rest.",
    severity=HIGH,
    fix="Load every resource over https, or send: Content-Security-Policy: upgrade-insecure-requests",
    references=("W3C Mixed Content, section 3", "CWE-311", "MDN: upgrade-insecure-requests"),
    html=True,
)
def mixed_content(page: Page, document: Document, policies: Policies) -> Finding:
    if not page.target.is_https:
        return NotApplicable("Only a page over HTTPS can have mixed content.")
    found = insecure_resources(document)
    if not found:
        return Pass("No resource in the markup is loaded over plain HTTP.")
    if policies.upgrades_insecure_requests:
        return Pass(f"{counted(len(found), 'http reference')}, which upgrade-insecure-requests changes to https.")
    evidence: list[EvidenceItem] = [
        {"element": each.element, "url": excerpt(each.url), "passive": each.passive} for each in found
    ]
    active = [each for each in found if not each.passive]
    shown = some([f"<{each.element}> {excerpt(each.url)}" for each in active or found])
    if active:
        blocked = counted(len(active), "active resource")
        return Fail(f"The page loads {blocked} over plain HTTP: {shown}.", evidence=evidence)
    passive = counted(len(found), "image or media file", "images or media files")
    return Warn(f"The page loads {passive} over plain HTTP: {shown}.", LOW, evidence, title="Mixed passive content")


@check(
    "insecure-form",
    name="Forms are submitted over HTTPS",
    found="Form is submitted over plain HTTP",
    why="Anyone on the network can read what people type, including passwords.",
    severity=HIGH,
    fix='Serve the page over https and let the form send there: <form action="https://…">',
    references=("HTML, form submission", "CWE-319", "CWE-523"),
    html=True,
)
def insecure_form(page: Page, document: Document, policies: Policies) -> Finding:
    if not page.target.is_https and has_password_field(document):
        return Fail("The page asks for a password over plain HTTP.", CRITICAL, title="Password field over plain HTTP")
    found = insecure_forms(document, page.target.url)
    if not found:
        return Pass("No form is submitted over plain HTTP.")
    if page.target.is_https and policies.upgrades_insecure_requests:
        forms = counted(len(found), "form")
        return Pass(f"{forms} over http, which upgrade-insecure-requests changes to https.")
    evidence: list[EvidenceItem] = [{"action": excerpt(each.action), "password": each.password} for each in found]
    shown = some([excerpt(each.action) for each in found])
    if any(each.password for each in found):
        return Fail(
            f"A form with a password is submitted over plain HTTP: {shown}.",
            CRITICAL,
            evidence,
            title="Password is submitted over plain HTTP",
        )
    return Fail(f"{counted(len(found), 'form is', 'forms are')} submitted over plain HTTP: {shown}.", evidence=evidence)


def _lasts(seconds: int) -> str:
    """Return the time that an HSTS policy lasts: whole days or hours, or seconds below two hours."""
    if seconds < 7200:
        return counted(seconds, "second")
    return duration(timedelta(seconds=min(seconds, 10**10)))
