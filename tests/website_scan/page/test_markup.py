from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.security.cast import document, page
from website_scan.messages import MASK, excerpt, masked
from website_scan.net.http.response import Headers
from website_scan.page import markup
from website_scan.page.markup import live
from website_scan.security.csp import header_policies, is_broad_source, meta_policies, parse_policies, parse_policy
from website_scan.security.hsts import InvalidHsts, parse_hsts
from website_scan.security.mixed_content import insecure_forms, insecure_resources


def test_first_of_repeated_csp_directives_counts() -> None:
    policy = parse_policy(" Script-Src 'self'  https://a.example ;; script-src *; img-src\thttps: ;")
    assert policy.directives == {"script-src": ("'self'", "https://a.example"), "img-src": ("https:",)}


def test_csp_headers_and_commas_separate_policies() -> None:
    headers = Headers(
        (
            ("Content-Security-Policy", "default-src 'self', img-src *"),
            ("content-security-policy", "frame-ancestors 'none'"),
            ("Content-Security-Policy-Report-Only", "script-src 'none'"),
            ("Content-Security-Policy", " ; "),
        )
    )
    assert [set(policy.directives) for policy in header_policies(headers)] == [
        {"default-src"},
        {"img-src"},
        {"frame-ancestors"},
    ]


def test_meta_policy_ignores_some_directives() -> None:
    content = "default-src 'self'; frame-ancestors 'none'; report-uri /r; sandbox"
    parsed = page(html=f'<head><meta http-equiv="content-security-policy" content="{content}"></head>')
    assert [policy.directives for policy in meta_policies(document(parsed))] == [{"default-src": ("'self'",)}]


@pytest.mark.parametrize("source", ["*", "https:", "data:", "https://*", "*:443", "http://*:*/path", "HTTPS:"])
def test_broad_csp_sources_are_recognized(source: str) -> None:
    assert is_broad_source(source)


@pytest.mark.parametrize(
    "source",
    ["'self'", "'none'", "*.example.com", "https://a.example", "localhost:8080", "https://*.a.example"],
)
def test_narrow_csp_sources_are_not_broad(source: str) -> None:
    assert not is_broad_source(source)


@given(st.lists(st.text()))
def test_arbitrary_text_is_parsed_as_csp(values: list[str]) -> None:
    for policy in parse_policies(values):
        assert all(name == name.lower() and name for name in policy.directives)


@given(st.text(alphabet='max-age=0159;, \t"\\includeSubDomainspreload'))
def test_arbitrary_hsts_is_parsed_or_refused(value: str) -> None:
    try:
        policy = parse_hsts(value)
    except InvalidHsts:
        return
    assert policy.max_age_s >= 0


@given(st.integers(0, 10**17), st.booleans(), st.booleans(), st.sampled_from(["", " ", "\t"]))
def test_hsts_header_is_parsed(age: int, subdomains: bool, preload: bool, gap: str) -> None:
    parts = [f"max-age{gap}={gap}{age}"] + ["includeSubDomains"] * subdomains + ["PRELOAD"] * preload
    for value in (f"{gap};{gap}".join(parts), f"{gap};{gap}".join(reversed(parts)) + ";"):
        read = parse_hsts(value)
        assert (read.max_age_s, read.include_subdomains, read.preload) == (age, subdomains, preload)


@given(st.text(alphabet="<>/=\"' abcimgscriptforminputhttp:srcsetnoscripttemplate&;#\n"))
def test_arbitrary_markup_can_be_searched(html: str) -> None:
    parsed = document(page(html=html))
    insecure_resources(parsed)
    insecure_forms(parsed, parsed.base.url)


@given(st.text(alphabet="http://a.b,() \t12xw"))
def test_arbitrary_srcset_can_be_parsed(value: str) -> None:
    parsed = document(page(html=f'<img srcset="{value}">'))
    assert all(resource.url.startswith("http://") for resource in insecure_resources(parsed))


def test_template_content_is_not_live() -> None:
    inert = "<template><p id=b></template><noscript><p id=c><b id=d></noscript><!-- <p id=e> -->"
    parsed = document(page(html=f"<body><p id=a>{inert}<p id=f>"))
    assert [node.id for node in live(parsed, "[id]")] == ["a", "f"]


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 200_000,
        "<noscript></noscript>" + "<div>" * 1_500 + "<img src=http://a.example/>" * 50_000,
        "<form><div></form><template>" * 50_000 + "<input type=password>" * 50_000,
        "<!--" * 200_000,
        "<script>" * 100_000,
        "<b><p>" * 100_000,
        "<li><a>" * 100_000,
        "<table><tr><td>" * 50_000,
    ],
    ids=lambda html: html[:20],
)
def test_hostile_page_is_searched_fast(html: str) -> None:
    start = time.monotonic()
    parsed = document(page(html=html))
    insecure_resources(parsed)
    insecure_forms(parsed, parsed.base.url)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/?token=hunter2hunter2",
        "https://a.example/?x=1&access_token=hunter2hunter2&y=2",
        "api_key: hunter2hunter2",
        '{"password": "hunter2hunter2"}',
        "https://user:hunter2hunter2@a.example/",
        "PHPSESSID=hunter2hunter2; path=/",
        "https://a.example/?sessid=hunter2hunter2&a=1",
        "https://a.example/?ASPSESSIONIDQQABCDEF=hunter2hunter2",
        "https://a.example/?osCsid=hunter2hunter2",
    ],
)
def test_value_after_a_secret_name_is_masked(text: str) -> None:
    assert "hunter2" not in masked(text)
    assert MASK in masked(text)


@pytest.mark.parametrize(
    "secret",
    [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
        "AKIA" + "ABCDEFGH12345678",
        "ghp_" + "a1" * 18,
        "sk_live_" + "a1" * 12,
        "0123456789abcdef" * 2,
    ],
)
def test_value_that_looks_like_a_secret_is_masked(secret: str) -> None:
    assert masked(f"Server: {secret} x") == f"Server: {MASK} x"


@pytest.mark.parametrize(
    "text",
    ["max-age=31536000; includeSubDomains", "https://a.example/login?next=/home", "nginx/1.25.3", "CN=site"],
)
def test_ordinary_text_is_not_masked(text: str) -> None:
    assert excerpt(text) == text


def test_excerpt_is_short_and_printable() -> None:
    text_of_excerpt = excerpt("a\x00b\r\n" + "x" * 500)
    assert text_of_excerpt.startswith("a b x")
    assert len(text_of_excerpt) <= 160


def test_excerpt_names_bidi_characters() -> None:
    assert excerpt("a \u202egpj.exe\u2069 \ud800") == "a [U+202E]gpj.exe[U+2069] \N{REPLACEMENT CHARACTER}"
    assert len(excerpt("\u202e" * 500)) <= 160


# The searches discard objects with finalizers, which let other threads run.
MANY_SEARCHES = """
import sys, threading, time
from selectolax.lexbor import LexborHTMLParser
from website_scan.page.markup import select

tree = LexborHTMLParser("<p class=a><a href=x>t</a></p>" * 20_000)
search = select if sys.argv[1] == "select" else lambda tree, selector: tree.css(selector)

class Thrown:
    def __init__(self):
        self.me = self

    def __del__(self):
        time.sleep(0)

def work(selector):
    for _ in range(10):
        Thrown()
        assert len(search(tree, selector)) in (0, 20_000)

threads = [threading.Thread(target=work, args=(selector,)) for selector in ("p", "a[href]", "p.a", "a", "img")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_several_threads_can_search_one_tree() -> None:
    ran = subprocess.run([sys.executable, "-c", MANY_SEARCHES, "select"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_every_tree_query_uses_select() -> None:
    engine = Path(markup.__file__).parents[1]
    searching = {
        str(path.relative_to(engine))
        for path in engine.rglob("*.py")
        if re.search(r"\.css(_first|_matches)?\(", path.read_text())
    }
    # The trial parse and the checks of plug-ins run in processes of their own. A selector is tried on an empty tree.
    others = {"page/bounded_parser.py", "plugins/evidence.py", "requirements/selectors.py"}
    assert searching == {"page/markup.py", *others}
