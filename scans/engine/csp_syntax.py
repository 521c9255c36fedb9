"""What is wrong with a policy as it is written, in words. Browsers skip what they cannot read, silently."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from scans.engine.csp import Policy, is_hash, is_nonce
from scans.engine.masking import excerpt

SOURCE_LISTS = frozenset(
    {
        *("child-src", "connect-src", "default-src", "fenced-frame-src", "font-src", "frame-src", "img-src"),
        *("manifest-src", "media-src", "object-src", "prefetch-src", "script-src", "script-src-attr"),
        *("script-src-elem", "style-src", "style-src-attr", "style-src-elem", "worker-src"),
        *("base-uri", "form-action", "frame-ancestors", "navigate-to"),
    }
)
# With those that browsers no longer read: they are no slip of the pen.
DIRECTIVES = SOURCE_LISTS | {
    *("sandbox", "report-uri", "report-to", "upgrade-insecure-requests", "require-trusted-types-for"),
    *("trusted-types", "webrtc"),
    *("block-all-mixed-content", "plugin-types", "referrer", "reflected-xss", "require-sri-for"),
}
KEYWORDS = frozenset(
    {
        *("self", "none", "unsafe-inline", "unsafe-eval", "unsafe-hashes", "strict-dynamic", "report-sample"),
        *("wasm-unsafe-eval", "inline-speculation-rules", "trusted-types-eval", "unsafe-allow-redirects"),
        *("unsafe-webtransport-hashes", "report-sha256", "report-sha384", "report-sha512"),
    }
)
FEW = 8


def syntax_faults(policy: Policy) -> list[str]:
    """At most eight faults, each a clause such as “unsafe-inline stands without quotes in script-src”."""
    found = [f"{excerpt(name, 60)} is given twice, and browsers read the first" for name in policy.repeated[:FEW]]
    found += [
        f"browsers drop {excerpt(name, 60)} whole for a character that no policy may have, such as a curly quote"
        for name in policy.unread[:FEW]
    ]
    for name, values in policy.directives.items():
        if name not in DIRECTIVES:
            found.append(f"{excerpt(name, 60)} is no directive")
        elif name in SOURCE_LISTS:
            found.extend(itertools.islice(_source_faults(name, values), FEW))
    return found[:FEW]


def _source_faults(directive: str, values: tuple[str, ...]) -> Iterator[str]:
    for value in values:
        shown = excerpt(value, 60)
        lowered = value.lower()
        if lowered in DIRECTIVES:
            yield f"the semicolon before {shown} is missing in {directive}"
        elif lowered in KEYWORDS or is_nonce(f"'{value}'") or is_hash(f"'{value}'"):
            yield f"{shown} stands without quotes in {directive}"
        elif value.startswith("'") and not _is_quoted_source(value):
            yield f"{shown} is no keyword, nonce or hash ({directive})"
        elif value.startswith(('"', "`")):
            yield f"{shown} has quotes that no source has ({directive})"
        elif lowered.endswith(","):
            yield f"a comma ends the policy after {shown}"
    if len(values) > 1 and "'none'" in map(str.lower, values):
        yield f"'none' counts only by itself, so browsers ignore it in {directive}"


def _is_quoted_source(value: str) -> bool:
    return is_nonce(value) or is_hash(value) or (value.endswith("'") and value[1:-1].lower() in KEYWORDS)
