"""Test that additional protection never lowers the security score."""

from __future__ import annotations

import pytest

from tests.website_scan.security.cast import NOW, HeaderLines, document, page, policies
from website_scan.findings import ScanType
from website_scan.judging import Judgement
from website_scan.net.targets import Target
from website_scan.page.evidence import Clock, Document, Page
from website_scan.plan import Missing, plan
from website_scan.result import ScanResult
from website_scan.scoring import score
from website_scan.security.csp import Policies
from website_scan.security.evidence import HttpsAnswer

CSP = "Content-Security-Policy"
HSTS = "Strict-Transport-Security"
MARKUP = '<!doctype html><img src="http://images.example.com/a.png"><form action="http://www.example.com/"></form>'

BASES: dict[str, HeaderLines] = {
    "bare": (),
    "HSTS": ((HSTS, "max-age=31536000"),),
    "framing and sniffing": (("X-Frame-Options", "DENY"), ("X-Content-Type-Options", "nosniff")),
    "frame-ancestors": ((CSP, "frame-ancestors 'self'"),),
    "weak policy": ((CSP, "default-src 'self' 'unsafe-inline' 'unsafe-eval'"),),
    "open policy": ((CSP, "default-src * data: blob: 'unsafe-inline' 'unsafe-eval'"),),
    "strict policy": ((CSP, "script-src 'self'; object-src 'none'; base-uri 'none'"),),
}
PROTECTIONS: tuple[tuple[str, str], ...] = (
    (CSP, "upgrade-insecure-requests"),
    (CSP, "block-all-mixed-content"),
    (CSP, "frame-ancestors 'self'"),
    (CSP, "frame-ancestors 'none'; upgrade-insecure-requests"),
    (CSP, "form-action 'self'"),
    (CSP, "object-src 'none'"),
    (CSP, "base-uri 'none'"),
    (CSP, "img-src 'self'"),
    (CSP, "style-src 'self' 'unsafe-inline'"),
    (CSP, "sandbox allow-scripts"),
    (CSP, "script-src-attr 'none'"),
    (CSP, "script-src-elem 'self'"),
    (CSP, "script-src 'self'"),
    (CSP, "script-src https:"),
    (CSP, "script-src * 'unsafe-inline'"),
    (CSP, "script-src 'self' 'unsafe-inline'"),
    (CSP, "script-src 'self' 'unsafe-inline' 'unsafe-eval' https://cdn.jsdelivr.net"),
    (CSP, "script-src 'nonce-dGhpcyBpcyBub3QgcmFuZG9t' https:"),
    (CSP, "script-src 'nonce-dGhpcyBpcyBub3QgcmFuZG9t' 'strict-dynamic'"),
    (CSP, "default-src 'none'"),
    (CSP, "default-src 'self' https: data: 'unsafe-inline'"),
    (CSP, "default-src https: data: 'unsafe-inline' 'unsafe-eval'"),
    (f"{CSP}-Report-Only", "default-src 'self'"),
    (HSTS, "max-age=31536000"),
    (HSTS, "max-age=300"),
    (HSTS, "max-age=31536000; preload"),
    ("X-Frame-Options", "SAMEORIGIN"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Permissions-Policy", "camera=()"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Embedder-Policy", "require-corp"),
    ("Cross-Origin-Resource-Policy", "same-site"),
)


def judge_headers(headers: HeaderLines) -> ScanResult:
    """Run the checks on a response with these headers.

    Checks that need the network are left out.
    """
    html_page = page(*headers, html=MARKUP)
    scan_plan = plan(ScanType.SECURITY)
    evidence: dict[type, object] = dict.fromkeys(scan_plan.probes, Missing("It was not requested.", "not-requested"))
    evidence |= {
        Target: html_page.target,
        Clock: Clock(NOW),
        Page: html_page,
        Document: document(html_page),
        Policies: policies(html_page),
        HttpsAnswer: HttpsAnswer(html_page.response),
    }
    judgement = Judgement(html_page.target, ScanType.SECURITY, scan_plan, evidence, lambda: 60.0)
    return judgement.build_result(judgement.judge(lambda _: None))


def scores(result: ScanResult) -> tuple[int, int]:
    """Return the score with and without caps.

    A cap may hide a change of the score.
    """
    assert result.score is not None
    return result.score, score(result.categories, ()).value


@pytest.mark.parametrize("base", BASES)
def test_protection_never_lowers_the_score(base: str) -> None:
    base_headers = {name for name, _ in BASES[base]}
    before = scores(judge_headers(BASES[base]))
    worse = []
    for name, value in PROTECTIONS:
        if name in base_headers - {CSP}:
            continue  # A second header has no effect, except for CSP.
        after = scores(judge_headers((*BASES[base], (name, value))))
        if any(now < was for now, was in zip(after, before, strict=True)):
            worse.append(f"{name}: {value}: {before} to {after}")
    assert not worse, worse


def test_stricter_policy_raises_the_score() -> None:
    ascending_scores = [
        scores(judge_headers(((CSP, policy),)))[1]
        for policy in (
            "frame-ancestors 'self'",
            "frame-ancestors 'self'; default-src 'self' 'unsafe-inline' 'unsafe-eval'",
            "frame-ancestors 'self'; default-src 'self' 'unsafe-inline'",
            "frame-ancestors 'self'; default-src 'self'",
        )
    ]
    assert ascending_scores == sorted(set(ascending_scores))
