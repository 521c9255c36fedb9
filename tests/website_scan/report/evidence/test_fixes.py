"""Fixes with their code separated from the words, for the fixes of all our checks."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from website_scan.report.evidence.fixes import Part, parts

from website_scan.catalogue import checks
from website_scan.findings import Fix, ScanType
from website_scan.wording import catalogue_fix

FIXES = {check.id: catalogue_fix(check.fix) for each in ScanType for check in checks(each)}


def snippets(fix: str) -> list[str]:
    return [f"{part.label}: {part.text}" if part.label else part.text for part in parts(fix) if part.kind == "snippet"]


@pytest.mark.parametrize(
    ("check", "pasted"),
    [
        ("og-title", ['<meta property="og:title" content="…">']),
        ("label", ['<label for="mail">E-mail</label> <input id="mail" type="email">']),
        ("button-name", ['<button aria-label="Close"><svg …></button>']),
        ("lcp-priority", [
            '<img src="…" fetchpriority="high">',
            '<link rel="preload" as="image" fetchpriority="high" href="…">',
        ]),
        ("permissions-policy", ["Permissions-Policy: camera=(), microphone=(), geolocation=()"]),
        ("x-content-type-options", ["X-Content-Type-Options: nosniff"]),
        ("clickjacking", ["Content-Security-Policy: frame-ancestors 'self'", "X-Frame-Options: SAMEORIGIN"]),
        ("cache-short", ["Cache-Control: max-age=2592000"]),
        ("cache-immutable", ["Cache-Control: public, max-age=31536000, immutable"]),
        ("cookie-prefix", [
            "Set-Cookie: __Host-name=value; Secure; Path=/; HttpOnly; SameSite=Lax",
            "Set-Cookie: __Secure-name=value; Secure; HttpOnly; SameSite=Lax",
        ]),
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
        ]),
        ("spf", ['"v=spf1 include:YOUR-PROVIDER -all"']),
        # Code that is to be removed, or is only named, stays in its sentence.
        ("raw-noindex", []),
        ("lcp-lazy", []),
        ("tap-targets", []),
        ("color-contrast", []),
    ],
)  # fmt: skip
def test_what_can_be_pasted_stands_alone(check: str, pasted: list[str]) -> None:
    assert snippets(FIXES[check]) == pasted


def test_the_example_for_one_server_stands_alone_too() -> None:
    fix = Fix("Block it ({example}).", {"nginx": "location / { return 404; }"})  # type: ignore[dict-item]  # a Server is text
    assert parts(str(fix)) == (
        Part("text", "Block it:"),
        Part("snippet", "location / { return 404; }", "nginx"),
    )


def test_no_markup_of_our_fixes_is_left_among_the_words() -> None:
    left = {
        check: part.text
        for check, fix in FIXES.items()
        for part in parts(fix)
        if part.kind == "text" and re.search(r"<[a-z]|=\"|\b(?:nginx|Apache): |Content-Security-Policy: ", part.text)
    }
    assert left == {}


def test_words_go_on_between_snippets_without_leftovers_of_punctuation() -> None:
    for check, fix in FIXES.items():
        found = parts(fix)
        for before, part in pairwise(found):
            if before.kind == "snippet" and part.kind == "text":
                assert re.match(r"[\w(“\"]", part.text), (check, part)
                assert part.text.count(")") <= part.text.count("("), (check, part)


@given(st.text())
def test_any_fix_of_an_older_report_is_shown(fix: str) -> None:
    assert all(part.kind in ("text", "code", "snippet") for part in parts(fix))


def test_words_alone_stay_as_they_are() -> None:
    assert parts("Renew it.") == (Part("text", "Renew it."),)
    assert parts("") == ()
