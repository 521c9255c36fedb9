"""Checks for missing protective headers and for deprecated headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt
from website_scan.net.targets import Target
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn, outcome
from website_scan.page.encodings import REPLACEMENT, charset, encoding_of_label
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, http_equivs, metas_named
from website_scan.places import Column, Header, Place
from website_scan.security.csp import HEADER as CSP
from website_scan.security.csp import Policies, is_broad_source, parse_policy
from website_scan.security.evidence import Cors, CorsAnswer, OriginCors
from website_scan.security.foreign_origins import is_plain_http_origin
from website_scan.values import Clause, Code, Value, Values, Word

CATEGORY = Category("HTTP headers", weight=20)

LEAKY_REFERRER_POLICIES = frozenset({"unsafe-url", "origin", "origin-when-cross-origin", "no-referrer-when-downgrade"})
REFERRER_POLICIES = LEAKY_REFERRER_POLICIES | {
    "no-referrer",
    "same-origin",
    "strict-origin",
    "strict-origin-when-cross-origin",
}
# Legacy keywords of referrer policies (HTML, "meta referrer").
LEGACY_REFERRER_POLICIES = {
    "never": "no-referrer",
    "default": "strict-origin-when-cross-origin",
    "always": "unsafe-url",
    "origin-when-crossorigin": "origin-when-cross-origin",
}
# Valid values of the cross-origin policies (HTML, "cross-origin opener policies" and "embedder policies"; Fetch,
# "Cross-Origin-Resource-Policy header").
OPENER_POLICIES = frozenset({"unsafe-none", "same-origin-allow-popups", "same-origin", "noopener-allow-popups"})
EMBEDDER_POLICIES = frozenset({"unsafe-none", "require-corp", "credentialless"})
RESOURCE_POLICIES = frozenset({"same-origin", "same-site", "cross-origin"})
DEPRECATED_HEADERS = {
    "Public-Key-Pins": "browsers no longer read it, and a wrong pin locked visitors out",
    "Public-Key-Pins-Report-Only": "browsers no longer read it",
    "Expect-CT": "browsers require certificate transparency anyway",
    "Feature-Policy": "Permissions-Policy replaced it",
}


class CorsRow(Place, frozen=True):
    """CORS headers in the response to a request from a foreign origin."""

    kind: ClassVar[str] = "cors"

    origin: Annotated[str, Column("Origin", "mono")]
    access_control_allow_origin: Annotated[str | None, Column("Access-Control-Allow-Origin", "mono")]
    access_control_allow_credentials: Annotated[str | None, Column("Access-Control-Allow-Credentials", "mono")]

    @classmethod
    def from_answer(cls, answer: CorsAnswer) -> Self:
        return cls(
            answer.origin,
            excerpt(", ".join(answer.allow_origin)) or None,
            excerpt(", ".join(answer.allow_credentials)) or None,
        )


@check(
    "clickjacking",
    name="Clickjacking protection",
    outcomes={
        "missing": "No clickjacking protection",
        "contradictory": outcome("X-Frame-Options contradicts itself", LOW),
        "ignored": "X-Frame-Options is ignored",
        "no-effect": "X-Frame-Options has no effect",
        "any-site": "frame-ancestors allows any site",
    },
    why="A site that frames the page invisibly can trick visitors into clicking what they do not see.",
    consequence="Another site can hide yours under its own buttons, so that visitors click what they do not see.",
    severity=HIGH,
    fix=Fix(
        "List the sites that may frame the page in `frame-ancestors` (`'none'` for no site), and send "
        "`X-Frame-Options: SAMEORIGIN` for older browsers.",
        {Language.HEADER: "Content-Security-Policy: frame-ancestors 'self'"},
    ),
    references=(
        "CSP Level 3, section 6.4.2",
        "RFC 7034",
        "HTML, the X-Frame-Options header",
        "CWE-1021",
        "MDN: X-Frame-Options",
    ),
    html=True,
)
def clickjacking(page: Page, document: Document, policies: Policies) -> Verdict:
    lists = [sources for policy in policies.header if (sources := policy.get("frame-ancestors")) is not None]
    if lists:
        return _judge_frame_ancestors(lists)
    sent = page.headers.get("X-Frame-Options") or ""
    values = {token.strip().lower() for token in sent.split(",") if token.strip()}
    headers = Header.of("X-Frame-Options", page.headers.all("X-Frame-Options"))
    if len(values) > 1 and values & {"deny", "sameorigin", "allowall"}:
        return Warn("contradictory", "The header contradicts itself, so browsers block all framing.", places=headers)
    if values in ({"deny"}, {"sameorigin"}):
        return Pass("X-Frame-Options: {value}.", value=Code(sent), details=headers)
    if any(value.startswith("allow-from") for value in values):
        return Fail("ignored", "Browsers ignore the header, so any site may frame the page.", places=headers)
    if values:
        return Fail("no-effect", "The header does not stop any site from framing the page.", places=headers)
    if _has_framing_policy_in_meta(document):
        return Fail("missing", "No header sends frame-ancestors or X-Frame-Options; in <meta> they are ignored.")
    return Fail("missing", "The response has neither frame-ancestors nor X-Frame-Options.")


@check(
    "x-content-type-options",
    name="MIME sniffing is disabled",
    outcomes={"missing": "No X-Content-Type-Options header", "invalid": "MIME sniffing is not disabled"},
    why="Without nosniff, browsers guess types, and may run an uploaded text file as a script.",
    severity=MEDIUM,
    fix=Fix("Send `nosniff` on every response.", {Language.HEADER: "X-Content-Type-Options: nosniff"}),
    references=("Fetch, section 3.6", "CWE-693", "MDN: X-Content-Type-Options"),
)
def x_content_type_options(page: Page) -> Verdict:
    value = page.headers.get("X-Content-Type-Options")
    if value is None:
        return Fail("missing", "The response has no X-Content-Type-Options header.")
    if value.split(",")[0].strip(" \t").lower() == "nosniff":
        return Pass("X-Content-Type-Options: nosniff.")
    if not value.strip():
        return Fail("invalid", "X-Content-Type-Options is empty; its first value must be nosniff.")
    return Fail("invalid", "X-Content-Type-Options is “{value}”; its first value must be nosniff.", value=Code(value))


@check(
    "referrer-policy",
    name="Referrer policy",
    outcomes={"unsafe": "Referrer policy is unsafe", "invalid": "Referrer-Policy is invalid"},
    why="Without a strict policy, other sites learn where visitors come from; addresses may also hold tokens.",
    severity=LOW,
    fix=Fix(
        "Send the policy that browsers use by default, or `no-referrer`.",
        {Language.HEADER: "Referrer-Policy: strict-origin-when-cross-origin"},
    ),
    references=("W3C Referrer Policy, sections 3 and 8.1", "CWE-200", "MDN: Referrer-Policy"),
)
def referrer_policy(page: Page, document: Document) -> Verdict:
    value = page.headers.get("Referrer-Policy")
    tokens = [token.strip(" \t").lower() for token in (value or "").split(",")]
    recognised = [token for token in tokens if token in REFERRER_POLICIES]
    policy, source = (recognised[-1], "Referrer-Policy") if recognised else (None, "")
    if (meta_policy := _read_meta_referrer(document)) is not None:
        policy, source = meta_policy, '<meta name="referrer">'
    if policy is None:
        if value is not None and any(tokens):
            return Warn(
                "invalid",
                "Referrer-Policy is “{value}”, which browsers do not know, so their default applies: "
                "strict-origin-when-cross-origin.",
                value=Code(value),
            )
        return Pass("No Referrer-Policy, so browsers' default applies: strict-origin-when-cross-origin.")
    if policy not in LEAKY_REFERRER_POLICIES:
        return Pass("{source}: {policy}.", source=Word(source), policy=Word(policy))
    if policy.startswith("origin"):
        return Fail(
            "unsafe",
            "{source} is {policy}, which sends the origin of the page that a visitor comes from to other sites, even "
            "over plain HTTP.",
            source=Word(source),
            policy=Word(policy),
        )
    return Fail(
        "unsafe",
        "{source} is {policy}, which sends the whole address of the page that a visitor comes from to other sites.",
        source=Word(source),
        policy=Word(policy),
    )


@check(
    "permissions-policy",
    name="Permissions policy",
    outcomes={
        "missing": "No Permissions-Policy header",
        "empty": "Permissions-Policy is empty",
        "invalid": "Permissions-Policy is invalid",
    },
    why="Any script on the page may ask visitors for camera, microphone and location, and so may frames whose allow "
    "attribute names them.",
    severity=LOW,
    fix=Fix(
        "Turn off the features that the page does not use.",
        {Language.HEADER: "Permissions-Policy: camera=(), microphone=(), geolocation=()"},
    ),
    references=("W3C Permissions Policy, section 5.2", "RFC 9651, section 3.2", "MDN: Permissions-Policy"),
    html=True,
)
def permissions_policy(page: Page) -> Verdict:
    value = page.headers.get("Permissions-Policy")
    if value is None:
        return Warn("missing", "The response has no Permissions-Policy header.")
    if not value.strip():
        return Warn("empty", "The Permissions-Policy header is empty and restricts nothing.")
    from http_sfv.dictionary import Dictionary  # The import is slow, and most pages have no Permissions-Policy.

    features = Dictionary()
    try:
        features.parse(value.encode("latin-1", "replace"))
    except ValueError:
        if re.search(r"^[\w-]+ +'", value):
            return Warn(
                "invalid",
                "Browsers ignore “{value}”: it has the syntax of the older Feature-Policy.",
                value=Code(value),
            )
        return Warn(
            "invalid", "Browsers ignore “{value}”: it is not a valid dictionary of features.", value=Code(value)
        )
    return Pass("Permissions-Policy sets {features}.", features=Values([Code(feature) for feature in features]))


@check(
    "cross-origin-policies",
    name="Cross-origin policies are valid",
    outcomes={"invalid": "Cross-origin policy is invalid"},
    why="Browsers ignore an invalid value, so the page is not isolated as intended.",
    severity=LOW,
    fix="Send a valid value, such as `Cross-Origin-Opener-Policy: same-origin`, `Cross-Origin-Embedder-Policy: "
    "require-corp` or `Cross-Origin-Resource-Policy: same-origin`.",
    references=("HTML, cross-origin opener policies", "Fetch, section 3.7", "MDN: Cross-Origin-Opener-Policy"),
)
def cross_origin_policies(page: Page) -> Verdict:
    valid: list[Code] = []
    wrong: list[Code] = []
    for name, values in (
        ("Cross-Origin-Opener-Policy", OPENER_POLICIES),
        ("Cross-Origin-Embedder-Policy", EMBEDDER_POLICIES),
        ("Cross-Origin-Resource-Policy", RESOURCE_POLICIES),
    ):
        value = page.headers.get(name)
        if value is not None:
            # Cross-Origin-Resource-Policy is not a structured field, unlike the other two headers.
            policy = value.strip(" \t") if values is RESOURCE_POLICIES else _parse_structured_token(value)
            (valid if policy in values else wrong).append(Code(f"{name}: {value}"))
    if wrong:
        return Warn("invalid", "{policies} {policies:is|are} not valid.", policies=Values(wrong))
    if valid:
        return Pass("The page sends {policies}.", policies=Values(valid))
    return Pass("No cross-origin policy is sent; only pages that share memory need one.")


@check(
    "cors-credentials",
    name="CORS refuses untrusted origins with credentials",
    outcomes={
        "any-origin": "CORS allows any origin with credentials",
        "null-origin": "CORS allows Origin: null with credentials",
        "look-alike": "CORS allows look-alike origins with credentials",
        "plain-http": outcome("CORS allows the site's HTTP origin with credentials", MEDIUM),
    },
    why="Any website can read what this site shows to logged-in visitors.",
    consequence="A malicious site may be able to read what your site shows to visitors who are logged in.",
    severity=CRITICAL,
    fix="Compare the whole `Origin` with a list of trusted origins, echo only these, with `Vary: Origin`, and never "
    "`null`.",
    references=("Fetch, section 3.3.5", "CWE-942", "CWE-346", "MDN: Access-Control-Allow-Credentials"),
)
def cors_credentials(page: Page, cors: Cors, of_origin: OriginCors) -> Verdict:
    answers = (*cors.answers, *of_origin.answers)
    details = [CorsRow.from_answer(answer) for answer in answers]
    reflected = [answer for answer in answers if answer.allow_origin == (answer.origin,)]
    allowed = [answer.origin for answer in reflected if answer.allow_credentials == ("true",)]
    if allowed:
        return _judge_allowed_origins(allowed, page.target, cors, details)
    if reflected:
        return Pass(
            "The server echoes foreign origins, but without credentials, so they read only what is public.",
            details=details,
        )
    if any("*" in answer.allow_origin for answer in answers):
        return Pass("Access-Control-Allow-Origin: * lets every origin read, but without credentials.", details=details)
    return Pass("Foreign origins are not allowed.", details=details)


def _judge_allowed_origins(allowed: Sequence[str], target: Target, cors: Cors, details: Sequence[CorsRow]) -> Verdict:
    """Return the worst finding about origins that may read the page.

    They can read it with the visitor's credentials.
    """
    random_origin = next((answer.origin for answer in cors.answers), "null")
    look_alikes = [origin for origin in allowed if origin != "null" and not is_plain_http_origin(origin, target)]
    if random_origin in allowed and random_origin != "null":
        return Fail(
            "any-origin",
            "The server lets any origin read the page with the visitor's cookies: Access-Control-Allow-Origin: "
            "{origin} with Access-Control-Allow-Credentials: true.",
            origin=Code(random_origin),
            details=details,
        )
    if look_alikes:
        return Fail(
            "look-alike",
            "The server takes {origin} for a trusted origin, but anybody can register such a domain. It answers with "
            "Access-Control-Allow-Origin: {origin} and Access-Control-Allow-Credentials: true.",
            origin=Code(look_alikes[0]),
            details=details,
        )
    if "null" in allowed:
        return Fail(
            "null-origin",
            "The server lets a sandboxed frame (Origin: null) read the page with the visitor's cookies: "
            "Access-Control-Allow-Origin: null with Access-Control-Allow-Credentials: true.",
            details=details,
        )
    return Warn(
        "plain-http",
        "The server lets {origin} read the page with the visitor's cookies. Others on the network can change what this "
        "origin sends, and the site has no HSTS that prevents it.",
        origin=Code(allowed[0]),
        details=details,
    )


@check(
    "content-type",
    name="Content-Type header is complete",
    outcomes={
        "no-charset": "Content-Type names no charset",
        "unknown-charset": "Content-Type names a charset that browsers do not support",
        "missing": "No Content-Type header",
        "invalid": "Content-Type is invalid",
    },
    why="Browsers then look for hints or guess, and a wrong guess garbles text or runs it as a script.",
    severity=LOW,
    fix=Fix("Send the media type and the charset.", {Language.HEADER: "Content-Type: text/html; charset=utf-8"}),
    references=("RFC 9110, section 8.3", "CWE-436", "MDN: Content-Type"),
)
def content_type(page: Page) -> Verdict:
    value = page.headers.get("Content-Type")
    if value is None or not value.strip():
        if not page.response.body:
            return NotApplicable("The response has no content.")
        return Fail("missing", "The response has no Content-Type header.")
    if not re.fullmatch(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", page.media_type):
        return Fail("invalid", "Content-Type “{value}” is not a media type.", value=Code(value))
    textual = page.media_type.startswith("text/") or page.is_html
    label = charset(value)
    if textual and label is None and not re.search(r""";\s*charset\s*=\s*["']?[^\s"';]""", value, re.IGNORECASE):
        return Warn("no-charset", "Content-Type: {value} names no charset.", value=Code(value))
    if textual and encoding_of_label(label or "") in ("", REPLACEMENT):
        return Warn(
            "unknown-charset", "Browsers do not support the charset in Content-Type: {value}.", value=Code(value)
        )
    return Pass("Content-Type: {value}.", value=Code(value))


@check(
    "deprecated-headers",
    name="No deprecated headers",
    outcomes={"several": "Deprecated headers are sent", "single": "{header} is deprecated"},
    why="Deprecated headers no longer protect anybody, and some cause vulnerabilities of their own.",
    severity=LOW,
    fix="Remove `Public-Key-Pins`, `Expect-CT` and `Feature-Policy`; remove `X-XSS-Protection` too, or set it to `0`.",
    references=("RFC 9110, section 16.3", "CWE-477", "MDN: X-XSS-Protection"),
)
def deprecated_headers(page: Page) -> Verdict:
    sent: dict[str, Value] = {
        name: Word(f"{name} ({why})") for name, why in DEPRECATED_HEADERS.items() if name in page.headers
    }
    auditor = page.headers.get("X-XSS-Protection")
    if auditor is not None and auditor.split(";")[0].strip() != "0":
        sent["X-XSS-Protection"] = Clause.of(
            "X-XSS-Protection: {value} (browsers have dropped its filter)", value=Code(auditor)
        )
    if not sent:
        return Pass("No deprecated header is sent.")
    headers = Values(list(sent.values()))
    if len(sent) == 1:
        return Warn("single", "The response sends {headers}.", headers=headers, header=Word(next(iter(sent))))
    return Warn("several", "The response sends {headers}.", headers=headers)


def _judge_frame_ancestors(lists: list[tuple[str, ...]]) -> Verdict:
    """Judge the frame-ancestors directives of several policies.

    Browsers enforce all policies, so the strictest source list decides.
    """
    sent = "; ".join(f"frame-ancestors {' '.join(sources)}".strip() for sources in lists)
    headers = Header.of(CSP, [sent])
    if any(not any(is_broad_source(source) for source in sources) for sources in lists):
        return Pass("Content-Security-Policy: {value}.", value=Code(sent), details=headers)
    return Fail(
        "any-site",
        "frame-ancestors lets any site frame the page, whatever X-Frame-Options says.",
        places=headers,
    )


def _has_framing_policy_in_meta(document: Document) -> bool:
    policies = [parse_policy(content) for content in http_equivs(document, CSP)]
    return bool(http_equivs(document, "X-Frame-Options")) or any("frame-ancestors" in policy for policy in policies)


def _read_meta_referrer(document: Document) -> str | None:
    """Return the referrer policy of `<meta name="referrer">`.

    The last valid one overrides the header.
    """
    policy = None
    for node in metas_named(document, "referrer"):
        value = (attribute(node, "content") or "").strip().lower()
        value = LEGACY_REFERRER_POLICIES.get(value, value)
        policy = value if value in REFERRER_POLICIES else policy
    return policy


def _parse_structured_token(value: str) -> str | None:
    """Return the token in a structured field.

    None if the value is no token (RFC 9651, section 3.3.4).
    """
    from http_sfv.item import Item
    from http_sfv.types import Token

    item = Item()
    try:
        item.parse(value.encode("latin-1", "replace"))
    except ValueError:
        return None
    return str(item.value) if isinstance(item.value, Token) else None
