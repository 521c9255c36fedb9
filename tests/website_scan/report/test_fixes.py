"""Test that fixes are split into text, inline code and snippets."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.catalogue import Check, checks
from website_scan.findings import ScanType
from website_scan.outcomes import Fix
from website_scan.report.fixes import Part, parts, snippet_codes
from website_scan.report.serialization import stored_fix
from website_scan.result import HowToFix
from website_scan.values import template_fields
from website_scan.wording import catalogue_fix

CHECKS = [check for scan_type in ScanType for check in checks(scan_type)]
FIXES = {check.id: check.own_fix for check in CHECKS}


def parts_of(fix: Fix) -> tuple[Part, ...]:
    """Return the parts of a check's own fix for an unknown server."""
    return parts(stored_fix(HowToFix(fix.text, tuple(fix.snippets_for(None).items()))))


def parts_of_kind(kind: str, fix: Fix) -> list[str]:
    return [f"{part.label}: {part.text}" if part.label else part.text for part in parts_of(fix) if part.kind == kind]


@pytest.mark.parametrize(
    ("check", "pasted"),
    [
        ("og-title", ['HTML: <meta property="og:title" content="…">']),
        ("label", ['HTML: <label for="mail">E-mail</label> <input id="mail" type="email">']),
        ("permissions-policy", ["Header: Permissions-Policy: camera=(), microphone=(), geolocation=()"]),
        ("x-content-type-options", ["Header: X-Content-Type-Options: nosniff"]),
        ("clickjacking", ["Header: Content-Security-Policy: frame-ancestors 'self'"]),
        ("exposed-svn-hg", [
            r"nginx: location ~ /\.(svn|hg) { return 404; }",
            r'Apache: RedirectMatch 404 "/\.(svn|hg)"',
            'IIS: <hiddenSegments><add segment=".svn"/><add segment=".hg"/></hiddenSegments>',
        ]),
        ("keep-alive", [
            "nginx: keepalive_timeout 65s;",
            "Apache: KeepAlive On",
            'IIS: <httpProtocol allowKeepAlive="true"/>',
        ]),
        ("modern-encoding", [
            "nginx: brotli on; # with the module ngx_brotli",
            "Apache: AddOutputFilterByType BROTLI_COMPRESS text/html text/css application/javascript",
            "IIS: # Install IIS Compression, which adds Brotli",
        ]),
        ("spf", ['DNS: "v=spf1 include:YOUR-PROVIDER -all"']),
        ("tap-targets", ["CSS: min-width: 24px; min-height: 24px"]),
        # Code that nobody should paste remains in the sentence.
        ("raw-noindex", []),
        ("lcp-lazy", []),
        ("color-contrast", []),
    ],
)  # fmt: skip
def test_code_to_paste_is_a_snippet(check: str, pasted: list[str]) -> None:
    assert parts_of_kind("snippet", FIXES[check]) == pasted
    assert list(snippet_codes(stored_fix(HowToFix("", tuple(FIXES[check].snippets_for(None).items()))))) == [
        snippet.partition(": ")[2] for snippet in pasted
    ]


@pytest.mark.parametrize(
    ("check", "codes"),
    [
        ("button-name", ["aria-label", '<button aria-label="Close"><svg …></button>']),
        ("lcp-priority", [
            '<img src="…" fetchpriority="high">',
            '<link rel="preload" as="image" fetchpriority="high" href="…">',
        ]),
        ("clickjacking", ["frame-ancestors", "'none'", "X-Frame-Options: SAMEORIGIN"]),
        ("cache-short", ["Cache-Control: max-age=2592000"]),
        ("cache-immutable", ["Cache-Control: public, max-age=31536000, immutable"]),
        ("cookie-prefix", [
            "Set-Cookie: __Host-name=value; Secure; Path=/; HttpOnly; SameSite=Lax",
            "Domain",
            "Set-Cookie: __Secure-name=value; Secure; HttpOnly; SameSite=Lax",
            "__Http-",
            "__Host-Http-",
            "HttpOnly",
        ]),
        ("raw-noindex", ['<meta name="robots" content="noindex">']),
        ("lcp-lazy", ['loading="lazy"']),
        ("color-contrast", []),
    ],
)  # fmt: skip
def test_code_in_fix_text_is_recognized(check: str, codes: list[str]) -> None:
    assert parts_of_kind("code", FIXES[check]) == codes


def test_fix_text_precedes_snippets() -> None:
    how = HowToFix("Remove `Server`, or block it.", (("nginx", "location / { return 404; }"),))
    assert parts(stored_fix(how)) == (
        Part("text", "Remove "),
        Part("code", "Server"),
        Part("text", ", or block it."),
        Part("snippet", "location / { return 404; }", "nginx"),
    )


def test_fix_text_contains_no_unmarked_code() -> None:
    unmarked = {
        check: part.text
        for check, fix in FIXES.items()
        for part in parts_of(fix)
        if part.kind == "text" and re.search(r"<[a-z]|=\"|\b(?:nginx|Apache): |Content-Security-Policy: ", part.text)
    }
    assert unmarked == {}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_check_fix_contains_no_values(check: Check) -> None:
    """A check's fix applies to all its outcomes, so it contains no values."""
    fix = check.own_fix
    assert fix.text.count("`") % 2 == 0, fix.text
    assert not template_fields(fix.text)
    for part in parts_of(fix):
        assert part.text.strip(), fix.text
        assert "`" not in part.text, fix.text
    assert catalogue_fix(fix).count("`") == 2 * (len(parts_of_kind("code", fix)) + len(fix.snippets))


@given(st.text(), st.lists(st.tuples(st.text(), st.text())))
def test_stored_fix_is_split_into_parts(text: str, snippets: list[tuple[str, str]]) -> None:
    fix_parts = parts(stored_fix(HowToFix(text, tuple(snippets))))
    assert "".join(part.text for part in fix_parts if part.kind != "snippet") == text.replace("`", "")
    assert [(part.label, part.text) for part in fix_parts if part.kind == "snippet"] == snippets


def test_fix_without_code_has_one_part() -> None:
    assert parts(stored_fix(HowToFix("Renew it."))) == (Part("text", "Renew it."),)
    assert parts(stored_fix(HowToFix(""))) == ()
