"""Checks of resources that injected markup could load despite a CSP."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Self

from selectolax.lexbor import LexborNode

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable, Server
from website_scan.messages import excerpt
from website_scan.outcomes import CategoryFail, Fail, Fix, Language, Note, Pass, Verdict, Warn, outcome
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live
from website_scan.places import Column, Identity, Place, as_host
from website_scan.security.csp import (
    HEADER,
    REPORT_ONLY_HEADER,
    SOURCE_LISTS,
    Csp,
    Policies,
    allows_inline_code,
    broad_script_sources,
    find_bypass_host,
    has_keyword,
    is_broad_source,
    is_hash_source,
    is_nonce_source,
    syntax_faults,
    trusts_scripts_by_nonce_or_hash,
)
from website_scan.security.evidence import SecondFetch
from website_scan.values import Clause, Code, Count, Values, Word

CATEGORY = Category("Content Security Policy", weight=15, html=True)

STRICT_POLICY_SETTINGS: Mapping[Server | Language, str] = {
    Language.HEADER: "Content-Security-Policy: script-src 'nonce-RANDOM' 'strict-dynamic'; object-src 'none'; "
    "base-uri 'none'",
    # Static sites use hashes, because they send every visitor the same file.
    Server.STATIC: "Content-Security-Policy: script-src 'self' 'sha256-…'; object-src 'none'; base-uri 'none'",
}
NONCE_OR_HASH_EXAMPLES = (
    "Replace `RANDOM` with a new random value in every response; on static hosting, list the hash of each inline "
    "script instead, in `<meta http-equiv>` if no header can be set."
)
NO_POLICY = NotApplicable("The page has no Content Security Policy.")
SCRIPTS_UNRESTRICTED = NotApplicable("No policy restricts scripts; csp-present reports it.")
INLINE_SCRIPT_DIRECTIVES = ("script-src-elem", "script-src-attr")
INLINE_STYLE_DIRECTIVES = ("style-src-elem", "style-src-attr")
# Directives of content that browsers upgrade to https (W3C Mixed Content, section 4.1).
UPGRADABLE_CONTENT_DIRECTIVES = frozenset({"img-src", "media-src"})
# Elements that embed other pages or accept input from visitors.
ACTIVE_ELEMENTS = frozenset({"iframe", "frame", "object", "embed", "form", "input", "textarea", "select", "button"})
# Types of <script> elements with data, which browsers do not run (HTML, the script element).
DATA_BLOCK_TYPES = frozenset({"application/json", "application/ld+json"})
CACHE_HIT = re.compile(r"\bhit\b", re.IGNORECASE)


def _is_harmless_without_policy(page: Page, document: Document) -> bool:
    """Return True if injected scripts could do little harm.

    The page has no scripts, input, frames or cookies.
    """
    if page.has_credentials or any(hop.headers.get("Set-Cookie") for hop in page.hops):
        return False
    return not any(_is_active_element(node) or _has_script_attribute(node) for node in live(document, "*"))


def _is_active_element(node: LexborNode) -> bool:
    """Return True if the element runs a script, embeds a page or accepts input.

    False for data blocks.
    """
    if node.tag == "script":
        return (attribute(node, "type") or "").strip().lower() not in DATA_BLOCK_TYPES
    return node.tag in ACTIVE_ELEMENTS


def _has_script_attribute(node: LexborNode) -> bool:
    """Return True if an attribute contains a script.

    This is an event handler or a javascript: URL.
    """
    return any(
        name.startswith("on") or (value or "").strip()[:11].lower() == "javascript:"
        for name, value in node.attributes.items()
    )


class PolicyRow(Place, frozen=True):
    """Content Security Policy of the page.

    Only what all policies allow is allowed.
    """

    kind: ClassVar[str] = "policy"

    policy: Annotated[str, Column("Policy", "code")]

    @classmethod
    def from_policies(cls, policies: Iterable[Csp]) -> list[Self]:
        return [cls(excerpt(policy.text, 400)) for policy in policies]


class RepeatedNonces(Place, frozen=True):
    """Number of nonces that two responses have in common."""

    kind: ClassVar[str] = "nonces"

    nonces_seen_twice: Annotated[int, Column("Nonces seen twice", "number")]


class BypassHost(Place, frozen=True):
    """Host that makes it possible to bypass the policy.

    Attackers can run scripts through it.
    """

    kind: ClassVar[str] = "host"

    host: Annotated[str, Identity(as_host), Column("Host", "mono")]


@check(
    "csp-present",
    name="Content Security Policy",
    outcomes={
        "missing": outcome("No Content Security Policy", HIGH, MEDIUM),
        "report-only": outcome("Content Security Policy is report-only", HIGH, MEDIUM),
        "no-script-src": outcome("CSP has no script-src", HIGH, MEDIUM),
        "any-script": outcome("CSP allows any script", HIGH, MEDIUM),
    },
    why="Without a policy for scripts, injected markup can run scripts from any host.",
    consequence="If someone manages to slip malicious code into your page, visitors' browsers will run it.",
    judged="A fail stands for the whole category: a policy that restricts no script costs no more than none at all. "
    "Medium on a page without scripts, forms, frames and cookies.",
    severity=HIGH,
    fix=Fix(f"Enforce a policy that restricts scripts. {NONCE_OR_HASH_EXAMPLES}", STRICT_POLICY_SETTINGS),
    references=("CSP Level 3", "CWE-1021", "CWE-79", "MDN: Content-Security-Policy"),
)
def csp_present(page: Page, document: Document, policies: Policies) -> Verdict:
    if policies.restricts_scripts:
        ways = [Word(way) for way, group in (("header", policies.header), ("<meta>", policies.meta)) if group]
        return Pass(
            "A policy is enforced by {ways}.",
            ways=Values(ways, " and "),
            details=PolicyRow.from_policies(policies.enforced),
        )
    severity = MEDIUM if _is_harmless_without_policy(page, document) else HIGH
    details = PolicyRow.from_policies(policies.enforced or policies.report_only)
    if lists := policies.source_lists("script-src-elem"):
        return CategoryFail(
            "any-script",
            "The policy allows inline scripts, and scripts from any host: {sources}.",
            sources=Values(list(dict.fromkeys(Code(" ".join(values), 80) for values in lists))),
            severity=severity,
            details=details,
        )
    if policies.enforced:
        return CategoryFail(
            "no-script-src", "The policy has neither script-src nor default-src.", severity=severity, details=details
        )
    if policies.report_only:
        return CategoryFail(
            "report-only",
            "Only {header} is sent: browsers report violations and block nothing.",
            header=Word(REPORT_ONLY_HEADER),
            severity=severity,
            details=details,
        )
    return CategoryFail("missing", "The page has no {header}.", header=Word(HEADER), severity=severity)


@check(
    "csp-script-inline",
    name="CSP restricts inline scripts",
    outcomes={"inline-scripts": "CSP allows inline scripts", "event-handlers": "CSP allows inline event handlers"},
    why="Injected scripts are mostly inline; a policy that allows those does not stop the attack.",
    consequence="If someone manages to slip malicious code into your page, your protection is unlikely to stop it.",
    severity=HIGH,
    fix=Fix(
        f"Give the page's own inline scripts a nonce or hash, and remove `'unsafe-inline'`. {NONCE_OR_HASH_EXAMPLES}",
        STRICT_POLICY_SETTINGS,
    ),
    references=("CSP Level 3, section 6.7.3.2", "CWE-79", "MDN: script-src"),
)
def csp_script_inline(policies: Policies) -> Verdict:
    if not policies.restricts_scripts:
        return SCRIPTS_UNRESTRICTED
    unrestricted = [
        name
        for name in INLINE_SCRIPT_DIRECTIVES
        if policies.all_policies_match(name, lambda values: allows_inline_code(values, script=True))
    ]
    if not unrestricted:
        return Pass("Inline scripts run only with a nonce or hash, or not at all.")
    details = PolicyRow.from_policies(policies.enforced)
    allows_only_event_handlers = unrestricted == ["script-src-attr"]
    failed_outcome = "event-handlers" if allows_only_event_handlers else "inline-scripts"
    code = Word("inline event handlers" if allows_only_event_handlers else "inline scripts")
    lists = policies.source_lists(*unrestricted)
    if not lists:
        return Fail(
            failed_outcome,
            "Neither {directive} nor what it falls back to is set, so all {code} run.",
            directive=Word(unrestricted[0]),
            code=code,
            details=details,
        )
    malformed = [
        value
        for values in lists
        for value in values
        if value.lower().startswith(("'nonce-", "'sha")) and not is_nonce_source(value) and not is_hash_source(value)
    ]
    if malformed:
        return Fail(
            failed_outcome,
            "'unsafe-inline' lets all {code} run, injected ones too; {source} is malformed and does not count.",
            code=code,
            source=Code(malformed[0], 60),
            details=details,
        )
    return Fail(failed_outcome, "'unsafe-inline' lets all {code} run, injected ones too.", code=code, details=details)


@check(
    "csp-script-broad",
    name="CSP restricts script sources",
    outcomes={"any-host": "CSP allows scripts from any host"},
    why="A source that matches every host also matches an attacker's.",
    consequence="If someone manages to slip malicious code into your page, your protection does not stop it.",
    severity=HIGH,
    fix=Fix(
        f"List the hosts that scripts come from or, better, use nonces or hashes. {NONCE_OR_HASH_EXAMPLES}",
        STRICT_POLICY_SETTINGS,
    ),
    references=("CSP Level 3, section 6.7.2", "CWE-79", "MDN: script-src"),
)
def csp_script_broad(policies: Policies) -> Verdict:
    if not policies.restricts_scripts:
        return SCRIPTS_UNRESTRICTED
    lists = policies.source_lists("script-src-elem")
    broad = [broad_script_sources(values) for values in lists]
    if not all(broad):
        return Pass("Scripts load only from the sources that the policy names.")
    return Fail(
        "any-host",
        "The policy allows scripts from {sources}.",
        sources=Values(list(dict.fromkeys(Code(source, 40) for sources in broad for source in sources))),
        details=PolicyRow.from_policies(policies.enforced),
    )


@check(
    "csp-unsafe-eval",
    name="CSP forbids eval()",
    outcomes={"allowed": "CSP allows eval()"},
    why="eval() runs text as code, so text that an attacker can influence becomes a script.",
    severity=MEDIUM,
    fix="Remove `'unsafe-eval'`; where WebAssembly needs it, `'wasm-unsafe-eval'` is enough.",
    references=("CSP Level 3, section 4.4", "CWE-95", "MDN: script-src"),
)
def csp_unsafe_eval(policies: Policies) -> Verdict:
    if not policies.restricts_scripts:
        return SCRIPTS_UNRESTRICTED
    lists = policies.source_lists("script-src")
    if not lists:
        return NotApplicable("No policy says where eval() may run.")
    if all(has_keyword(values, "unsafe-eval") for values in lists):
        return Fail(
            "allowed",
            "The policy allows eval() with 'unsafe-eval'.",
            details=PolicyRow.from_policies(policies.enforced),
        )
    return Pass("Scripts may not compile text into code.")


@check(
    "csp-object-base",
    name="CSP restricts plug-ins and the base URL",
    outcomes={
        "plug-ins-and-base-url": "CSP leaves plug-ins and the base URL unrestricted",
        "plug-ins": "CSP leaves plug-ins unrestricted",
        "base-url": "CSP leaves the base URL unrestricted",
    },
    why="An injected <base> makes relative scripts load from the attacker; plug-ins can run scripts of their own.",
    severity=MEDIUM,
    fix="Add `object-src 'none'; base-uri 'none'` to the policy (`base-uri 'self'` where the page has a `<base>`).",
    references=("CSP Level 3, sections 6.1.9 and 6.3.1", "CWE-79", "MDN: object-src"),
)
def csp_object_base(policies: Policies) -> Verdict:
    if not policies.restricts_scripts:
        return SCRIPTS_UNRESTRICTED
    faults: dict[str, Clause] = {}
    if policies.all_policies_match("object-src", lambda values: values is None or any(map(is_broad_source, values))):
        broad = [value for values in policies.source_lists("object-src") for value in values if is_broad_source(value)]
        sources = Values([Code(value, 40) for value in dict.fromkeys(broad)])
        faults["plug-ins"] = (
            Clause.of("plug-ins may come from {sources}", sources=sources)
            if broad
            else Clause.of("object-src and default-src are not set")
        )
    scripts = policies.source_lists("script-src-elem")
    bases = [values for policy in policies.enforced if (values := policy.get("base-uri")) is not None]
    if (
        scripts
        and all(map(trusts_scripts_by_nonce_or_hash, scripts))
        and all(any(map(is_broad_source, sources)) for sources in bases)
    ):
        faults["base-url"] = Clause.of("base-uri allows every address" if bases else "base-uri is missing")
    if faults:
        return Fail(
            next(iter(faults)) if len(faults) == 1 else "plug-ins-and-base-url",
            "The policy can be bypassed: {faults}.",
            faults=Values(list(faults.values()), "; "),
            details=PolicyRow.from_policies(policies.enforced),
        )
    return Pass("Plug-ins and the base URL are restricted.")


@check(
    "csp-insecure-source",
    name="CSP allows no sources over plain HTTP",
    outcomes={
        "active": "CSP allows sources over plain HTTP",
        "passive": outcome("CSP allows passive content over plain HTTP", LOW),
    },
    why="Anything loaded over plain HTTP can be changed in transit.",
    severity=MEDIUM,
    fix="Replace `http:` with `https:` in the policy, or add `upgrade-insecure-requests`.",
    references=("CSP Level 3, section 6.7.2", "CWE-319", "MDN: upgrade-insecure-requests"),
)
def csp_insecure_source(page: Page, policies: Policies) -> Verdict:
    if not policies.enforced:
        return NO_POLICY
    if not page.target.is_https:
        return NotApplicable("The page itself was loaded over plain HTTP.")
    if policies.upgrades_insecure_requests:
        return Pass("upgrade-insecure-requests makes browsers load everything over HTTPS.")
    # The page loads nothing from the sites in frame-ancestors.
    insecure = [
        (directive, source)
        for directive in sorted(SOURCE_LISTS - {"frame-ancestors"})
        for source in policies.insecure_sources(directive)
    ]
    if not insecure:
        return Pass("The policy allows no source over plain HTTP.")
    sources = Values(
        [
            Clause.of("{source} ({directive})", source=Code(source, 80), directive=Word(directive))
            for directive, source in insecure
        ]
    )
    details = PolicyRow.from_policies(policies.enforced)
    if {directive for directive, _ in insecure} <= UPGRADABLE_CONTENT_DIRECTIVES:
        return Warn(
            "passive",
            "The policy allows images or media over plain HTTP, which browsers try over HTTPS first: {sources}.",
            sources=sources,
            details=details,
        )
    return Fail("active", "The policy allows plain HTTP: {sources}.", sources=sources, details=details)


@check(
    "csp-style-inline",
    name="CSP restricts inline styles",
    outcomes={"allowed": "CSP allows inline styles"},
    why="Injected styles can hide content, or leak attribute values letter by letter.",
    severity=LOW,
    fix="Move styles into files, or give them a nonce or hash, and remove `'unsafe-inline'` from `style-src`.",
    references=("CSP Level 3, section 6.7.3.2", "MDN: style-src"),
)
def csp_style_inline(policies: Policies) -> Verdict:
    if not policies.enforced:
        return NO_POLICY
    if not policies.source_lists(*INLINE_STYLE_DIRECTIVES):
        return NotApplicable("No policy restricts styles.")
    unrestricted = [
        name
        for name in INLINE_STYLE_DIRECTIVES
        if policies.all_policies_match(name, lambda values: allows_inline_code(values, script=False))
    ]
    if not unrestricted:
        return Pass("Inline styles need a nonce or hash, or are not allowed.")
    # If a note had a weight, a policy without style-src would get a better score.
    details = PolicyRow.from_policies(policies.enforced)
    if policies.source_lists(*unrestricted):
        return Note("allowed", "'unsafe-inline' allows all inline styles.", details=details)
    return Note(
        "allowed",
        "Neither {directive} nor what it falls back to is set, so all inline styles apply.",
        directive=Word(unrestricted[0]),
        details=details,
    )


@check(
    "csp-syntax",
    name="CSP syntax is valid",
    outcomes={"errors": "CSP has syntax errors"},
    why="Browsers ignore what they cannot parse, so the policy does not do what it says.",
    severity=MEDIUM,
    fix="Correct the errors listed. Semicolons separate directives, and keywords are in single quotes.",
    references=("CSP Level 3, sections 2.2 and 2.3", "MDN: Content-Security-Policy"),
)
def csp_syntax(policies: Policies) -> Verdict:
    if not policies.enforced:
        return NO_POLICY
    faults = list(dict.fromkeys(fault for policy in policies.enforced for fault in syntax_faults(policy)))
    if faults:
        return Warn(
            "errors",
            "The policy has {faults:an error|errors}: {faults}.",
            faults=Values(faults[:4], "; "),
            details=PolicyRow.from_policies(policies.enforced),
        )
    return Pass("Every directive and keyword is known.")


@check(
    "csp-nonce-static",
    name="CSP nonces change with every response",
    outcomes={"reused": outcome("CSP nonces are reused", HIGH, MEDIUM)},
    why="A nonce that is known in advance is no secret: injected scripts can use it.",
    consequence="If someone manages to slip malicious code into your page, it can get past your protection.",
    severity=HIGH,
    fix="Generate a new random nonce of at least 128 bits for every response, and do not cache the page.",
    references=("CSP Level 3, section 7.1", "CWE-330", "MDN: script-src"),
    html=False,
)
def csp_nonce_static(page: Page, policies: Policies, second: SecondFetch) -> Verdict:
    if second.page is None:
        return NotApplicable("The policy has no nonce.")
    if any(map(_is_from_cache, (page, second.page))):
        return NotApplicable("The page came from a cache, so two visits do not show whether its nonces change.")
    if not second.policies.nonces:
        return NotApplicable("The second visit got a page without a nonce, so there was none to compare.")
    repeated = policies.nonces & second.policies.nonces
    if repeated:
        return Fail(
            "reused",
            "{nonces} {nonces:was|were} the same on two visits.",
            nonces=Count(len(repeated), "nonce"),
            # If scripts may come from any host, attackers need no nonce, and csp-script-broad reports it.
            severity=MEDIUM if all(map(broad_script_sources, policies.source_lists("script-src-elem"))) else HIGH,
            details=[RepeatedNonces(len(repeated))],
        )
    return Pass("Two visits got different nonces.")


def _is_from_cache(page: Page) -> bool:
    """Return True if the headers prove that a cache answered.

    Age proves it, even with the value 0 (RFC 9111, section 5.1).
    """
    if "Age" in page.headers or len((page.headers.get("X-Varnish") or "").split()) > 1:
        return True
    return any(
        CACHE_HIT.search(value) and "cache" in name.lower() and name.lower() != "cache-control"
        for name, value in page.headers
    )


@check(
    "csp-allowlist-bypass",
    name="CSP allows no host with a known bypass",
    outcomes={"known-bypass": "CSP allows hosts through which it can be bypassed"},
    why="Through JSONP endpoints and old frameworks on such hosts, attackers can run scripts despite the policy.",
    severity=LOW,
    fix=Fix(f"Use nonces or hashes instead of host names. {NONCE_OR_HASH_EXAMPLES}", STRICT_POLICY_SETTINGS),
    references=("Weichselbaum et al.: CSP Is Dead, Long Live CSP (2016)", "MDN: script-src"),
)
def csp_allowlist_bypass(policies: Policies) -> Verdict:
    if not policies.restricts_scripts:
        return SCRIPTS_UNRESTRICTED
    lists = policies.source_lists("script-src-elem")
    if any(has_keyword(values, "strict-dynamic") for values in lists):
        return Pass("Browsers ignore host names beside 'strict-dynamic'.")
    lists = [values for values in lists if not broad_script_sources(values)]
    if not lists:
        return NotApplicable("The policy lets scripts come from any host; csp-script-broad reports it.")
    hosts = sorted(set.intersection(*map(_find_bypass_hosts, lists)))
    if hosts:
        return Warn(
            "known-bypass",
            "The policy allows scripts from {hosts} with a known bypass.",
            hosts=Count(len(hosts), "host"),
            places=[BypassHost(host) for host in hosts],
        )
    return Pass("No allowed host has a known bypass.")


def _find_bypass_hosts(sources: Sequence[str]) -> set[str]:
    allows_eval = has_keyword(sources, "unsafe-eval")
    return {host for source in sources if (host := find_bypass_host(source, allows_eval=allows_eval))}
