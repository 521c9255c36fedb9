"""Parser of Content Security Policies (CSP Level 3)."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from website_scan.net.http.response import Headers
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import http_equivs, is_plaintext
from website_scan.urls import Url
from website_scan.values import Clause, Code

HEADER = "Content-Security-Policy"
REPORT_ONLY_HEADER = "Content-Security-Policy-Report-Only"
ASCII_WHITESPACE = "\t\n\f\r "
# Real policies are far shorter than this limit.
MAX_POLICY_CHARACTERS = 64 * 1024
MAX_POLICIES = 50

SOURCE_LISTS = frozenset(
    {
        *("child-src", "connect-src", "default-src", "fenced-frame-src", "font-src", "frame-src", "img-src"),
        *("manifest-src", "media-src", "object-src", "prefetch-src", "script-src", "script-src-attr"),
        *("script-src-elem", "style-src", "style-src-attr", "style-src-elem", "worker-src"),
        *("base-uri", "form-action", "frame-ancestors", "navigate-to"),
    }
)
# Unknown directives are reported as spelling mistakes.
DIRECTIVES = SOURCE_LISTS | {
    *("sandbox", "report-uri", "report-to", "upgrade-insecure-requests", "require-trusted-types-for"),
    *("trusted-types", "webrtc"),
    *("block-all-mixed-content", "plugin-types", "referrer", "reflected-xss", "require-sri-for"),
}
# Directives that browsers ignore in a `<meta>` policy (CSP Level 3, section 3.3).
DIRECTIVES_IGNORED_IN_META = frozenset({"frame-ancestors", "report-uri", "sandbox"})
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
    # These directives do not restrict fetched resources, so they do not fall back to default-src.
    **dict.fromkeys(("base-uri", "form-action", "frame-ancestors", "default-src"), ()),
}
KEYWORDS = frozenset(
    {
        *("self", "none", "unsafe-inline", "unsafe-eval", "unsafe-hashes", "strict-dynamic", "report-sample"),
        *("wasm-unsafe-eval", "inline-speculation-rules", "trusted-types-eval"),
        *("unsafe-webtransport-hashes", "report-sha256", "report-sha384", "report-sha512"),
    }
)

# Browsers ignore invalid nonces and hashes (CSP Level 3, section 2.3.1).
NONCE = re.compile(r"'nonce-[A-Za-z0-9+/_-]+={0,2}'", re.IGNORECASE)
HASH = re.compile(r"'sha(?:256|384|512)-[A-Za-z0-9+/_-]+={0,2}'", re.IGNORECASE)
SCHEME_PREFIX = re.compile(r"\A[a-z][a-z0-9+.-]*+://")
SCHEME_SOURCE = re.compile(r"[a-z][a-z0-9+.-]*:")
# URL schemes under which attackers can publish content, unlike blob: and filesystem:.
BROAD_SCHEMES = frozenset({"http", "https", "ws", "wss", "data"})
HOST_SOURCE = re.compile(r"(?:https?://)?(?P<host>[*a-z0-9.-]{1,255})(?::(?:\d{1,5}|\*))?(?P<path>/.*)?", re.IGNORECASE)

Sources = tuple[str, ...]


class Csp(Struct, frozen=True):
    """Parsed Content Security Policy, as values by directive in lower case.

    Only the first of repeated directives counts.

    `dropped`: names of directives that browsers ignore because of a non-ASCII character.
    """

    directives: Mapping[str, Sources]
    text: str = ""
    repeated: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def get(self, directive: str) -> Sources | None:
        return self.directives.get(directive)

    def effective_values(self, directive: str) -> Sources | None:
        """Return the values in effect for a directive or its fallback.

        None if unrestricted.
        """
        for name in (directive, *FALLBACKS.get(directive, ("default-src",))):
            if name in self.directives:
                return self.directives[name]
        return None

    def __contains__(self, directive: str) -> bool:
        return directive in self.directives


class Policies(Struct, frozen=True):
    """Content Security Policies of a page, including report-only ones.

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
        """Return False if inline scripts may run and scripts may load from any host."""
        return not (
            self.all_policies_match("script-src-elem", lambda values: allows_inline_code(values, script=True))
            and self.all_policies_match(
                "script-src-elem", lambda values: values is None or bool(broad_script_sources(values))
            )
        )

    @property
    def nonces(self) -> set[str]:
        """Return the nonces of all directives, such as 'nonce-abc'."""
        lists = [values for policy in self.enforced for values in policy.directives.values()]
        return {value for values in lists for value in values if is_nonce_source(value)}

    def source_lists(self, *directives: str) -> list[Sources]:
        """Return the source lists in effect for the directives.

        They come from all policies that restrict one of them.
        """
        lists = [policy.effective_values(directive) for policy in self.enforced for directive in directives]
        return [values for values in lists if values is not None]

    def all_policies_match(self, directive: str, condition: Callable[[Sources | None], bool]) -> bool:
        """Return True if all enforced policies satisfy `condition`.

        `condition` receives the values of the directive.
        """
        return all(condition(policy.effective_values(directive)) for policy in self.enforced)

    def insecure_sources(self, directive: str) -> list[str]:
        """Return the http: sources that all policies allow.

        For scripts with strict-dynamic, browsers ignore schemes and hosts (section 6.7.1.1).
        """
        if not any(directive in policy for policy in self.enforced):
            return []
        lists = self.source_lists(directive)
        if directive in SCRIPT_DIRECTIVES and any(has_keyword(values, "strict-dynamic") for values in lists):
            return []
        insecure = [[value for value in values if is_insecure_source(value)] for values in lists]
        return list(dict.fromkeys(itertools.chain.from_iterable(insecure))) if all(insecure) else []


def read_policies(page: Page, document: Document) -> Policies:
    return Policies(
        header_policies(page.headers), meta_policies(document), parse_policies(page.headers.all(REPORT_ONLY_HEADER))
    )


def parse_policy(text: str) -> Csp:
    """Parse a Content Security Policy, and skip its invalid parts."""
    directives: dict[str, Sources] = {}
    repeated = []
    dropped = []
    text = text[:MAX_POLICY_CHARACTERS]
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
    """Parse the policies in several CSP headers."""
    texts = (text for value in values for text in value.split(",") if text.strip(ASCII_WHITESPACE))
    policies = map(parse_policy, itertools.islice(texts, MAX_POLICIES))
    return tuple(policy for policy in policies if policy.directives or policy.dropped)


def header_policies(headers: Headers) -> tuple[Csp, ...]:
    """Return the enforced policies in a response's headers."""
    return parse_policies(headers.all(HEADER))


def meta_policies(document: Document) -> tuple[Csp, ...]:
    """Return the policies in `<meta>` elements.

    Directives that browsers ignore in `<meta>` are left out.
    """
    policies = []
    for content in http_equivs(document, HEADER)[:MAX_POLICIES]:
        policy = parse_policy(content)
        directives = {
            name: value for name, value in policy.directives.items() if name not in DIRECTIVES_IGNORED_IN_META
        }
        if directives or policy.dropped:
            policies.append(replace(policy, directives=directives))
    return tuple(policies)


def _split_words(part: str) -> list[str]:
    for character in ASCII_WHITESPACE[:-1]:
        part = part.replace(character, " ")
    return part.split(" ")


def is_nonce_source(source: str) -> bool:
    return NONCE.fullmatch(source) is not None


def is_hash_source(source: str) -> bool:
    return HASH.fullmatch(source) is not None


def is_broad_source(source: str) -> bool:
    """Return True if a CSP source matches any host, such as `https:`."""
    source = source.lower()
    if source.startswith("'"):
        return False
    if SCHEME_SOURCE.fullmatch(source):
        return source.removesuffix(":") in BROAD_SCHEMES
    scheme = SCHEME_PREFIX.match(source)
    if scheme is not None and scheme[0].removesuffix("://") not in BROAD_SCHEMES:
        return False
    host = SCHEME_PREFIX.sub("", source).split("/")[0]
    return host.split(":")[0] == "*"


def is_insecure_source(source: str) -> bool:
    """Return True if a CSP source allows plain HTTP."""
    if not source.lower().startswith("http:"):
        return False
    # The port “*”, as in http://localhost:*, is not valid in a URL.
    url = Url.parse(source.removesuffix(":*"))
    return url is None or is_plaintext(url)


def has_keyword(sources: Sequence[str], keyword: str) -> bool:
    """Return True if the CSP sources include the quoted keyword."""
    return any(source.lower() == f"'{keyword}'" for source in sources)


def allows_inline_code(sources: Sequence[str] | None, *, script: bool) -> bool:
    """Return True if 'unsafe-inline' allows all inline code."""
    if sources is None:
        return True
    if any(is_nonce_source(source) or is_hash_source(source) for source in sources):
        return False
    if script and has_keyword(sources, "strict-dynamic"):
        return False
    return has_keyword(sources, "unsafe-inline")


def broad_script_sources(sources: Sequence[str]) -> list[str]:
    """Return the CSP sources that allow scripts from any host."""
    if has_keyword(sources, "strict-dynamic"):
        return []
    schemes = ("*", "http", "https", "data")
    return [source for source in sources if is_broad_source(source) and source.lower().split(":")[0] in schemes]


def trusts_scripts_by_nonce_or_hash(sources: Sequence[str]) -> bool:
    """Return True if the sources trust scripts by a nonce or hash.

    The URL of the scripts does not matter.
    """
    return any(map(is_nonce_source, sources)) or (
        any(map(is_hash_source, sources)) and has_keyword(sources, "strict-dynamic")
    )


MAX_SYNTAX_FAULTS = 8


def syntax_faults(policy: Csp) -> list[Clause]:
    """Return at most eight syntax faults as clauses."""
    faults = [
        Clause.of("{directive} is repeated, and only the first counts", directive=_truncated_code(name))
        for name in policy.repeated[:MAX_SYNTAX_FAULTS]
    ]
    faults += [
        Clause.of(
            "browsers ignore all of {directive} because of a non-ASCII character, such as a curly quote",
            directive=_truncated_code(name),
        )
        for name in policy.dropped[:MAX_SYNTAX_FAULTS]
    ]
    for name, values in policy.directives.items():
        if name not in DIRECTIVES:
            faults.append(Clause.of("{directive} is not a directive", directive=_truncated_code(name)))
        elif name in SOURCE_LISTS:
            faults.extend(itertools.islice(_find_source_faults(name, values), MAX_SYNTAX_FAULTS))
        else:
            # Report groups, flags and URLs may be plain words, so only names with a hyphen count.
            misplaced = (value for value in values if "-" in value and value.lower() in DIRECTIVES)
            faults.extend(itertools.islice((_missing_semicolon(name, value) for value in misplaced), MAX_SYNTAX_FAULTS))
    governing = next((name for name in ("script-src-elem", *SCRIPT_FALLBACKS) if name in policy), None)
    if governing is not None and _blocks_all_scripts(policy.directives[governing]):
        clause = "'strict-dynamic' is in {directive} without a nonce or hash, so no script runs"
        faults.insert(0, Clause.of(clause, directive=_truncated_code(governing)))
    return faults[:MAX_SYNTAX_FAULTS]


def _blocks_all_scripts(sources: Sources) -> bool:
    """Return True if 'strict-dynamic' lacks a nonce or hash."""
    has_nonce_or_hash = any(is_nonce_source(source) or is_hash_source(source) for source in sources)
    return has_keyword(sources, "strict-dynamic") and not has_nonce_or_hash


def _truncated_code(text: str) -> Code:
    return Code(text, 60)


def _missing_semicolon(directive: str, value: str) -> Clause:
    return Clause.of(
        "the semicolon before {source} is missing in {directive}",
        source=_truncated_code(value),
        directive=_truncated_code(directive),
    )


def _find_source_faults(directive: str, values: Sources) -> Iterator[Clause]:
    for value in values:
        if value.lower() in DIRECTIVES:
            yield _missing_semicolon(directive, value)
        elif fault := _find_fault_template(value):
            yield Clause.of(fault, source=_truncated_code(value), directive=_truncated_code(directive))
    if len(values) > 1 and "'none'" in map(str.lower, values):
        yield Clause.of(
            "'none' counts only by itself, so browsers ignore it in {directive}", directive=_truncated_code(directive)
        )


def _find_fault_template(value: str) -> str:
    """Return a message template for the fault of a CSP source, or empty."""
    if value.lower() in KEYWORDS or is_nonce_source(f"'{value}'") or is_hash_source(f"'{value}'"):
        return "{source} has no quotes in {directive}"
    if value.startswith("'") and not _is_quoted_source(value):
        return "{source} in {directive} is not a keyword, nonce or hash"
    if value.startswith(('"', "`")):
        return "{source} in {directive} has the wrong kind of quotes"
    if value.endswith(","):
        return "a comma in {directive} ends the policy after {source}"
    return ""


def _is_quoted_source(value: str) -> bool:
    return is_nonce_source(value) or is_hash_source(value) or (value.endswith("'") and value[1:-1].lower() in KEYWORDS)


# URL paths that do not restrict a source, because CDNs serve all packages below these paths.
UNRESTRICTING_PATHS = frozenset({"", "/", "/npm/", "/gh/", "/combine/", "/ajax/", "/ajax/libs/"})


@functools.cache
def bypass_hosts() -> Mapping[str, bool]:
    """Return the known CSP bypass hosts, with True if they need `eval()`."""
    hosts_by_reason = json.loads(Path(__file__).with_name("csp_bypass_hosts.json").read_text(encoding="utf-8"))
    hosts_that_need_eval = hosts_by_reason.pop("code_through_eval_only")
    return {
        host: host in hosts_that_need_eval
        for host in sorted({*itertools.chain(*hosts_by_reason.values()), *hosts_that_need_eval})
    }


def find_bypass_host(source: str, *, allows_eval: bool) -> str | None:
    """Return the bypass host that a CSP source allows, or None.

    A source that allows only certain paths of the host does not count.
    """
    matched = HOST_SOURCE.fullmatch(source)
    if matched is None or (matched["path"] or "").lower() not in UNRESTRICTING_PATHS:
        return None
    host = matched["host"].lower()
    bypasses = (name for name, needs_eval in bypass_hosts().items() if allows_eval or not needs_eval)
    if host.startswith("*.") and "." in host[2:]:
        return next((name for name in bypasses if name.endswith(host[1:])), None)
    return host if host in bypasses else None
