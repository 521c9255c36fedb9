"""Checks of HTTPS, TLS, certificates, HSTS and mixed content."""

from __future__ import annotations

from typing import Annotated, ClassVar

from website_scan.addresses import normal_address
from website_scan.browser.evidence import MixedRequests
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt
from website_scan.net.targets import Target
from website_scan.net.tls.ciphers import TlsVersion, is_forward_secret, weakness
from website_scan.outcomes import CategoryFail, Fail, Fix, Language, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Clock, Document, Page
from website_scan.page.markup import http_equivs
from website_scan.page.registrable_domain import is_ip_address
from website_scan.places import Column, ElementType, Header, Identity, Place, PlaceUrl, RedirectHop, as_written
from website_scan.security.certificates import (
    FULL_CHAIN_SETTINGS,
    LEGACY_TLS_OFF_SETTINGS,
    STRONG_SUITES_SETTINGS,
    TLS_1_3_ON_SETTINGS,
    CertificateRow,
    find_trust_fault,
    is_due_for_renewal,
)
from website_scan.security.csp import Policies
from website_scan.security.evidence import HttpsAnswer, PlainHttp, TlsPeer, TlsSupport
from website_scan.security.hsts import HEADER as HSTS_HEADER
from website_scan.security.hsts import (
    InvalidHsts,
    find_preload_faults,
    is_on_preload_list,
    parse_hsts,
    read_valid_policy,
)
from website_scan.security.mixed_content import (
    add_seen_requests,
    has_password_field,
    insecure_forms,
    insecure_resources,
)
from website_scan.urls import Url
from website_scan.values import Address, Count, Excerpt, Lifetime, Reason, Values, Word

CATEGORY = Category("Transport security", weight=30)

MIN_HSTS_MAX_AGE_S = 15_552_000

# RFC 6797, section 8.1.1: an IP address never becomes a Known HSTS Host.
NO_HSTS_AT_ADDRESS = NotApplicable("Browsers keep no HSTS policy for an IP address.")
NO_TLS_VERDICT = NotApplicable("Nothing answers over TLS on the host.")


class AcceptedVersion(Place, frozen=True):
    """Accepted TLS version, with the cipher suite that the server chooses."""

    kind: ClassVar[str] = "tls-version"

    version: Annotated[str, Identity(as_written), Column("Version", "short")]
    cipher: Annotated[str, Column("Cipher", "mono")]


class WeakCipher(Place, frozen=True):
    """Weak cipher suite that the server accepts."""

    kind: ClassVar[str] = "cipher"

    cipher: Annotated[str, Identity(as_written), Column("Cipher", "mono")]
    weakness: Annotated[str, Column("Weakness")]


class HttpResource(Place, frozen=True):
    """Resource that the page loads without encryption (http)."""

    kind: ClassVar[str] = "http-resource"
    are_counted: ClassVar[bool] = True

    element: ElementType
    url: PlaceUrl
    passive: Annotated[bool, Column("Image, audio or video", "short")]

    @property
    def label(self) -> str:
        return f"<{self.element}> {self.url}"


class HttpForm(Place, frozen=True):
    """Form that is submitted over plain HTTP."""

    kind: ClassVar[str] = "form"

    action: Annotated[str, Identity(normal_address), Column("Sends to", "address")]
    password: Annotated[bool, Column("Asks for a password", "short")]


@check(
    "https-available",
    name="HTTPS available",
    outcomes={
        "unavailable": "HTTPS not available",
        "ssl-3-only": outcome(
            "HTTPS with SSL 3.0 only",
            consequence="Visitors cannot open your site securely, because its encryption is out of date.",
        ),
    },
    why="Over plain HTTP, anyone on the network can read and change what visitors see and send.",
    consequence="Others on the same network, such as public Wi-Fi, can read and change what visitors see and send.",
    severity=CRITICAL,
    fix="Get a certificate (over ACME it is free and renews itself), and serve the site over TLS.",
    references=("RFC 9110, section 4.2.2", "RFC 9325", "CWE-319"),
)
def https_available(target: Target, peer: TlsPeer, support: TlsSupport) -> Verdict:
    server = Address(f"{peer.host}:{peer.port}")
    if peer.handshake is not None:
        version, cipher = Word(peer.handshake.version.label), Word(peer.handshake.cipher)
        return Pass("{server} answers over {version} with {cipher}.", server=server, version=version, cipher=cipher)
    versions = sorted(support.versions)
    if versions and versions[-1] > TlsVersion.SSL3_0:
        return Pass(
            "{server} accepts {version}, but a full handshake failed: {error}",
            server=server,
            version=Word(versions[-1].label),
            error=Excerpt(peer.error),
        )
    if versions:
        return CategoryFail(
            "ssl-3-only",
            "{server} supports only SSL 3.0, which browsers reject.",
            server=server,
            fix=Fix("Accept TLS 1.2 and 1.3 only.", LEGACY_TLS_OFF_SETTINGS),
        )
    if target.is_https:
        return CategoryFail(
            "unavailable",
            "No HTTPS connection to {server} is possible ({error}).",
            server=server,
            error=Reason(peer.error),
        )
    return CategoryFail(
        "unavailable",
        "No HTTPS connection to {server} is possible ({error}), so the page was loaded over plain HTTP.",
        server=server,
        error=Reason(peer.error),
    )


@check(
    "http-to-https-redirect",
    name="Redirect from HTTP to HTTPS",
    outcomes={
        "missing": "No redirect from HTTP to HTTPS",
        "error-status": outcome("Plain HTTP answers with an error", LOW),
        "invalid": outcome(
            "Redirect from HTTP is invalid", consequence="Visitors may get an error instead of your site."
        ),
        "ends-at-http": "Redirects from HTTP do not lead to HTTPS",
        "http-again": outcome("Redirect from HTTP leads to plain HTTP again", MEDIUM),
        "other-host": outcome("Redirect from HTTP leads to another host first", LOW),
    },
    why="Anyone on the network can read and change what is sent over plain HTTP.",
    consequence="Visitors can end up on an unprotected version of your site, where others can read what they send.",
    severity=HIGH,
    fix="Answer every request on port 80 with a 301 or 308 to the same host and path: `Location: https://HOST/PATH`.",
    references=("RFC 6797, section 7.2", "CWE-319"),
)
def http_to_https_redirect(plain: PlainHttp) -> Verdict:
    if plain.url is None:
        return NotApplicable("The page's port is not 443, so no address for plain HTTP is known.")
    if not plain.hops:
        return Pass("Nothing answers plain HTTP at {url}, so nothing is sent unencrypted.", url=Address(plain.url))
    urls = [hop.url for hop in plain.hops] + ([plain.next_url] if plain.next_url else [])
    chain = [RedirectHop(number, excerpt(url)) for number, url in enumerate(urls, 1)]
    if len(urls) == 1:
        status = plain.hops[0].status
        if status >= 400:
            return Warn(
                "error-status",
                "Plain HTTP answers with status {status} and does not redirect to HTTPS.",
                status=status,
                details=chain,
            )
        return Fail(
            "missing",
            "Plain HTTP answers with status {status} and does not redirect to HTTPS. A redirect in the page itself "
            "comes too late.",
            status=status,
            details=chain,
        )
    try:
        start, first, last = (Url.of(urls[index]) for index in (0, 1, -1))
    except ValueError:
        return Fail(
            "invalid", "Plain HTTP redirects to “{url}”, which is not a URL.", url=Address(urls[-1]), details=chain
        )
    if last.scheme != "https":
        return Fail(
            "ends-at-http",
            "Redirects from plain HTTP end at {url}, without TLS.",
            url=Address(last.href),
            details=chain,
        )
    if first.scheme != "https":
        return Warn(
            "http-again",
            "Plain HTTP redirects to a second unprotected address, {url}.",
            url=Address(first.href),
            details=chain,
        )
    if first.hostname != start.hostname and not is_ip_address(start.hostname):
        return Warn(
            "other-host",
            "Plain HTTP redirects to another host first, {host}, so browsers get no HSTS header from {own}.",
            host=Excerpt(first.hostname),
            own=Excerpt(start.hostname),
            details=chain,
        )
    return Pass("Plain HTTP redirects straight to {url}.", url=Address(first.href), details=chain)


@check(
    "tls-cert-trusted",
    name="Certificate is trusted",
    outcomes={
        "invalid": "Certificate is not trusted",
        "self-signed": "Certificate is self-signed",
        "incomplete": outcome(
            "Certificate chain is incomplete",
            consequence="Some visitors may see a security warning instead of your site, and leave.",
        ),
        "no-root": "Certificate chain leads to no trusted root",
        "unknown-issuer": "Certificate issuer is unknown",
        "weak": "Certificate is too weak for browsers",
        "long": "Certificate is valid for too long",
    },
    why="Browsers that do not trust a certificate show a warning instead of the site; API clients refuse to connect.",
    consequence="Visitors may see a security warning instead of your site, and leave.",
    judged="Also fails if browsers refuse a chain with a trusted root: MD5, SHA-1 or an RSA key below 1024 bits under "
    "it, or a certificate that is valid for too long.",
    severity=CRITICAL,
    fix=Fix(
        "Install a certificate from a public authority with its full chain, leaf first, then each intermediate.",
        FULL_CHAIN_SETTINGS,
    ),
    references=("RFC 5280, section 6", "RFC 8446, section 4.4.2", "CWE-295"),
)
def tls_cert_trusted(peer: TlsPeer) -> Verdict:
    if peer.handshake is None:
        return NO_TLS_VERDICT
    chain = [CertificateRow.from_certificate(certificate) for certificate in peer.handshake.chain]
    fault = find_trust_fault(peer.handshake, chain)
    if fault is not None:
        return fault
    return Pass(
        "The chain from “{subject}” leads to a trusted root.",
        subject=Excerpt(peer.handshake.leaf.subject),
        details=chain,
    )


@check(
    "tls-cert-hostname",
    name="Certificate matches the host name",
    outcomes={"other-host": "Certificate does not match the host name", "no-host": "Certificate names no host"},
    why="Browsers cannot tell the server from an impostor, so they show a warning instead of the site.",
    consequence="Visitors may see a security warning instead of your site, and leave.",
    severity=CRITICAL,
    fix="Get a certificate whose subjectAltName lists every host name of the site.",
    references=("RFC 9525, section 6", "RFC 9110, section 4.3.4", "CWE-297"),
)
def tls_cert_hostname(peer: TlsPeer) -> Verdict:
    if peer.handshake is None:
        return NO_TLS_VERDICT
    leaf = peer.handshake.leaf
    details = [CertificateRow.from_certificate(leaf)]
    names = Values([Excerpt(name) for name in (*leaf.dns_names, *leaf.ip_addresses)])
    host = Excerpt(peer.host)
    if leaf.matches(peer.host):
        return Pass("The certificate names {host} (subjectAltName: {names}).", host=host, names=names, details=details)
    if not leaf.has_readable_names:
        return Fail("no-host", "The certificate's subjectAltName cannot be read, so it names no host.", details=details)
    if not names.values:
        return Fail(
            "no-host",
            "The certificate has no subjectAltName; its common name “{common_name}” does not count.",
            common_name=Excerpt(leaf.common_name),
            details=details,
        )
    return Fail(
        "other-host", "The certificate is for {names}, not for {host}.", names=names, host=host, details=details
    )


@check(
    "tls-cert-expiry",
    name="Certificate is within its validity period",
    outcomes={
        "expired": "Certificate has expired",
        "not-yet-valid": "Certificate is not valid yet",
        "due": outcome("Certificate expires in {left}", MEDIUM),
    },
    why="Outside the validity period of its certificate, browsers show a warning instead of the site.",
    consequence="Visitors may see a security warning instead of your site, and leave.",
    severity=CRITICAL,
    fix="Renew the certificate, and let an ACME client renew it when a third of its lifetime is left.",
    references=("RFC 5280, section 4.1.2.5", "CWE-298"),
)
def tls_cert_expiry(peer: TlsPeer, clock: Clock) -> Verdict:
    if peer.handshake is None:
        return NO_TLS_VERDICT
    leaf = peer.handshake.leaf
    details = [CertificateRow.from_certificate(leaf)]
    if clock.now < leaf.not_before:
        return Fail(
            "not-yet-valid", "The certificate becomes valid on {begin}.", begin=leaf.not_before, details=details
        )
    remaining_s = (leaf.not_after - clock.now).total_seconds()
    if remaining_s < 0:
        return Fail(
            "expired",
            "The certificate expired on {end}, {age} ago.",
            end=leaf.not_after,
            age=Lifetime(-remaining_s),
            details=details,
        )
    if is_due_for_renewal(leaf, clock.now):
        return Warn(
            "due",
            "The certificate expires on {end}, and should have been renewed by now.",
            end=leaf.not_after,
            left=Lifetime(remaining_s),
            details=details,
        )
    return Pass(
        "The certificate is valid for another {left}, until {end}.",
        left=Lifetime(remaining_s),
        end=leaf.not_after,
        details=details,
    )


@check(
    "tls-cert-strength",
    name="Certificate has a strong key and signature",
    outcomes={"weak": "Certificate is weak"},
    why="With enough computing power, a weak key or signature can be broken, and the server impersonated.",
    consequence="Someone with enough computing power could pose as your site and deceive your visitors.",
    severity=HIGH,
    fix="Get a certificate with an ECDSA P-256 or RSA 2048-bit key, signed with SHA-256.",
    references=("RFC 9325, section 4.5", "NIST SP 800-131A", "CWE-326"),
)
def tls_cert_strength(peer: TlsPeer) -> Verdict:
    if peer.handshake is None:
        return NO_TLS_VERDICT
    certificates = peer.handshake.signed
    leaf = certificates[0]
    details = [CertificateRow.from_certificate(certificate) for certificate in certificates]
    if weak := [certificate for certificate in certificates if certificate.weakness_reason]:
        return Fail(
            "weak",
            "The certificate of “{subject}” has {fault}.",
            subject=Excerpt(weak[0].subject),
            fault=Word(str(weak[0].weakness_reason)),
            details=details,
        )
    return Pass(
        "{key}, signed with {signature}.",
        key=Word(f"{leaf.key_type} {leaf.key_bits or ''} bits" if leaf.key_bits else leaf.key_type),
        signature=Word(leaf.signature_hash or "a modern algorithm"),
        details=details,
    )


@check(
    "tls-legacy-protocols",
    name="Outdated TLS versions are refused",
    outcomes={
        "accepted": "Outdated TLS versions are accepted",
        "ssl-3": outcome(
            "SSL 3.0 is accepted",
            HIGH,
            consequence="Someone on the same network may be able to read what visitors with very old software send.",
        ),
    },
    why="Versions before TLS 1.2 have known weaknesses, and attackers can downgrade connections to them.",
    severity=MEDIUM,
    fix=Fix("Accept TLS 1.2 and 1.3 only.", LEGACY_TLS_OFF_SETTINGS),
    references=("RFC 8996", "RFC 7568", "CWE-327"),
)
def tls_legacy_protocols(support: TlsSupport) -> Verdict:
    if not support.versions:
        return NO_TLS_VERDICT
    legacy = [version for version in sorted(support.versions) if version < TlsVersion.TLS1_2]
    if not legacy:
        return Pass("TLS 1.1, TLS 1.0 and SSL 3.0 are refused.")
    return Fail(
        "ssl-3" if TlsVersion.SSL3_0 in legacy else "accepted",
        "The server accepts {versions}.",
        versions=Values([Word(version.label) for version in legacy], " and "),
        places=[AcceptedVersion(version.label, support.versions[version]) for version in legacy],
    )


@check(
    "tls-modern-protocols",
    name="TLS 1.3 is supported",
    outcomes={"unsupported": "TLS 1.3 is not supported", "only-tls-1-2": outcome("TLS 1.3 is not supported", LOW)},
    why="TLS 1.3 connects one round trip faster, and lacks the features that known attacks exploit.",
    consequence="Visitors may not be able to open your site securely, because its encryption is out of date.",
    severity=HIGH,
    fix=Fix("Enable TLS 1.3 beside TLS 1.2, with OpenSSL 1.1.1 or later.", TLS_1_3_ON_SETTINGS),
    references=("RFC 9325, section 3.1", "RFC 8446", "CWE-327"),
)
def tls_modern_protocols(support: TlsSupport) -> Verdict:
    if not support.versions:
        return NO_TLS_VERDICT
    if TlsVersion.TLS1_3 in support.versions:
        return Pass("The server supports TLS 1.3.")
    newest = max(support.versions)
    if newest is TlsVersion.TLS1_2:
        return Warn("only-tls-1-2", "The newest version that the server supports is TLS 1.2.")
    return Fail(
        "unsupported",
        "The newest version that the server supports is {version}, which browsers reject.",
        version=Word(newest.label),
    )


@check(
    "tls-weak-ciphers",
    name="No weak cipher suites",
    outcomes={
        "accepted": "Weak cipher suites are accepted",
        "no-forward-secrecy": outcome(
            "No forward secrecy",
            consequence="If your server's secret key is ever stolen, earlier visits that someone recorded can be read.",
        ),
    },
    why="Weak cipher suites can be broken; without forward secrecy, a stolen key also decrypts recorded traffic.",
    consequence="Someone on the same network may be able to decipher what some visitors send to your site.",
    severity=HIGH,
    fix=Fix("Offer only AEAD suites with forward secrecy.", STRONG_SUITES_SETTINGS),
    references=("RFC 9325, section 4.1", "RFC 7465", "CWE-327"),
)
def tls_weak_ciphers(support: TlsSupport) -> Verdict:
    if not support.versions:
        return NO_TLS_VERDICT
    weak = [WeakCipher(name, kind.value) for name in support.weak_ciphers if (kind := weakness(name)) is not None]
    if weak:
        return Fail(
            "accepted", "The server accepts {suites}.", suites=Count(len(weak), "weak cipher suite"), places=weak
        )
    newest = max(support.versions)
    version, chosen = Word(newest.label), support.versions[newest]
    if not is_forward_secret(chosen):
        return Warn(
            "no-forward-secrecy",
            "With {version} the server chooses {cipher}, without forward secrecy.",
            version=version,
            cipher=Word(chosen),
        )
    return Pass(
        "No NULL, EXPORT, anonymous, RC4, DES or 3DES suite; {version} uses {cipher}.",
        version=version,
        cipher=Word(chosen),
    )


@check(
    "hsts",
    name="HTTP Strict Transport Security",
    outcomes={
        "missing": "No HSTS header",
        "ignored": "HSTS header is ignored",
        "invalid": "HSTS header is invalid",
        "off": "HSTS is switched off",
        "short": "HSTS lasts {lifetime}",
        "repeated": outcome("HSTS header is repeated", LOW),
        "contradictory": outcome("HSTS headers differ", MEDIUM),
    },
    why="Without a lasting HSTS policy, browsers may send a request over plain HTTP, where it can be intercepted.",
    consequence="On public Wi-Fi, someone may be able to lead visitors to an unprotected or fake version of your site.",
    judged=f"Passes with a max-age of at least 180 days ({MIN_HSTS_MAX_AGE_S:,} s) that browsers read; a shorter "
    "one warns.",
    severity=HIGH,
    fix=Fix(
        "Send HSTS on every HTTPS response.",
        {Language.HEADER: "Strict-Transport-Security: max-age=31536000; includeSubDomains"},
    ),
    references=("RFC 6797, section 6.1", "CWE-319", "CWE-523", "MDN: Strict-Transport-Security"),
)
def hsts(page: Page, document: Document, answer: HttpsAnswer) -> Verdict:
    if answer.response is None:
        return NO_TLS_VERDICT
    if is_ip_address(page.target.host):
        return NO_HSTS_AT_ADDRESS
    values = answer.response.headers.all(HSTS_HEADER)
    headers = Header.of(HSTS_HEADER, values)
    if is_on_preload_list(page.target.host):
        return Pass(
            "The top-level domain is in browsers' HSTS preload list, so they never use plain HTTP here.",
            details=headers,
        )
    if not values:
        if not page.target.is_https and HSTS_HEADER in page.headers:
            return Fail("missing", "Only the response over plain HTTP has an HSTS header, where browsers ignore it.")
        if http_equivs(document, HSTS_HEADER):
            return Fail("missing", "HSTS is in a <meta> element, where browsers ignore it; there is no such header.")
        return Fail("missing", "The HTTPS response has no HSTS header. Browsers' preload lists were not checked.")
    tls = answer.response.tls
    if tls is not None and tls.trust_error is not None:
        return Fail(
            "ignored",
            "The HSTS header came over a connection whose certificate is not trusted, so browsers ignore it.",
            places=headers,
        )
    try:
        policy = parse_hsts(values[0])
    except InvalidHsts as error:
        return Fail("invalid", "Browsers ignore the header because {fault}.", fault=Word(str(error)), places=headers)
    if policy.max_age_s == 0:
        return Fail("off", "The header switches HSTS off.", places=headers)
    lifetime = Lifetime(min(policy.max_age_s, 10**10))
    if policy.max_age_s < MIN_HSTS_MAX_AGE_S:
        return Warn(
            "short",
            "HSTS lasts {lifetime}, less than {least}.",
            lifetime=lifetime,
            least=Lifetime(MIN_HSTS_MAX_AGE_S),
            places=headers,
        )
    if len(values) > 1:
        return Warn(
            "repeated" if len(set(values)) == 1 else "contradictory",
            "Browsers read only the first of {headers}.",
            headers=Count(len(values), "HSTS header"),
            places=headers,
        )
    return Pass(
        "HSTS lasts {lifetime}, {subdomains} subdomains.",
        lifetime=lifetime,
        subdomains=Word("with" if policy.include_subdomains else "without"),
        details=headers,
    )


@check(
    "hsts-preload-consistency",
    name="HSTS preload requirements",
    outcomes={"unmet": "HSTS preload requirements not met"},
    why="Preload lists drop domains whose header does not meet their requirements.",
    severity=LOW,
    fix="Either remove `preload`, or meet its requirements: `max-age=31536000; includeSubDomains; preload`.",
    references=("RFC 6797, section 12.3", "MDN: Strict-Transport-Security"),
)
def hsts_preload_consistency(page: Page, answer: HttpsAnswer) -> Verdict:
    if is_ip_address(page.target.host):
        return NO_HSTS_AT_ADDRESS
    policy = read_valid_policy(answer.response.headers) if answer.response else None
    if policy is None:
        return NotApplicable("The host sends no valid HSTS policy.")
    if not policy.preload:
        return Pass("The policy does not ask to be preloaded, and need not.")
    if faults := find_preload_faults(policy):
        return Warn(
            "unmet",
            "The policy asks to be preloaded, but {faults}.",
            faults=Values([Word(fault) for fault in faults], " and "),
        )
    return Pass(
        "The policy may be preloaded: it lasts {lifetime}, with subdomains.", lifetime=Lifetime(policy.max_age_s)
    )


@check(
    "mixed-content",
    name="No mixed content",
    outcomes={"active": "Mixed content", "passive": outcome("Mixed passive content", LOW)},
    why="Browsers block scripts, styles and frames over plain HTTP, and anyone on the network can change the rest.",
    consequence="Parts of the page may be missing or not work, because browsers block them as unsafe.",
    severity=HIGH,
    fix=Fix(
        "Load every resource over HTTPS, or send a policy that upgrades insecure requests.",
        {Language.HEADER: "Content-Security-Policy: upgrade-insecure-requests"},
    ),
    references=("W3C Mixed Content, section 3", "CWE-311", "MDN: upgrade-insecure-requests"),
    html=True,
)
def mixed_content(page: Page, document: Document, policies: Policies, seen: MixedRequests | None = None) -> Verdict:
    if not page.target.is_https:
        return NotApplicable("Only a page over HTTPS can have mixed content.")
    insecure = add_seen_requests(insecure_resources(document), seen.items if seen is not None else ())
    if not insecure:
        return Pass("No resource in the markup is loaded over plain HTTP.")
    if policies.upgrades_insecure_requests:
        return Pass(
            "{references} {references:is|are} over plain HTTP, which upgrade-insecure-requests changes to HTTPS.",
            references=Count(len(insecure), "reference"),
        )
    # Active content comes first, because browsers block it.
    resources = sorted(insecure, key=lambda resource: resource.passive)
    places = [HttpResource(resource.element, excerpt(resource.url), resource.passive) for resource in resources]
    active = [resource for resource in insecure if not resource.passive]
    if active:
        return Fail(
            "active",
            "The page loads {resources} over plain HTTP.",
            resources=Count(len(active), "active resource"),
            places=places,
        )
    return Warn(
        "passive",
        "The page loads {resources} over plain HTTP.",
        resources=Count(len(insecure), "image or media file", "images or media files"),
        places=places,
    )


@check(
    "insecure-form",
    name="Forms are submitted over HTTPS",
    outcomes={
        "over-http": "Form is submitted over plain HTTP",
        "password": outcome(
            "Password is submitted over plain HTTP",
            CRITICAL,
            consequence="Others on the same network, such as public Wi-Fi, can read the passwords that visitors type.",
        ),
        "password-page": outcome(
            "Password field over plain HTTP",
            CRITICAL,
            consequence="Others on the same network, such as public Wi-Fi, can read the passwords that visitors type.",
        ),
    },
    why="Anyone on the network can read what people type, including passwords.",
    consequence="Others on the same network, such as public Wi-Fi, can read what visitors type into a form.",
    severity=HIGH,
    fix='Serve the page over HTTPS, and submit the form over HTTPS too: `<form action="https://…">`.',
    references=("HTML, form submission", "CWE-319", "CWE-523"),
    html=True,
)
def insecure_form(page: Page, document: Document, policies: Policies) -> Verdict:
    if not page.target.is_https and has_password_field(document):
        return Fail("password-page", "The page asks for a password over plain HTTP.")
    insecure = insecure_forms(document, page.target.url)
    if not insecure:
        return Pass("No form is submitted over plain HTTP.")
    forms = Count(len(insecure), "form")
    if page.target.is_https and policies.upgrades_insecure_requests:
        return Pass(
            "{forms} {forms:is|are} submitted over plain HTTP, which upgrade-insecure-requests changes to HTTPS.",
            forms=forms,
        )
    places = [HttpForm(excerpt(form.action), form.password) for form in insecure]
    if any(form.password for form in insecure):
        return Fail("password", "A form with a password is submitted over plain HTTP.", places=places)
    return Fail("over-http", "{forms} {forms:is|are} submitted over plain HTTP.", forms=forms, places=places)
