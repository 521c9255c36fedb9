"""Parser of Content Security Policies, with the rules of browsers (CSP Level 3, sections 2.2 and 2.3)."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from website_scan.net.http.response import Headers
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import http_equivs, is_plaintext
from website_scan.urls import Url
from website_scan.values import Clause, Code

HEADER = "Content-Security-Policy"
REPORT_ONLY = "Content-Security-Policy-Report-Only"
ASCII_WHITESPACE = "\t\n\f\r "
# Limit against policies that are made to be slow to parse. Real policies are far shorter.
MAX_CHARACTERS = 64 * 1024
MAX_POLICIES = 50

SOURCE_LISTS = frozenset(
    {
        *("child-src", "connect-src", "default-src", "fenced-frame-src", "font-src", "frame-src", "img-src"),
        *("manifest-src", "media-src", "object-src", "prefetch-src", "script-src", "script-src-attr"),
        *("script-src-elem", "style-src", "style-src-attr", "style-src-elem", "worker-src"),
        *("base-uri", "form-action", "frame-ancestors", "navigate-to"),
    }
)
# Known directives, including obsolete ones, which are not reported as spelling mistakes.
DIRECTIVES = SOURCE_LISTS | {
    *("sandbox", "report-uri", "report-to", "upgrade-insecure-requests", "require-trusted-types-for"),
    *("trusted-types", "webrtc"),
    *("block-all-mixed-content", "plugin-types", "referrer", "reflected-xss", "require-sri-for"),
}
# Directives that have no effect in a policy in `<meta>` (section 3.3).
NOT_IN_META = frozenset({"frame-ancestors", "report-uri", "sandbox"})
SCRIPT_DIRECTIVES = frozenset({"script-src", "script-src-elem", "script-src-attr"})
SCRIPT_FALLBACKS = ("script-src", "default-src")
STYLE_FALLBACKS = ("style-src", "default-src")
FALLBACKS: Mapping[str, tuple[str, ...]] = {
    "script-src-elem": SCRIPT_FALLBACKS,
    "script-src-attr": SCRIPT_FALLBACKS,
    "style-src-elem": STYLE_FALLBACKS,
    "style-src-attr": STYLE_FALLBACKS,
    "worker-src": ("child-src", *SCRIPT_FALLBACKS),
    "frame-src": ("child-src", "default-src"),
    "fenced-frame-src": ("frame-src", "child-src", "default-src"),
    # These directives restrict no fetch, so default-src does not replace them.
    **dict.fromkeys(("base-uri", "form-action", "frame-ancestors", "default-src"), ()),
}
KEYWORDS = frozenset(
    {
        *("self", "none", "unsafe-inline", "unsafe-eval", "unsafe-hashes", "strict-dynamic", "report-sample"),
        *("wasm-unsafe-eval", "inline-speculation-rules", "trusted-types-eval"),
        *("unsafe-webtransport-hashes", "report-sha256", "report-sha384", "report-sha512"),
    }
)

# Grammar of section 2.3.1. Browsers ignore a nonce or hash that does not match.
NONCE = re.compile(r"'nonce-[A-Za-z0-9+/_-]+={0,2}'", re.IGNORECASE)
HASH = re.compile(r"'sha(?:256|384|512)-[A-Za-z0-9+/_-]+={0,2}'", re.IGNORECASE)
SCHEME_PART = re.compile(r"\A[a-z][a-z0-9+.-]*+://")
SCHEME_SOURCE = re.compile(r"[a-z][a-z0-9+.-]*:")
# Schemes under which an attacker can publish content. Only the page's own scripts create blob: and filesystem: URLs,
# and browsers no longer load anything over ftp.
BROAD_SCHEMES = frozenset({"http", "https", "ws", "wss", "data"})
HOST_SOURCE = re.compile(r"(?:https?://)?(?P<host>[*a-z0-9.-]{1,255})(?::(?:\d{1,5}|\*))?(?P<path>/.*)?", re.IGNORECASE)

Sources = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Csp:
    """Parsed policy: values by directive name in lower case. Only the first of a repeated directive counts.

    `dropped`: names of directives that browsers ignore because of a non-ASCII character.
    """

    directives: Mapping[str, Sources]
    text: str = ""
    repeated: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def get(self, directive: str) -> Sources | None:
        return self.directives.get(directive)

    def effective_values(self, directive: str) -> Sources | None:
        """Return the values in effect for a directive, with the fallbacks of section 6.8.3. None if unrestricted."""
        for name in (directive, *FALLBACKS.get(directive, ("default-src",))):
            if name in self.directives:
                return self.directives[name]
        return None

    def __contains__(self, directive: str) -> bool:
        return directive in self.directives


@dataclass(frozen=True, slots=True)
class Policies:
    """Policies of a page: from its headers, from its `<meta>` elements, and report-only.

    Browsers enforce every policy, so a weakness counts only if all policies have it (section 2.1).
    """

    header: tuple[Csp, ...] = ()
    meta: tuple[Csp, ...] = ()
    report_only: tuple[Csp, ...] = ()

    @property
    def enforced(self) -> tuple[Csp, ...]:
        return (*self.header, *self.meta)

    @property
    def upgrades_insecure_requests(self) -> bool:
        return any("upgrade-insecure-requests" in policy for policy in self.enforced)

    @property
    def restricts_scripts(self) -> bool:
        """True unless inline scripts run and other scripts load from any host."""
        return not (
            self.all_match("script-src-elem", lambda values: allows_inline(values, script=True))
            and self.all_match("script-src-elem", lambda values: values is None or bool(broad_script_sources(values)))
        )

    @property
    def nonces(self) -> set[str]:
        """Nonces of all directives, as source expressions such as 'nonce-abc'."""
        lists = [values for policy in self.enforced for values in policy.directives.values()]
        return {value for values in lists for value in values if is_nonce(value)}

    def source_lists(self, *directives: str) -> list[Sources]:
        """Return the source lists in effect for the directives, from the policies that restrict them."""
        lists = [policy.effective_values(directive) for policy in self.enforced for directive in directives]
        return [values for values in lists if values is not None]

    def all_match(self, directive: str, condition: Callable[[Sources | None], bool]) -> bool:
        """Return True if the values of the directive satisfy `condition` in every enforced policy."""
        return all(condition(policy.effective_values(directive)) for policy in self.enforced)

    def insecure_sources(self, directive: str) -> list[str]:
        """Return the http: sources in effect for a directive. Empty if at least one policy allows no http: source.

        For scripts with strict-dynamic, browsers ignore schemes and hosts (section 6.7.1.1).
        """
        if not any(directive in policy for policy in self.enforced):
            return []
        lists = self.source_lists(directive)
        if directive in SCRIPT_DIRECTIVES and any(has_keyword(values, "strict-dynamic") for values in lists):
            return []
        insecure = [[value for value in values if is_insecure_source(value)] for values in lists]
        return list(dict.fromkeys(itertools.chain.from_iterable(insecure))) if all(insecure) else []


def policies_of(page: Page, document: Document) -> Policies:
    return Policies(
        header_policies(page.headers), meta_policies(document), parse_policies(page.headers.all(REPORT_ONLY))
    )


def parse_policy(text: str) -> Csp:
    """Parse one serialized policy. Skip parts that can't be parsed."""
    directives: dict[str, Sources] = {}
    repeated = []
    dropped = []
    text = text[:MAX_CHARACTERS]
    for part in text.split(";"):
        words = [word for word in _split_words(part) if word]
        if words and not part.isascii():
            dropped.append(words[0].lower())
        elif words and words[0].lower() in directives:
            repeated.append(words[0].lower())
        elif words:
            directives[words[0].lower()] = tuple(words[1:])
    return Csp(directives, text.strip(ASCII_WHITESPACE), tuple(repeated), tuple(dropped))


def parse_policies(values: Sequence[str]) -> tuple[Csp, ...]:
    """Parse the policies of several field lines. Commas separate policies in a line; empty policies are left out."""
    texts = (text for value in values for text in value.split(",") if text.strip(ASCII_WHITESPACE))
    policies = map(parse_policy, itertools.islice(texts, MAX_POLICIES))
    return tuple(policy for policy in policies if policy.directives or policy.dropped)


def header_policies(headers: Headers) -> tuple[Csp, ...]:
    """Return the enforced policies of a response, without report-only ones."""
    return parse_policies(headers.all(HEADER))


def meta_policies(document: Document) -> tuple[Csp, ...]:
    """Return the policies in `<meta>` elements, without the directives that have no effect there."""
    policies = []
    for content in http_equivs(document, HEADER)[:MAX_POLICIES]:
        policy = parse_policy(content)
        directives = {name: value for name, value in policy.directives.items() if name not in NOT_IN_META}
        if directives or policy.dropped:
            policies.append(replace(policy, directives=directives))
    return tuple(policies)


def _split_words(part: str) -> list[str]:
    for character in ASCII_WHITESPACE[:-1]:
        part = part.replace(character, " ")
    return part.split(" ")


# Source expressions and lists of them


def is_nonce(source: str) -> bool:
    return NONCE.fullmatch(source) is not None


def is_hash(source: str) -> bool:
    return HASH.fullmatch(source) is not None


def is_broad_source(source: str) -> bool:
    """Return True if a source expression matches any host: `*`, a scheme alone, or any host of a scheme."""
    source = source.lower()
    if source.startswith("'"):
        return False
    if SCHEME_SOURCE.fullmatch(source):
        return source.removesuffix(":") in BROAD_SCHEMES
    scheme = SCHEME_PART.match(source)
    if scheme is not None and scheme[0].removesuffix("://") not in BROAD_SCHEMES:
        return False
    host = SCHEME_PART.sub("", source).split("/")[0]
    return host.split(":")[0] == "*"


def is_insecure_source(source: str) -> bool:
    """Return True if the source allows content over plain HTTP from another machine."""
    if not source.lower().startswith("http:"):
        return False
    # A URL cannot have the port “*” of http://localhost:*.
    url = Url.parse(source.removesuffix(":*"))
    return url is None or is_plaintext(url)


def has_keyword(sources: Sequence[str], keyword: str) -> bool:
    """Return True if the keyword, with its quotes, is among the sources."""
    return any(source.lower() == f"'{keyword}'" for source in sources)


def allows_inline(sources: Sequence[str] | None, *, script: bool) -> bool:
    """Return True if all inline code may run (section 6.7.3.2): no nonce or hash restricts 'unsafe-inline'."""
    if sources is None:
        return True
    if any(is_nonce(source) or is_hash(source) for source in sources):
        return False
    if script and has_keyword(sources, "strict-dynamic"):
        return False
    return has_keyword(sources, "unsafe-inline")


def broad_script_sources(sources: Sequence[str]) -> list[str]:
    """Return the sources that allow scripts from any host. Empty with strict-dynamic (section 6.7.2.2)."""
    if has_keyword(sources, "strict-dynamic"):
        return []
    schemes = ("*", "http", "https", "data")
    return [source for source in sources if is_broad_source(source) and source.lower().split(":")[0] in schemes]


def trusts_by_nonce(sources: Sequence[str]) -> bool:
    """Return True if a nonce or hash makes a script trusted, whatever URL it loads from."""
    return any(map(is_nonce, sources)) or (any(map(is_hash, sources)) and has_keyword(sources, "strict-dynamic"))


# Syntax faults: parts of a policy that browsers ignore or understand differently than intended

MAX_FAULTS = 8


def syntax_faults(policy: Csp) -> list[Clause]:
    """Return at most eight faults, each a clause such as “unsafe-inline has no quotes in script-src”."""
    faults = [
        Clause.of("{directive} is repeated, and only the first counts", directive=_short_code(name))
        for name in policy.repeated[:MAX_FAULTS]
    ]
    faults += [
        Clause.of(
            "browsers ignore all of {directive} because of a non-ASCII character, such as a curly quote",
            directive=_short_code(name),
        )
        for name in policy.dropped[:MAX_FAULTS]
    ]
    for name, values in policy.directives.items():
        if name not in DIRECTIVES:
            faults.append(Clause.of("{directive} is not a directive", directive=_short_code(name)))
        elif name in SOURCE_LISTS:
            faults.extend(itertools.islice(_source_faults(name, values), MAX_FAULTS))
        else:
            # Only directive names with a hyphen count, because report groups, flags and URLs may be plain words, too.
            misplaced = (value for value in values if "-" in value and value.lower() in DIRECTIVES)
            faults.extend(itertools.islice((_missing_semicolon(name, value) for value in misplaced), MAX_FAULTS))
    governing = next((name for name in ("script-src-elem", *SCRIPT_FALLBACKS) if name in policy), None)
    if governing is not None and _blocks_every_script(policy.directives[governing]):
        clause = "'strict-dynamic' is in {directive} without a nonce or hash, so no script runs"
        faults.insert(0, Clause.of(clause, directive=_short_code(governing)))
    return faults[:MAX_FAULTS]


def _blocks_every_script(sources: Sources) -> bool:
    """Return True if 'strict-dynamic' has no nonce or hash beside it, so that no script is trusted."""
    is_trusting = any(is_nonce(source) or is_hash(source) for source in sources)
    return has_keyword(sources, "strict-dynamic") and not is_trusting


def _short_code(text: str) -> Code:
    return Code(text, 60)


def _missing_semicolon(directive: str, value: str) -> Clause:
    return Clause.of(
        "the semicolon before {source} is missing in {directive}",
        source=_short_code(value),
        directive=_short_code(directive),
    )


def _source_faults(directive: str, values: Sources) -> Iterator[Clause]:
    for value in values:
        if value.lower() in DIRECTIVES:
            yield _missing_semicolon(directive, value)
        elif fault := _fault_template(value):
            yield Clause.of(fault, source=_short_code(value), directive=_short_code(directive))
    if len(values) > 1 and "'none'" in map(str.lower, values):
        yield Clause.of(
            "'none' counts only by itself, so browsers ignore it in {directive}", directive=_short_code(directive)
        )


def _fault_template(value: str) -> str:
    """Return a sentence template for the fault of a source expression. Empty if it has no fault."""
    if value.lower() in KEYWORDS or is_nonce(f"'{value}'") or is_hash(f"'{value}'"):
        return "{source} has no quotes in {directive}"
    if value.startswith("'") and not _is_quoted_source(value):
        return "{source} in {directive} is not a keyword, nonce or hash"
    if value.startswith(('"', "`")):
        return "{source} in {directive} has the wrong kind of quotes"
    if value.endswith(","):
        return "a comma in {directive} ends the policy after {source}"
    return ""


def _is_quoted_source(value: str) -> bool:
    return is_nonce(value) or is_hash(value) or (value.endswith("'") and value[1:-1].lower() in KEYWORDS)


# Hosts through which attackers bypass an allowlist

# Paths that restrict nothing, because CDNs serve all packages below them.
UNRESTRICTING_PATHS = frozenset({"", "/", "/npm/", "/gh/", "/combine/", "/ajax/", "/ajax/libs/"})


@functools.cache
def bypass_hosts() -> Mapping[str, bool]:
    """Return the known bypass hosts in alphabetical order. The value is True if the bypass needs eval()."""
    hosts_by_reason = json.loads(Path(__file__).with_name("csp_bypass_hosts.json").read_text(encoding="utf-8"))
    by_eval = hosts_by_reason.pop("code_through_eval_only")
    return {host: host in by_eval for host in sorted({*itertools.chain(*hosts_by_reason.values()), *by_eval})}


def bypass_host(source: str, *, allows_eval: bool) -> str | None:
    """Return a known bypass host that a source expression allows. None if it allows none, or only certain paths."""
    matched = HOST_SOURCE.fullmatch(source)
    if matched is None or (matched["path"] or "").lower() not in UNRESTRICTING_PATHS:
        return None
    host = matched["host"].lower()
    bypasses = (name for name, needs_eval in bypass_hosts().items() if allows_eval or not needs_eval)
    if host.startswith("*.") and "." in host[2:]:
        return next((name for name in bypasses if name.endswith(host[1:])), None)
    return host if host in bypasses else None
