"""HTTP header checks: protections that the response lacks, and headers that it should not send."""

from __future__ import annotations

import re

from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import excerpt, some
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, http_equivs, metas_named
from website_scan.security.csp import HEADER as CSP
from website_scan.security.csp import Policies, is_broad_source, parse_policy
from website_scan.security.evidence import Cors, CorsAnswer

CATEGORY = Category("HTTP headers", weight=20)

LEAKY_REFERRER_POLICIES = frozenset({"unsafe-url", "origin", "origin-when-cross-origin", "no-referrer-when-downgrade"})
REFERRER_POLICIES = LEAKY_REFERRER_POLICIES | {
    "no-referrer",
    "same-origin",
    "strict-origin",
    "strict-origin-when-cross-origin",
}
# HTML, "meta referrer": spellings from before the standard.
LEGACY_REFERRER_POLICIES = {
    "never": "no-referrer",
    "default": "strict-origin-when-cross-origin",
    "always": "unsafe-url",
    "origin-when-crossorigin": "origin-when-cross-origin",
}
# HTML, "cross-origin opener policies" and "embedder policies"; Fetch, "Cross-Origin-Resource-Policy header".
OPENER_POLICIES = frozenset({"unsafe-none", "same-origin-allow-popups", "same-origin", "noopener-allow-popups"})
EMBEDDER_POLICIES = frozenset({"unsafe-none", "require-corp", "credentialless"})
RESOURCE_POLICIES = frozenset({"same-origin", "same-site", "cross-origin"})
DEPRECATED = {
    "Public-Key-Pins": "browsers no longer read it, and a wrong pin locked visitors out",
    "Public-Key-Pins-Report-Only": "browsers no longer read it",
    "Expect-CT": "browsers require certificate transparency anyway",
    "Feature-Policy": "Permissions-Policy replaced it",
}


@check(
    "clickjacking",
    name="Clickjacking protection",
    found="No clickjacking protection",
    why="A site that frames the page invisibly can trick visitors into clicking what they do not see.",
    severity=HIGH,
    fix="Send Content-Security-Policy: frame-ancestors 'self' (or 'none') and X-Frame-Options: SAMEORIGIN.",
    references=(
        "CSP Level 3, section 6.4.2",
        "RFC 7034",
        "HTML, the X-Frame-Options header",
        "CWE-1021",
        "MDN: X-Frame-Options",
    ),
    html=True,
)
def clickjacking(page: Page, document: Document, policies: Policies) -> Finding:
    lists = [sources for policy in policies.header if (sources := policy.get("frame-ancestors")) is not None]
    if lists:
        return _judge_frame_ancestors(lists)
    values = {
        token.strip().lower() for token in (page.headers.get("X-Frame-Options") or "").split(",") if token.strip()
    }
    evidence = [{"header": "X-Frame-Options", "value": excerpt(line)} for line in page.headers.all("X-Frame-Options")]
    shown = excerpt(page.headers.get("X-Frame-Options") or "")
    if len(values) > 1 and values & {"deny", "sameorigin", "allowall"}:
        return Warn(
            f"X-Frame-Options contradicts itself ({shown}), so browsers block all framing.",
            LOW,
            evidence,
            title="X-Frame-Options contradicts itself",
        )
    if values in ({"deny"}, {"sameorigin"}):
        return Pass(f"X-Frame-Options: {shown}.", evidence)
    if any(value.startswith("allow-from") for value in values):
        return Fail(
            f"Browsers ignore X-Frame-Options: {shown}, so any site may frame the page.",
            evidence=evidence,
            title="X-Frame-Options is ignored",
        )
    if values:
        return Fail(
            f"X-Frame-Options: {shown} does not stop any site from framing the page.",
            evidence=evidence,
            title="X-Frame-Options has no effect",
        )
    elsewhere = "; in <meta> they are ignored" if _frames_in_meta(document) else ""
    return Fail(f"The response has neither frame-ancestors nor X-Frame-Options{elsewhere}.")


@check(
    "x-content-type-options",
    name="MIME sniffing is disabled",
    found="MIME sniffing is not disabled",
    why="Without nosniff, browsers guess types, and may run an uploaded text file as a script.",
    severity=MEDIUM,
    fix="Send X-Content-Type-Options: nosniff on every response.",
    references=("Fetch, section 3.6", "CWE-693", "MDN: X-Content-Type-Options"),
)
def x_content_type_options(page: Page) -> Finding:
    value = page.headers.get("X-Content-Type-Options")
    if value is None:
        return Fail("The response has no X-Content-Type-Options header.", title="No X-Content-Type-Options header")
    if value.split(",")[0].strip(" \t").lower() == "nosniff":
        return Pass("X-Content-Type-Options: nosniff.")
    sent = f"“{excerpt(value)}”" if value else "empty"
    return Fail(f"X-Content-Type-Options is {sent}; its first value must be nosniff.")


@check(
    "referrer-policy",
    name="Referrer policy",
    found="Referrer policy is unsafe",
    why="Without a strict policy, other sites learn where visitors come from; addresses may also hold tokens.",
    severity=LOW,
    fix="Send Referrer-Policy: strict-origin-when-cross-origin (or no-referrer).",
    references=("W3C Referrer Policy, sections 3 and 8.1", "CWE-200", "MDN: Referrer-Policy"),
)
def referrer_policy(page: Page, document: Document) -> Finding:
    value = page.headers.get("Referrer-Policy")
    tokens = [token.strip(" \t").lower() for token in (value or "").split(",")]
    recognised = [token for token in tokens if token in REFERRER_POLICIES]
    policy, source = (recognised[-1], "Referrer-Policy") if recognised else (None, "")
    if (in_meta := _meta_referrer(document)) is not None:
        policy, source = in_meta, '<meta name="referrer">'
    default = "browsers' default, strict-origin-when-cross-origin, applies"
    if policy is None:
        if value is not None and any(tokens):
            return Warn(
                f"“{excerpt(value)}” contains no referrer policy, so {default}.",
                title="Referrer-Policy is invalid",
            )
        return Pass(f"No Referrer-Policy, so {default}.")
    if policy in LEAKY_REFERRER_POLICIES:
        leak = "over plain HTTP too, the origin" if policy.startswith("origin") else "the whole address"
        sites = "sites," if policy.startswith("origin") else "sites"
        return Fail(
            f"{source} is {policy}, which sends other {sites} {leak} of the page that a visitor comes from.",
            title=f"Referrer policy is {policy}",
        )
    return Pass(f"{source}: {policy}.")


@check(
    "permissions-policy",
    name="Permissions policy",
    found="No Permissions-Policy header",
    why="Any script on the page may ask visitors for camera, microphone and location, and so may frames whose allow "
    "attribute names them.",
    severity=LOW,
    fix="Turn off what the page does not use: Permissions-Policy: camera=(), microphone=(), geolocation=()",
    references=("W3C Permissions Policy, section 5.2", "RFC 9651, section 3.2", "MDN: Permissions-Policy"),
    html=True,
)
def permissions_policy(page: Page) -> Finding:
    value = page.headers.get("Permissions-Policy")
    if value is None:
        return Warn("The response has no Permissions-Policy header.")
    if not value.strip():
        return Warn(
            "The Permissions-Policy header is empty and restricts nothing.", title="Permissions-Policy is empty"
        )
    from http_sfv.dictionary import Dictionary  # most pages have no header that needs it

    features = Dictionary()
    try:
        features.parse(value.encode("latin-1", "replace"))
    except ValueError:
        old = ", but looks like the older Feature-Policy" if re.search(r"^[\w-]+ +'", value) else ""
        return Warn(
            f"Browsers ignore “{excerpt(value)}”: it is not a valid dictionary of features{old}.",
            title="Permissions-Policy is invalid",
        )
    return Pass(f"Permissions-Policy sets {some(list(features))}.")


@check(
    "cross-origin-policies",
    name="Cross-origin policies are valid",
    found="Cross-origin policy is invalid",
    why="Browsers ignore an invalid value, so the page is not isolated as intended.",
    severity=LOW,
    fix="Send a valid value: Cross-Origin-Opener-Policy: same-origin · Cross-Origin-Embedder-Policy: "
    "require-corp · Cross-Origin-Resource-Policy: same-origin",
    references=("HTML, cross-origin opener policies", "Fetch, section 3.7", "MDN: Cross-Origin-Opener-Policy"),
)
def cross_origin_policies(page: Page) -> Finding:
    headers = page.headers
    seen: list[str] = []
    wrong: list[str] = []
    for name, known in (
        ("Cross-Origin-Opener-Policy", OPENER_POLICIES),
        ("Cross-Origin-Embedder-Policy", EMBEDDER_POLICIES),
    ):
        value = headers.get(name)
        if value is not None:
            (seen if _structured_token(value) in known else wrong).append(f"{name}: {excerpt(value)}")
    value = headers.get("Cross-Origin-Resource-Policy")
    if value is not None:
        valid = value.strip(" \t") in RESOURCE_POLICIES
        (seen if valid else wrong).append(f"Cross-Origin-Resource-Policy: {excerpt(value)}")
    if wrong:
        return Warn(f"{some(wrong)} {'is' if len(wrong) == 1 else 'are'} not valid.")
    if seen:
        return Pass(f"{some(seen)}.")
    return Pass("No cross-origin policy is sent; only pages that share memory need one.")


@check(
    "cors-credentials",
    name="CORS refuses untrusted origins with credentials",
    found="CORS allows untrusted origins with credentials",
    why="Any website can read what this site shows to logged-in visitors.",
    severity=CRITICAL,
    fix="Compare Origin with a list of trusted origins, echo only those, with Vary: Origin, and never allow null.",
    references=("Fetch, section 3.3.5", "CWE-942", "CWE-346", "MDN: Access-Control-Allow-Credentials"),
)
def cors_credentials(cors: Cors) -> Finding:
    evidence = [_cors_evidence(each) for each in cors.answers]
    reflected = [each for each in cors.answers if each.allow_origin == (each.origin,)]
    for answer in reflected:
        if answer.allow_credentials == ("true",):
            whose = "a sandboxed frame (Origin: null)" if answer.origin == "null" else "any origin"
            return Fail(
                f"The server lets {whose} read the page with the visitor's cookies: "
                f"Access-Control-Allow-Origin: {answer.origin} with Access-Control-Allow-Credentials: true.",
                evidence=evidence,
                title=f"CORS allows {'Origin: null' if answer.origin == 'null' else 'any origin'} with credentials",
            )
    if reflected:
        return Pass(
            "The server echoes foreign origins, but without credentials, so they read only what is public.",
            evidence,
        )
    if any("*" in each.allow_origin for each in cors.answers):
        return Pass("Access-Control-Allow-Origin: * lets every origin read, but without credentials.", evidence)
    return Pass("Foreign origins are not allowed.", evidence)


@check(
    "content-type",
    name="Content-Type header is complete",
    found="Content-Type names no charset",
    why="Browsers then look for hints or guess, and a wrong guess garbles text or runs it as a script.",
    severity=LOW,
    fix="Send Content-Type: text/html; charset=utf-8",
    references=("RFC 9110, section 8.3", "CWE-436", "MDN: Content-Type"),
)
def content_type(page: Page) -> Finding:
    value = page.headers.get("Content-Type")
    if value is None or not value.strip():
        if not page.response.body:
            return NotApplicable("The response has no content.")
        return Fail("The response has no Content-Type header.", title="No Content-Type header")
    if not re.fullmatch(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", page.media_type):
        return Fail(f"Content-Type “{excerpt(value)}” is not a media type.", title="Content-Type is invalid")
    textual = page.media_type.startswith("text/") or page.is_html
    if textual and not re.search(r""";\s*charset\s*=\s*["']?[^\s"';]""", value, re.IGNORECASE):
        return Warn(f"Content-Type: {excerpt(value)} names no charset.")
    return Pass(f"Content-Type: {excerpt(value)}.")


@check(
    "deprecated-headers",
    name="No deprecated headers",
    found="Deprecated headers are sent",
    why="Deprecated headers no longer protect anybody, and some cause vulnerabilities of their own.",
    severity=LOW,
    fix="Remove Public-Key-Pins, Expect-CT and Feature-Policy; remove X-XSS-Protection too, or set it to 0.",
    references=("RFC 9110, section 16.3", "CWE-477", "MDN: X-XSS-Protection"),
)
def deprecated_headers(page: Page) -> Finding:
    found = {name: f"{name} ({why})" for name, why in DEPRECATED.items() if name in page.headers}
    auditor = page.headers.get("X-XSS-Protection")
    if auditor is not None and auditor.split(";")[0].strip() != "0":
        found["X-XSS-Protection"] = f"X-XSS-Protection: {excerpt(auditor)} (browsers have dropped its filter)"
    if found:
        title = f"{next(iter(found))} is deprecated" if len(found) == 1 else ""
        return Warn(f"The response sends {some(list(found.values()))}.", title=title)
    return Pass("No deprecated header is sent.")


def _judge_frame_ancestors(lists: list[tuple[str, ...]]) -> Finding:
    """Judge frame-ancestors. Every policy must allow a framing site, so the strictest decides."""
    shown = "; ".join(f"frame-ancestors {' '.join(sources)}".strip() for sources in lists)
    evidence = [{"header": CSP, "value": excerpt(shown)}]
    if any(not any(is_broad_source(source) for source in sources) for sources in lists):
        return Pass(f"Content-Security-Policy: {excerpt(shown)}.", evidence)
    return Fail(
        f"{excerpt(shown)} lets any site frame the page; browsers then ignore X-Frame-Options.",
        evidence=evidence,
        title="frame-ancestors allows any site",
    )


def _frames_in_meta(document: Document) -> bool:
    policies = [parse_policy(content) for content in http_equivs(document, CSP)]
    return bool(http_equivs(document, "X-Frame-Options")) or any("frame-ancestors" in policy for policy in policies)


def _meta_referrer(document: Document) -> str | None:
    """Return the last policy that a `<meta name="referrer">` sets. It overrides the header's."""
    found = None
    for node in metas_named(document, "referrer"):
        value = (attribute(node, "content") or "").strip().lower()
        value = LEGACY_REFERRER_POLICIES.get(value, value)
        found = value if value in REFERRER_POLICIES else found
    return found


def _structured_token(value: str) -> str | None:
    from http_sfv.item import Item
    from http_sfv.types import Token

    item = Item()
    try:
        item.parse(value.encode("latin-1", "replace"))
    except ValueError:
        return None
    return str(item.value) if isinstance(item.value, Token) else None


def _cors_evidence(answer: CorsAnswer) -> EvidenceItem:
    return {
        "origin": answer.origin,
        "access-control-allow-origin": excerpt(", ".join(answer.allow_origin)) or None,
        "access-control-allow-credentials": excerpt(", ".join(answer.allow_credentials)) or None,
    }
