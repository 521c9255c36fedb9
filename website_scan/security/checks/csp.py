"""Content Security Policy checks: what a page may load and run if an attacker injects markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, Fix, NotApplicable, Pass, Server, Warn
from website_scan.messages import excerpt, some
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live
from website_scan.security.csp import (
    HEADER,
    REPORT_ONLY,
    SOURCE_LISTS,
    Csp,
    Policies,
    allows_inline,
    broad_script_sources,
    bypass_host,
    has_keyword,
    is_broad_source,
    is_hash,
    is_nonce,
    syntax_faults,
    trusts_by_nonce,
)
from website_scan.security.evidence import SecondFetch

CATEGORY = Category("Content Security Policy", weight=15, html=True)

STRICT = (
    "Content-Security-Policy: script-src 'nonce-RANDOM' 'strict-dynamic'; object-src 'none'; base-uri 'none' "
    "(with a new random value on every response)"
)
# On a static site every visitor gets the same file, so a nonce can't be new each time.
HASHED = (
    "Content-Security-Policy: script-src 'self' 'sha256-…'; object-src 'none'; base-uri 'none' (with the hash of each "
    "inline script; in <meta http-equiv> if no header can be set)"
)
NO_POLICY = NotApplicable("The page has no Content Security Policy.")
SCRIPTS_OPEN = NotApplicable("No policy restricts scripts; csp-present reports it.")
SCRIPTS = ("script-src-elem", "script-src-attr")
STYLES = ("style-src-elem", "style-src-attr")
# Content that browsers upgrade on a page over https (W3C Mixed Content, section 4.1).
UPGRADED = frozenset({"img-src", "media-src"})
# Elements that show other pages or take what visitors enter.
ACTIVE = frozenset({"iframe", "frame", "object", "embed", "form", "input", "textarea", "select", "button"})
# Types of <script> that hold data, which browsers do not run (HTML, the script element).
DATA_BLOCKS = frozenset({"application/json", "application/ld+json"})
CACHE_HIT = re.compile(r"\bhit\b", re.IGNORECASE)


def _is_inert(page: Page, document: Document) -> bool:
    """Return True if an injected script would find little: no script, no input of visitors, no session."""
    if page.is_keyed or any(hop.headers.get("Set-Cookie") for hop in page.hops):
        return False
    return not any(_is_active(node) or _runs(node) for node in live(document, "*"))


def _is_active(node: LexborNode) -> bool:
    """Return True for elements that run scripts, show other pages or take what visitors enter; not for data blocks."""
    if node.tag == "script":
        return (attribute(node, "type") or "").strip().lower() not in DATA_BLOCKS
    return node.tag in ACTIVE


def _runs(node: LexborNode) -> bool:
    """Return True if an attribute holds a script: an event handler, or a javascript: URL."""
    return any(
        name.startswith("on") or (value or "").strip()[:11].lower() == "javascript:"
        for name, value in node.attributes.items()
    )


def _shown(policies: Sequence[Csp]) -> list[EvidenceItem]:
    return [{"policy": excerpt(policy.text, 400)} for policy in policies]


@check(
    "csp-present",
    name="Content Security Policy",
    found="No Content Security Policy that restricts scripts",
    why="Without a policy for scripts, injected markup can run scripts from any host.",
    judged="A fail stands for the whole category: a policy that restricts no script costs no more than none at all. "
    "Medium on a page without scripts, forms, frames and cookies.",
    severity=HIGH,
    fix=Fix("Send a policy. {example}.", {Server.STATIC: HASHED}, STRICT),
    references=("CSP Level 3", "CWE-1021", "CWE-79", "MDN: Content-Security-Policy"),
)
def csp_present(page: Page, document: Document, policies: Policies) -> Finding:
    if policies.restricts_scripts:
        ways = [name for name, found in (("header", policies.header), ("<meta>", policies.meta)) if found]
        return Pass(f"A policy is enforced by {' and '.join(ways)}.", _shown(policies.enforced))
    if lists := policies.source_lists("script-src-elem"):
        shown = some(list(dict.fromkeys(excerpt(" ".join(values), 80) for values in lists)))
        title, message = (
            "CSP allows any script",
            f"The policy allows inline scripts, and scripts from any host: {shown}.",
        )
    elif policies.enforced:
        title, message = "CSP has no script-src", "The policy has neither script-src nor default-src."
    elif policies.report_only:
        title = "Content Security Policy is report-only"
        message = f"Only {REPORT_ONLY} is sent: browsers report violations and block nothing."
    else:
        title, message = "No Content Security Policy", f"The page has no {HEADER}."
    severity = MEDIUM if _is_inert(page, document) else None
    shown_policies = _shown(policies.enforced or policies.report_only)
    return Fail(message, severity, shown_policies, covers_category=True, title=title)


@check(
    "csp-script-inline",
    name="CSP restricts inline scripts",
    found="CSP allows inline scripts",
    why="Injected scripts are mostly inline; a policy that allows those does not stop the attack.",
    severity=HIGH,
    fix=Fix(
        "Give the page's own inline scripts a nonce or hash, and remove 'unsafe-inline'. {example}.",
        {Server.STATIC: HASHED},
        STRICT,
    ),
    references=("CSP Level 3, section 6.7.3.2", "CWE-79", "MDN: script-src"),
)
def csp_script_inline(policies: Policies) -> Finding:
    if not policies.restricts_scripts:
        return SCRIPTS_OPEN
    evidence = _shown(policies.enforced)
    is_open = [each for each in SCRIPTS if policies.leave_open(each, lambda values: allows_inline(values, script=True))]
    if not is_open:
        return Pass("Inline scripts run only with a nonce or hash, or not at all.")
    what = "inline event handlers" if is_open == ["script-src-attr"] else "inline scripts"
    title = f"CSP allows {what}"
    lists = policies.source_lists(*is_open)
    if not lists:
        message = f"Neither {is_open[0]} nor what it falls back to is set, so all {what} run."
        return Fail(message, evidence=evidence, title=title)
    malformed = [
        value
        for values in lists
        for value in values
        if value.lower().startswith(("'nonce-", "'sha")) and not is_nonce(value) and not is_hash(value)
    ]
    beside = f"; {excerpt(malformed[0], 60)} is malformed and does not count" if malformed else ""
    return Fail(f"'unsafe-inline' lets all {what} run, injected ones too{beside}.", evidence=evidence, title=title)


@check(
    "csp-script-broad",
    name="CSP restricts script sources",
    found="CSP allows scripts from any host",
    why="A source that matches every host also matches an attacker's.",
    severity=HIGH,
    fix=Fix(
        "List the hosts that scripts come from or, better, use nonces or hashes. {example}.",
        {Server.STATIC: HASHED},
        STRICT,
    ),
    references=("CSP Level 3, section 6.7.2", "CWE-79", "MDN: script-src"),
)
def csp_script_broad(policies: Policies) -> Finding:
    if not policies.restricts_scripts:
        return SCRIPTS_OPEN
    evidence = _shown(policies.enforced)
    lists = policies.source_lists("script-src-elem")
    broad = [broad_script_sources(values) for values in lists]
    if not all(broad):
        return Pass("Scripts load only from the sources that the policy names.")
    sources = dict.fromkeys(excerpt(source, 40) for found in broad for source in found)
    return Fail(f"The policy allows scripts from {some(list(sources))}.", evidence=evidence)


@check(
    "csp-unsafe-eval",
    name="CSP forbids eval()",
    found="CSP allows eval()",
    why="eval() runs text as code, so text that an attacker can influence becomes a script.",
    severity=MEDIUM,
    fix="Remove 'unsafe-eval'; where WebAssembly needs it, 'wasm-unsafe-eval' is enough.",
    references=("CSP Level 3, section 4.4", "CWE-95", "MDN: script-src"),
)
def csp_unsafe_eval(policies: Policies) -> Finding:
    if not policies.restricts_scripts:
        return SCRIPTS_OPEN
    lists = policies.source_lists("script-src")
    if not lists:
        return NotApplicable("No policy says where eval() may run.")
    if all(has_keyword(values, "unsafe-eval") for values in lists):
        return Fail("The policy allows eval() with 'unsafe-eval'.", evidence=_shown(policies.enforced))
    return Pass("Scripts may not compile text into code.")


@check(
    "csp-object-base",
    name="CSP restricts plug-ins and the base URL",
    found="CSP can be bypassed",
    why="An injected <base> makes relative scripts load from the attacker; plug-ins can run scripts of their own.",
    severity=MEDIUM,
    fix="Add object-src 'none'; base-uri 'none' to the policy ('self' where the page has a <base>).",
    references=("CSP Level 3, sections 6.1.9 and 6.3.1", "CWE-79", "MDN: object-src"),
)
def csp_object_base(policies: Policies) -> Finding:
    if not policies.restricts_scripts:
        return SCRIPTS_OPEN
    faults: dict[str, str] = {}
    if policies.leave_open("object-src", lambda values: values is None or any(map(is_broad_source, values))):
        broad = [value for values in policies.source_lists("object-src") for value in values if is_broad_source(value)]
        faults["CSP leaves plug-ins unrestricted"] = (
            f"plug-ins may come from {some([excerpt(value, 40) for value in dict.fromkeys(broad)])}"
            if broad
            else "object-src and default-src are not set"
        )
    scripts = policies.source_lists("script-src-elem")
    bases = [values for policy in policies.enforced if (values := policy.get("base-uri")) is not None]
    if scripts and all(map(trusts_by_nonce, scripts)) and all(any(map(is_broad_source, each)) for each in bases):
        faults["CSP leaves the base URL unrestricted"] = f"base-uri {'allows every address' if bases else 'is missing'}"
    if faults:
        message = f"The policy can be bypassed: {'; '.join(faults.values())}."
        title = next(iter(faults)) if len(faults) == 1 else ""
        return Fail(message, evidence=_shown(policies.enforced), title=title)
    return Pass("Plug-ins and the base URL are restricted.")


@check(
    "csp-insecure-source",
    name="CSP allows no sources over plain HTTP",
    found="CSP allows sources over plain HTTP",
    why="Anything loaded over plain HTTP can be changed in transit.",
    severity=MEDIUM,
    fix="Replace http: by https: in the policy, or add upgrade-insecure-requests.",
    references=("CSP Level 3, section 6.7.2", "CWE-319", "MDN: upgrade-insecure-requests"),
)
def csp_insecure_source(page: Page, policies: Policies) -> Finding:
    if not policies.enforced:
        return NO_POLICY
    if not page.target.is_https:
        return NotApplicable("The page itself was loaded over plain HTTP.")
    if policies.upgrades_insecure_requests:
        return Pass("upgrade-insecure-requests makes browsers load everything over HTTPS.")
    # frame-ancestors lists the sites that may embed the page. Nothing is loaded from them.
    found = [
        (directive, source)
        for directive in sorted(SOURCE_LISTS - {"frame-ancestors"})
        for source in policies.insecure_sources(directive)
    ]
    if not found:
        return Pass("The policy allows no source over plain HTTP.")
    shown = some([f"{excerpt(source, 80)} ({directive})" for directive, source in found])
    if {directive for directive, _ in found} <= UPGRADED:
        message = f"The policy allows images or media over plain HTTP, which browsers try over HTTPS first: {shown}."
        return Warn(message, LOW, _shown(policies.enforced))
    return Fail(f"The policy allows plain HTTP: {shown}.", evidence=_shown(policies.enforced))


@check(
    "csp-style-inline",
    name="CSP restricts inline styles",
    found="CSP allows inline styles",
    why="Injected styles can hide content, or leak attribute values letter by letter.",
    severity=LOW,
    fix="Move styles into files, or give them a nonce or hash, and remove 'unsafe-inline' from style-src.",
    references=("CSP Level 3, section 6.7.3.2", "MDN: style-src"),
)
def csp_style_inline(policies: Policies) -> Finding:
    if not policies.enforced:
        return NO_POLICY
    if not policies.source_lists(*STYLES):
        return NotApplicable("No policy restricts styles.")
    is_open = [each for each in STYLES if policies.leave_open(each, lambda values: allows_inline(values, script=False))]
    if not is_open:
        return Pass("Inline styles need a nonce or hash, or are not allowed.")
    if policies.source_lists(*is_open):
        message = "'unsafe-inline' allows all inline styles."
    else:
        message = f"Neither {is_open[0]} nor what it falls back to is set, so all inline styles apply."
    # No weight: otherwise a policy without style-src, which allows more, would score better.
    return Warn(message, evidence=_shown(policies.enforced), weighs=False)


@check(
    "csp-syntax",
    name="CSP syntax is valid",
    found="CSP has syntax errors",
    why="Browsers ignore what they cannot parse, so the policy does not do what it says.",
    severity=MEDIUM,
    fix="Correct the errors listed. Semicolons separate directives, and keywords are in single quotes.",
    references=("CSP Level 3, sections 2.2 and 2.3", "MDN: Content-Security-Policy"),
)
def csp_syntax(policies: Policies) -> Finding:
    if not policies.enforced:
        return NO_POLICY
    faults = list(dict.fromkeys(fault for policy in policies.enforced for fault in syntax_faults(policy)))
    if faults:
        return Warn(f"Errors in the policy: {'; '.join(faults[:4])}.", evidence=_shown(policies.enforced))
    return Pass("Every directive and keyword is known.")


@check(
    "csp-nonce-static",
    name="CSP nonces change with every response",
    found="CSP nonces are reused",
    why="A nonce that is known in advance is no secret: injected scripts can use it.",
    severity=HIGH,
    fix="Generate a new random nonce of at least 128 bits for every response, and do not cache the page.",
    references=("CSP Level 3, section 7.1", "CWE-330", "MDN: script-src"),
    html=False,
)
def csp_nonce_static(page: Page, policies: Policies, second: SecondFetch) -> Finding:
    if second.page is None:
        return NotApplicable("The policy has no nonce.")
    if any(map(_is_cached, (page, second.page))):
        return NotApplicable("The page came from a cache, so two visits do not show whether its nonces change.")
    if not second.policies.nonces:
        return NotApplicable("The second visit got a page without a nonce, so there was none to compare.")
    repeated = policies.nonces & second.policies.nonces
    if repeated:
        return Fail(
            f"{'The nonce was' if len(repeated) == 1 else 'Nonces were'} the same on two visits.",
            # If scripts may come from any host, an attacker needs no nonce, and csp-script-broad fails already.
            MEDIUM if all(map(broad_script_sources, policies.source_lists("script-src-elem"))) else None,
            evidence=[{"nonces_seen_twice": len(repeated)}],
        )
    return Pass("Two visits got different nonces.")


def _is_cached(page: Page) -> bool:
    """Return True if a cache reports that it answered. An Age field is enough, even 0 (RFC 9111, section 5.1)."""
    if "Age" in page.headers or len((page.headers.get("X-Varnish") or "").split()) > 1:
        return True
    return any(
        CACHE_HIT.search(value) and "cache" in name.lower() and name.lower() != "cache-control"
        for name, value in page.headers
    )


@check(
    "csp-allowlist-bypass",
    name="CSP allows no host with a known bypass",
    found="CSP allows hosts through which it can be bypassed",
    why="Through JSONP endpoints and old frameworks on such hosts, attackers can run scripts despite the policy.",
    severity=LOW,
    fix=Fix("Use nonces or hashes instead of host names. {example}.", {Server.STATIC: HASHED}, STRICT),
    references=("Weichselbaum et al.: CSP Is Dead, Long Live CSP (2016)", "MDN: script-src"),
)
def csp_allowlist_bypass(policies: Policies) -> Finding:
    if not policies.restricts_scripts:
        return SCRIPTS_OPEN
    lists = policies.source_lists("script-src-elem")
    if any(has_keyword(values, "strict-dynamic") for values in lists):
        return Pass("Browsers ignore host names beside 'strict-dynamic'.")
    lists = [values for values in lists if not broad_script_sources(values)]
    if not lists:
        return NotApplicable("The policy lets scripts come from any host; csp-script-broad reports it.")
    hosts = sorted(set.intersection(*map(_bypass_hosts, lists)))
    if hosts:
        return Warn(
            f"The policy allows scripts from {some(hosts)}.",
            evidence=[{"host": host} for host in hosts],
        )
    return Pass("No allowed host has a known bypass.")


def _bypass_hosts(sources: Sequence[str]) -> set[str]:
    allows_eval = has_keyword(sources, "unsafe-eval")
    return {host for source in sources if (host := bypass_host(source, allows_eval=allows_eval))}
