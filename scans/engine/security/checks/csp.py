"""Content Security Policy: what a page may load and run, should somebody smuggle markup into it.

Every policy holds, so a weakness counts only where all of them leave it open (CSP Level 3, section 2.1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import ada_url

from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import excerpt, some
from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import is_plaintext
from scans.engine.security.csp import (
    HEADER,
    SOURCE_LISTS,
    Policy,
    allows_inline,
    bypass_host,
    has_keyword,
    header_policies,
    is_broad_source,
    is_hash,
    is_nonce,
    meta_policies,
    parse_policies,
    syntax_faults,
)
from scans.engine.security.evidence import SecondLook

CATEGORY = Category("Content Security Policy", weight=15)

REPORT_ONLY = "Content-Security-Policy-Report-Only"
STRICT = (
    "Content-Security-Policy: script-src 'nonce-RANDOM' 'strict-dynamic'; object-src 'none'; base-uri 'none' "
    "(with a new random value on every response)"
)
NOT_HTML = NotApplicable("The page is not HTML, so nothing runs in it.")
NO_POLICY = NotApplicable("The page has no policy.")
SCRIPTS = ("script-src-elem", "script-src-attr")
STYLES = ("style-src-elem", "style-src-attr")
CACHE_HIT = re.compile(r"\bhit\b", re.IGNORECASE)


def _policies(page: Page, document: Document) -> tuple[Policy, ...]:
    return (*header_policies(page.headers), *meta_policies(document))


def _shown(policies: Sequence[Policy]) -> tuple[EvidenceItem, ...]:
    return tuple({"policy": excerpt(policy.text, 400)} for policy in policies[:5])


def _nothing_to_judge(page: Page, policies: Sequence[Policy]) -> NotApplicable | None:
    if not page.is_html:
        return NOT_HTML
    return None if policies else NO_POLICY


def _all(policies: Sequence[Policy], directive: str, is_open: Callable[[tuple[str, ...] | None], bool]) -> bool:
    """Whether no policy closes what `is_open` sees in the values that hold for a directive."""
    return all(is_open(policy.effective(directive)) for policy in policies)


def _restricting(policies: Sequence[Policy], *directives: str) -> list[tuple[str, ...]]:
    """The source lists that hold for the directives, of those policies that restrict them at all."""
    return [values for policy in policies for each in directives if (values := policy.effective(each)) is not None]


@check(
    "csp-present",
    name="Content Security Policy",
    severity=HIGH,
    fix=f"Send a policy, for example {STRICT}.",
    references=("CSP Level 3", "CWE-1021", "CWE-79"),
)
def csp_present(page: Page, document: Document) -> Finding:
    """Without a policy, any markup that gets into the page may run scripts from everywhere."""
    if not page.is_html:
        return NOT_HTML
    policies = _policies(page, document)
    if policies:
        ways = [
            name
            for name, found in (("header", header_policies(page.headers)), ("<meta>", meta_policies(document)))
            if found
        ]
        return Pass(f"A policy is enforced, by {' and '.join(ways)}.", _shown(policies))
    if report_only := parse_policies(page.headers.all(REPORT_ONLY)):
        return Fail(
            f"Only {REPORT_ONLY} is sent: browsers report what breaks it, and stop nothing.",
            evidence=_shown(report_only),
        )
    return Fail(f"No {HEADER}, so a script that somebody smuggles into the page would run.")


@check(
    "csp-script-inline",
    name="No inline scripts at will",
    severity=HIGH,
    fix=f"Give the page's own inline scripts a nonce or hash and drop 'unsafe-inline': {STRICT}.",
    references=("CSP Level 3, section 6.7.3.2", "CWE-79"),
)
def csp_script_inline(page: Page, document: Document) -> Finding:
    """Inline scripts are what an injection brings."""
    policies = _policies(page, document)
    if (nothing := _nothing_to_judge(page, policies)) is not None:
        return nothing
    is_open = [each for each in SCRIPTS if _all(policies, each, lambda values: allows_inline(values, script=True))]
    if not is_open:
        return Pass("Inline scripts run only with a nonce or hash, or not at all.")
    if not _restricting(policies, *SCRIPTS):
        return Fail(
            "Neither script-src nor default-src is set, so every inline script runs.", evidence=_shown(policies)
        )
    what = "inline event handlers" if is_open == ["script-src-attr"] else "inline scripts"
    if not _restricting(policies, *is_open):
        return Fail(
            f"{is_open[0]} is not set, nor what it falls back to, so all {what} run.", evidence=_shown(policies)
        )
    malformed = [
        value
        for values in _restricting(policies, *is_open)
        for value in values
        if value.lower().startswith(("'nonce-", "'sha")) and not is_nonce(value) and not is_hash(value)
    ]
    beside = f"; {excerpt(malformed[0], 60)} is malformed and does not count" if malformed else ""
    return Fail(f"'unsafe-inline' lets all {what} run, injected ones too{beside}.", evidence=_shown(policies))


@check(
    "csp-script-broad",
    name="No scripts from everywhere",
    severity=HIGH,
    fix=f"Name the hosts that scripts come from, or better use nonces: {STRICT}.",
    references=("CSP Level 3, section 6.7.2", "CWE-79"),
)
def csp_script_broad(page: Page, document: Document) -> Finding:
    """A source that matches every host leaves an attacker's own."""
    policies = _policies(page, document)
    if (nothing := _nothing_to_judge(page, policies)) is not None:
        return nothing
    if not _restricting(policies, "script-src-elem"):
        return Fail(
            "Neither script-src nor default-src is set, so scripts load from everywhere.", evidence=_shown(policies)
        )
    if not _all(policies, "script-src-elem", lambda values: values is None or bool(_broad_script_sources(values))):
        return Pass("Scripts load only from what the policy names.")
    broad = [source for values in _restricting(policies, "script-src-elem") for source in _broad_script_sources(values)]
    return Fail(
        f"Scripts may come from {some(list(dict.fromkeys(broad)))}, which is anywhere.", evidence=_shown(policies)
    )


def _broad_script_sources(values: Sequence[str]) -> list[str]:
    # With strict-dynamic, hosts and schemes are ignored (section 6.7.2.2).
    if has_keyword(values, "strict-dynamic"):
        return []
    return [
        excerpt(value, 40)
        for value in values
        if is_broad_source(value) and value.lower().split(":")[0] in ("*", "http", "https", "data")
    ]


@check(
    "csp-unsafe-eval",
    name="No eval of strings",
    severity=MEDIUM,
    fix="Drop 'unsafe-eval'; where WebAssembly needs it, 'wasm-unsafe-eval' is enough.",
    references=("CSP Level 3, section 4.4", "CWE-95"),
)
def csp_unsafe_eval(page: Page, document: Document) -> Finding:
    """Libraries that compile strings make scripts of an attacker's text."""
    policies = _policies(page, document)
    if (nothing := _nothing_to_judge(page, policies)) is not None:
        return nothing
    if not _restricting(policies, "script-src"):
        return NotApplicable("No policy restricts scripts; csp-script-inline says so.")
    if _all(policies, "script-src", lambda values: values is None or has_keyword(values, "unsafe-eval")):
        return Fail("'unsafe-eval' lets scripts compile text into code.", evidence=_shown(policies))
    return Pass("Scripts may not compile text into code.")


@check(
    "csp-object-base",
    name="Plug-ins and base address restricted",
    severity=MEDIUM,
    fix="Add object-src 'none'; base-uri 'none' to the policy ('self' where the page has a <base>).",
    references=("CSP Level 3, sections 6.1.9 and 6.3.1", "CWE-79"),
)
def csp_object_base(page: Page, document: Document) -> Finding:
    """An injected <base> makes relative scripts an attacker's; a plug-in runs scripts of its own."""
    policies = _policies(page, document)
    if (nothing := _nothing_to_judge(page, policies)) is not None:
        return nothing
    faults = []
    if _all(policies, "object-src", lambda values: values is None or any(map(is_broad_source, values))):
        broad = [value for values in _restricting(policies, "object-src") for value in values if is_broad_source(value)]
        faults.append(
            f"plug-ins may come from {some([excerpt(value, 40) for value in dict.fromkeys(broad)])}"
            if broad
            else "object-src and default-src are not set, so plug-ins may come from everywhere"
        )
    scripts = _restricting(policies, "script-src-elem")
    bases = [values for policy in policies if (values := policy.get("base-uri")) is not None]
    if scripts and all(map(_trusts_by_nonce, scripts)) and all(any(map(is_broad_source, each)) for each in bases):
        what = "allows every address" if bases else "is missing"
        faults.append(f"base-uri {what}, so an injected <base> sends the page's own trusted scripts elsewhere")
    if faults:
        return Fail(f"The policy leaves a way in: {'; '.join(faults)}.", evidence=_shown(policies))
    return Pass("Plug-ins and the base address are restricted.")


def _trusts_by_nonce(sources: Sequence[str]) -> bool:
    """Whether a script is trusted for its nonce or hash, wherever its relative address leads."""
    return any(map(is_nonce, sources)) or (any(map(is_hash, sources)) and has_keyword(sources, "strict-dynamic"))


@check(
    "csp-insecure-source",
    name="No sources over plain HTTP",
    severity=MEDIUM,
    fix="Write https: instead of http: in the policy, or add upgrade-insecure-requests.",
    references=("CSP Level 3, section 6.7.2", "CWE-319"),
)
def csp_insecure_source(page: Page, document: Document) -> Finding:
    """What comes over plain HTTP can be changed on its way."""
    policies = _policies(page, document)
    if (nothing := _nothing_to_judge(page, policies)) is not None:
        return nothing
    if not page.target.is_https:
        return NotApplicable("The page itself came over plain HTTP.")
    if any("upgrade-insecure-requests" in policy for policy in policies):
        return Pass("upgrade-insecure-requests makes browsers load everything over https.")
    # Nothing is loaded from those who may embed the page.
    found = [
        f"{excerpt(source, 80)} ({directive})"
        for directive in sorted(SOURCE_LISTS - {"frame-ancestors"})
        for source in _insecure_sources(policies, directive)
    ]
    if found:
        return Fail(f"The policy allows plain HTTP: {some(found)}.", evidence=_shown(policies))
    return Pass("No source over plain HTTP.")


def _insecure_sources(policies: Sequence[Policy], directive: str) -> Iterator[str]:
    """The http sources that are written into a directive, unless another policy closes it for them."""
    if not any(directive in policy for policy in policies):
        return
    lists = [values for policy in policies if (values := policy.effective(directive)) is not None]
    insecure = [[value for value in values if _is_insecure(value)] for values in lists]
    if all(insecure):
        yield from dict.fromkeys(value for values in insecure for value in values)


def _is_insecure(source: str) -> bool:
    if not source.lower().startswith("http:"):
        return False
    try:
        # A port may be “*” there, as in http://localhost:*.
        return is_plaintext(ada_url.URL(source.removesuffix(":*")))
    except ValueError:
        return True


@check(
    "csp-style-inline",
    name="No inline styles at will",
    severity=LOW,
    fix="Move styles into files, or give them a nonce or hash, and drop 'unsafe-inline' from style-src.",
    references=("CSP Level 3, section 6.7.3.2",),
)
def csp_style_inline(page: Page, document: Document) -> Finding:
    """Injected styles can hide what matters, or read attributes letter by letter."""
    policies = _policies(page, document)
    if (nothing := _nothing_to_judge(page, policies)) is not None:
        return nothing
    if not _restricting(policies, *STYLES):
        return NotApplicable("No policy restricts styles.")
    is_open = [each for each in STYLES if _all(policies, each, lambda values: allows_inline(values, script=False))]
    if is_open:
        is_set = bool(_restricting(policies, *is_open))
        why = "'unsafe-inline' lets" if is_set else f"{is_open[0]} is not set, nor what it falls back to, which lets"
        return Warn(f"{why} injected styles change the page.", evidence=_shown(policies))
    return Pass("Inline styles need a nonce or hash, or are not allowed.")


@check(
    "csp-syntax",
    name="Policy is written correctly",
    severity=MEDIUM,
    fix="Correct what is named; directives end with a semicolon, keywords stand in single quotes.",
    references=("CSP Level 3, sections 2.2 and 2.3",),
)
def csp_syntax(page: Page, document: Document) -> Finding:
    """Browsers skip what they cannot read, so the policy is weaker than it looks."""
    policies = _policies(page, document)
    if (nothing := _nothing_to_judge(page, policies)) is not None:
        return nothing
    faults = list(dict.fromkeys(fault for policy in policies for fault in syntax_faults(policy)))
    if faults:
        return Warn(
            f"Browsers read the policy otherwise than it looks: {'; '.join(faults[:4])}.", evidence=_shown(policies)
        )
    return Pass("Every directive and keyword is known.")


@check(
    "csp-nonce-static",
    name="Nonces change with every response",
    severity=HIGH,
    fix="Make a new random nonce of at least 128 bits for every response, and do not cache the page with it.",
    references=("CSP Level 3, section 7.1", "CWE-330"),
)
def csp_nonce_static(page: Page, document: Document, again: SecondLook) -> Finding:
    """A nonce that is known beforehand is no secret: injected scripts can carry it."""
    if again.page is None or again.document is None:
        return NotApplicable("The policy has no nonce.")
    if any(map(_is_cached, (page, again.page))):
        return NotApplicable("The page came from a cache, so two visits say nothing about its nonces.")
    second = _nonces(again.page, again.document)
    if not second:
        return NotApplicable("The second visit got no nonce to compare, so it was not the same page.")
    repeated = _nonces(page, document) & second
    if repeated:
        return Fail(
            f"{'The nonce was' if len(repeated) == 1 else 'Nonces were'} the same on two visits, so an injected "
            "script can carry it.",
            evidence=({"nonces_seen_twice": len(repeated)},),
        )
    return Pass("Two visits got different nonces.")


def _nonces(page: Page, document: Document) -> set[str]:
    return {
        value
        for policy in _policies(page, document)
        for values in policy.directives.values()
        for value in values
        if is_nonce(value)
    }


def _is_cached(page: Page) -> bool:
    """Whether a cache says that it answered. Age alone says it, even 0 (RFC 9111, section 5.1)."""
    if "Age" in page.headers or len((page.headers.get("X-Varnish") or "").split()) > 1:
        return True
    return any(
        CACHE_HIT.search(value) and "cache" in name.lower() and name.lower() != "cache-control"
        for name, value in page.headers
    )


@check(
    "csp-allowlist-bypass",
    name="No allowed host that runs anybody's script",
    severity=LOW,
    fix=f"Use nonces and 'strict-dynamic' in place of host names: {STRICT}.",
    references=("Weichselbaum et al.: CSP Is Dead, Long Live CSP (2016)",),
)
def csp_allowlist_bypass(page: Page, document: Document) -> Finding:
    """Hosts with JSONP endpoints or old frameworks run what an attacker asks them to."""
    policies = _policies(page, document)
    if (nothing := _nothing_to_judge(page, policies)) is not None:
        return nothing
    lists = _restricting(policies, "script-src-elem")
    if not lists:
        return NotApplicable("No policy restricts where scripts come from; csp-script-broad says so.")
    if any(has_keyword(values, "strict-dynamic") for values in lists):
        return Pass("Host names do not count beside 'strict-dynamic'.")
    lists = [values for values in lists if not _broad_script_sources(values)]
    if not lists:
        return NotApplicable("The policy lets scripts come from anywhere; csp-script-broad says so.")
    hosts = [{host for value in values if (host := bypass_host(value))} for values in lists]
    common = set.intersection(*hosts)
    if common:
        return Warn(
            f"{some(sorted(common))} can be made to run an attacker's script in spite of the policy.",
            evidence=tuple({"host": host} for host in sorted(common)),
        )
    return Pass("No allowed host is known to run other people's scripts.")
