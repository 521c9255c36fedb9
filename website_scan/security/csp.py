"""Content Security Policy as browsers parse it (CSP Level 3, sections 2.2 and 2.3)."""

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
# Far more than sites send. A policy that is made to be slow is cut there.
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
# Includes directives that browsers no longer read: they are not spelling mistakes.
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
    # These restrict no fetch, so they fall back to nothing.
    **dict.fromkeys(("base-uri", "form-action", "frame-ancestors", "default-src"), ()),
}
KEYWORDS = frozenset(
    {
        *("self", "none", "unsafe-inline", "unsafe-eval", "unsafe-hashes", "strict-dynamic", "report-sample"),
        *("wasm-unsafe-eval", "inline-speculation-rules", "trusted-types-eval"),
        *("unsafe-webtransport-hashes", "report-sha256", "report-sha384", "report-sha512"),
    }
)

# The grammar of section 2.3.1. A nonce or hash that does not match it is not a source at all.
NONCE = re.compile(r"'nonce-[A-Za-z0-9+/_-]+={0,2}'", re.IGNORECASE)
HASH = re.compile(r"'sha(?:256|384|512)-[A-Za-z0-9+/_-]+={0,2}'", re.IGNORECASE)
SCHEME_PART = re.compile(r"\A[a-z][a-z0-9+.-]*+://")
SCHEME_SOURCE = re.compile(r"[a-z][a-z0-9+.-]*:")
# Schemes under which an attacker can have content. Only the page's own scripts create blob: and filesystem: URLs, and
# browsers no longer load anything over ftp.
OPEN_SCHEMES = frozenset({"http", "https", "ws", "wss", "data"})
HOST_SOURCE = re.compile(r"(?:https?://)?(?P<host>[*a-z0-9.-]{1,255})(?::(?:\d{1,5}|\*))?(?P<path>/.*)?", re.IGNORECASE)

Sources = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Csp:
    """One policy: values by directive name in lower case. The first of a repeated directive counts.

    `unread`: the directives that browsers drop as a whole because of a character outside ASCII.
    """

    directives: Mapping[str, Sources]
    text: str = ""
    repeated: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def get(self, directive: str) -> Sources | None:
        return self.directives.get(directive)

    def effective(self, directive: str) -> Sources | None:
        """Return the values in effect for a directive, by the fallbacks of section 6.8.3. None: not restricted."""
        for name in (directive, *FALLBACKS.get(directive, ("default-src",))):
            if name in self.directives:
                return self.directives[name]
        return None

    def __contains__(self, directive: str) -> bool:
        return directive in self.directives


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of a page: from its header, from its `<meta>`, and the report-only ones.

    Browsers enforce every policy, so a weakness counts only if all of them have it (section 2.1).
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
        """False if inline scripts run and other scripts load from any host."""
        return not (
            self.leave_open("script-src-elem", lambda values: allows_inline(values, script=True))
            and self.leave_open("script-src-elem", lambda values: values is None or bool(broad_script_sources(values)))
        )

    @property
    def nonces(self) -> set[str]:
        """The nonces of all directives, as source expressions."""
        lists = [values for policy in self.enforced for values in policy.directives.values()]
        return {value for values in lists for value in values if is_nonce(value)}

    def source_lists(self, *directives: str) -> list[Sources]:
        """Return the source lists in effect for the directives, from the policies that restrict them."""
        found = [policy.effective(each) for policy in self.enforced for each in directives]
        return [values for values in found if values is not None]

    def leave_open(self, directive: str, is_open: Callable[[Sources | None], bool]) -> bool:
        """Return True if `is_open` is true of the directive's values in every enforced policy."""
        return all(is_open(policy.effective(directive)) for policy in self.enforced)

    def insecure_sources(self, directive: str) -> list[str]:
        """Return the http: sources that are in effect for a directive. Empty if one policy allows none.

        For scripts, neither scheme nor host counts beside strict-dynamic (section 6.7.1.1).
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
    """Parse one serialized policy. It never fails: parts that can't be parsed are skipped."""
    directives: dict[str, Sources] = {}
    repeated = []
    unread = []
    text = text[:MAX_CHARACTERS]
    for part in text.split(";"):
        words = [word for word in _words(part) if word]
        if words and not part.isascii():
            unread.append(words[0].lower())
        elif words and words[0].lower() in directives:
            repeated.append(words[0].lower())
        elif words:
            directives[words[0].lower()] = tuple(words[1:])
    return Csp(directives, text.strip(ASCII_WHITESPACE), tuple(repeated), tuple(unread))


def parse_policies(values: Sequence[str]) -> tuple[Csp, ...]:
    """Parse the policies of several field lines; commas separate policies within a line. Empty ones are left out."""
    texts = (text for value in values for text in value.split(",") if text.strip(ASCII_WHITESPACE))
    policies = map(parse_policy, itertools.islice(texts, MAX_POLICIES))
    return tuple(policy for policy in policies if policy.directives or policy.unread)


def header_policies(headers: Headers) -> tuple[Csp, ...]:
    """Return the enforced policies of a response, without report-only ones."""
    return parse_policies(headers.all(HEADER))


def meta_policies(document: Document) -> tuple[Csp, ...]:
    """Return the policies in the document's `<meta>`, without the directives that have no effect there."""
    found = []
    for content in http_equivs(document, HEADER)[:MAX_POLICIES]:
        policy = parse_policy(content)
        kept = {name: value for name, value in policy.directives.items() if name not in NOT_IN_META}
        if kept or policy.unread:
            found.append(replace(policy, directives=kept))
    return tuple(found)


def _words(part: str) -> list[str]:
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
        return source.removesuffix(":") in OPEN_SCHEMES
    scheme = SCHEME_PART.match(source)
    if scheme is not None and scheme[0].removesuffix("://") not in OPEN_SCHEMES:
        return False
    host = SCHEME_PART.sub("", source).split("/")[0]
    return host.split(":")[0] == "*"


def is_insecure_source(source: str) -> bool:
    """Return True if the source allows content over plain HTTP from another machine."""
    if not source.lower().startswith("http:"):
        return False
    # The port may be “*”, as in http://localhost:*.
    url = Url.parse(source.removesuffix(":*"))
    return url is None or is_plaintext(url)


def has_keyword(sources: Sequence[str], keyword: str) -> bool:
    """Return True if the keyword, with its quotes, is among the sources."""
    return any(source.lower() == f"'{keyword}'" for source in sources)


def allows_inline(sources: Sequence[str] | None, *, script: bool) -> bool:
    """Return True if all inline code may run (section 6.7.3.2). A nonce or hash forbids that."""
    if sources is None:
        return True
    if any(is_nonce(source) or is_hash(source) for source in sources):
        return False
    if script and has_keyword(sources, "strict-dynamic"):
        return False
    return has_keyword(sources, "unsafe-inline")


def broad_script_sources(sources: Sequence[str]) -> list[str]:
    """Return the sources that allow scripts from any host. Empty beside strict-dynamic (section 6.7.2.2)."""
    if has_keyword(sources, "strict-dynamic"):
        return []
    schemes = ("*", "http", "https", "data")
    return [each for each in sources if is_broad_source(each) and each.lower().split(":")[0] in schemes]


def trusts_by_nonce(sources: Sequence[str]) -> bool:
    """Return True if a nonce or hash makes a script trusted, no matter where its relative address leads."""
    return any(map(is_nonce, sources)) or (any(map(is_hash, sources)) and has_keyword(sources, "strict-dynamic"))


# Syntax faults: policies that browsers read differently from what they seem to say

MAX_FAULTS = 8


def syntax_faults(policy: Csp) -> list[Clause]:
    """Return at most eight faults, each a clause such as “unsafe-inline has no quotes in script-src”."""
    found = [
        Clause.of("{directive} is repeated, and only the first counts", directive=_code(name))
        for name in policy.repeated[:MAX_FAULTS]
    ]
    found += [
        Clause.of(
            "browsers ignore all of {directive} because of a non-ASCII character, such as a curly quote",
            directive=_code(name),
        )
        for name in policy.unread[:MAX_FAULTS]
    ]
    for name, values in policy.directives.items():
        if name not in DIRECTIVES:
            found.append(Clause.of("{directive} is not a directive", directive=_code(name)))
        elif name in SOURCE_LISTS:
            found.extend(itertools.islice(_source_faults(name, values), MAX_FAULTS))
        else:
            # Only directive names with a hyphen count here, because groups, flags and addresses have plain words, too.
            swallowed = (value for value in values if "-" in value and value.lower() in DIRECTIVES)
            found.extend(itertools.islice((_no_semicolon(name, value) for value in swallowed), MAX_FAULTS))
    governing = next((name for name in ("script-src-elem", *SCRIPT_FALLBACKS) if name in policy), None)
    if governing is not None and _trusts_nothing(policy.directives[governing]):
        clause = "'strict-dynamic' is in {directive} without a nonce or hash, so no script runs"
        found.insert(0, Clause.of(clause, directive=_code(governing)))
    return found[:MAX_FAULTS]


def _trusts_nothing(sources: Sources) -> bool:
    """Return True if only scripts loaded by trusted scripts may run, and no script is trusted."""
    is_trusting = any(is_nonce(source) or is_hash(source) for source in sources)
    return has_keyword(sources, "strict-dynamic") and not is_trusting


def _code(text: str) -> Code:
    return Code(text, 60)


def _no_semicolon(directive: str, value: str) -> Clause:
    return Clause.of(
        "the semicolon before {source} is missing in {directive}", source=_code(value), directive=_code(directive)
    )


def _source_faults(directive: str, values: Sources) -> Iterator[Clause]:
    for value in values:
        if value.lower() in DIRECTIVES:
            yield _no_semicolon(directive, value)
        elif fault := _source_fault(value):
            yield Clause.of(fault, source=_code(value), directive=_code(directive))
    if len(values) > 1 and "'none'" in map(str.lower, values):
        yield Clause.of(
            "'none' counts only by itself, so browsers ignore it in {directive}", directive=_code(directive)
        )


def _source_fault(value: str) -> str:
    """Return a template for what is wrong with a source of a directive. Empty if nothing is."""
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


# Hosts through which an allowlist is bypassed

# Public libraries serve all their packages below these paths, so such a path restricts nothing.
OPEN_PATHS = frozenset({"", "/", "/npm/", "/gh/", "/combine/", "/ajax/", "/ajax/libs/"})


@functools.cache
def bypass_hosts() -> Mapping[str, bool]:
    """Return the known hosts in alphabetical order. The value is True if a host's code runs through eval() only."""
    found = json.loads(Path(__file__).with_name("csp_bypass_hosts.json").read_text(encoding="utf-8"))
    by_eval = found.pop("code_through_eval_only")
    return {host: host in by_eval for host in sorted({*itertools.chain(*found.values()), *by_eval})}


def bypass_host(source: str, *, allows_eval: bool) -> str | None:
    """Return a known bypass host that a source expression allows. None if there is none, or if a path restricts it."""
    matched = HOST_SOURCE.fullmatch(source)
    if matched is None or (matched["path"] or "").lower() not in OPEN_PATHS:
        return None
    host = matched["host"].lower()
    known = (each for each, needs_eval in bypass_hosts().items() if allows_eval or not needs_eval)
    if host.startswith("*.") and "." in host[2:]:
        return next((each for each in known if each.endswith(host[1:])), None)
    return host if host in known else None
