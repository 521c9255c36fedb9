from __future__ import annotations

import pytest

from tests.website_scan.cast import verdict
from tests.website_scan.security.cast import document, page, policies
from website_scan.findings import Fail, Severity
from website_scan.security.checks import content as checks
from website_scan.security.evidence import LoadedScripts, Script
from website_scan.security.javascript_libraries import by_address, by_banner, version_key

DIGEST = "sha384-" + "A" * 64


@pytest.mark.parametrize(
    ("html", "expected", "severity"),
    [
        (f"<script src=https://cdn.example.net/a.js integrity={DIGEST} crossorigin></script>", "pass", None),
        (f'<script src=https://cdn.example.net/a.js integrity="{DIGEST}?x {DIGEST}"></script>', "pass", None),
        ("<script src=https://js.stripe.com/v3/></script>", "pass", None),  # changes by design
        ("<link rel=stylesheet href='https://fonts.googleapis.com/css2?family=A'>", "pass", None),
        ("<script src=/a.js></script><script src=https://static.example.com/a.js></script>", "n/a", None),
        ("<script src=data:text/javascript,1></script>", "n/a", None),
        ("<link rel=preconnect href=https://cdn.example.net>", "n/a", None),
        ("<link rel='dns-prefetch alternate' href=https://cdn.example.net/feed>", "n/a", None),
        ("<script type=application/ld+json src=https://cdn.example.net/a></script>", "n/a", None),
        ("<noscript><link rel=stylesheet href=https://cdn.example.net/a.css></noscript>", "n/a", None),
        ("<template><script src=https://cdn.example.net/a.js></script></template>", "n/a", None),
        ("<!-- <script src=https://cdn.example.net/a.js></script> -->", "n/a", None),
        ("<script src=''></script><a href=https://cdn.example.net/>x</a>", "n/a", None),
        ("<script src=https://cdn.example.net/a.js></script>", "warn", None),
        ("<script src=//cdn.example.net/a.js integrity=''></script>", "warn", None),
        ("<script src=https://cdn.example.net/a.js integrity=md5-AAAA></script>", "warn", None),
        ("<link rel='preload stylesheet' href=https://cdn.example.net/a.css>", "warn", None),
        ("<base href=https://cdn.example.net/><script src=a.js></script>", "warn", None),
        ("<script src=https://one.github.io/a.js></script>", "warn", None),
        ("<script src=http://cdn.example.net/a.js></script>", "fail", Severity.HIGH),
        (f"<script src=http://cdn.example.net/a.js integrity={DIGEST}></script>", "fail", Severity.HIGH),
        (
            f"<meta http-equiv=Content-Security-Policy content=upgrade-insecure-requests>"
            f"<script src=http://cdn.example.net/a.js integrity={DIGEST}></script>",
            "pass",
            None,
        ),
        (
            "<meta http-equiv=Content-Security-Policy content=upgrade-insecure-requests>"
            "<script src=http://cdn.example.net/a.js></script>",
            "warn",
            None,
        ),
    ],
)
def test_sri_third_party(html: str, expected: str, severity: Severity | None) -> None:
    seen = page(html=f"<!doctype html><head>{html}", url="https://www.example.com/")
    finding = checks.sri_third_party(seen, document(seen), policies(seen))
    assert verdict(finding) == expected
    if isinstance(finding, Fail):
        assert finding.severity == severity


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<script src=https://cdn.polyfill.io/v3/polyfill.min.js></script>", "fail"),
        ("<script src=https://POLYFILL.io/v3/polyfill.min.js></script>", "fail"),
        ("<link rel=stylesheet href=//cdn.bootcss.com/a.css>", "fail"),
        ("<iframe src=https://www.staticfile.org/></iframe>", "fail"),
        ("<script src=https://cdnjs.cloudflare.com/polyfill/v3/polyfill.min.js></script>", "pass"),
        ("<script src=https://cdn.example.net/polyfill.io/a.js></script>", "pass"),
        ("<script src=https://notpolyfill.io/a.js></script>", "pass"),
        ("<script src=https://polyfill.io.example.net/a.js></script>", "pass"),
        ("<p>We removed https://polyfill.io</p><a href=https://polyfill.io>it</a>", "pass"),
        ("<link rel=dns-prefetch href=https://polyfill.io>", "pass"),
        ("", "pass"),
    ],
)
def test_compromised_cdn(html: str, expected: str) -> None:
    seen = page(html=f"<!doctype html><head>{html}")
    assert verdict(checks.compromised_cdn(document(seen))) == expected


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        ([Script("https://code.jquery.com/jquery-3.7.1.min.js")], "pass"),
        ([Script("https://site.example.com/app.js", "/*! jQuery v3.7.1 | (c) OpenJS */")], "pass"),
        ([Script("https://code.jquery.com/jquery-3.4.1.min.js")], "fail"),
        ([Script("https://site.example.com/app.js", "x();\n/*!\n * Bootstrap v3.3.7 (http")], "fail"),
        ([Script("https://site.example.com/app.js", "/* A plug-in, tested with jQuery v1.11.0 */")], "n/a"),
        ([Script("https://site.example.com/app.js", "var text = 'jQuery v1.11.0'")], "n/a"),
        ([Script("https://site.example.com/app.js", "// jQuery v1.11.0 or later is needed")], "n/a"),
        ([Script("https://site.example.com/js/video-1.0.2.js")], "n/a"),  # the site's own file
        ([Script("https://site.example.com/jquery.js?ver=1.0.0")], "n/a"),
        ([], "n/a"),
    ],
)
def test_vulnerable_js_library(scripts: list[Script], expected: str) -> None:
    assert verdict(checks.vulnerable_js_library(LoadedScripts(tuple(scripts)))) == expected


def test_the_message_names_version_vulnerabilities_and_remedy() -> None:
    scripts = (Script("https://a.example/jquery-3.4.1.js"), Script("https://a.example/angular@1.8.3/angular.js"))
    finding = checks.vulnerable_js_library(LoadedScripts(scripts))
    assert isinstance(finding, Fail)
    assert (
        "jQuery 3.4.1 in https://a.example/jquery-3.4.1.js has CVE-2020-11022, CVE-2020-11023 (fixed in 3.5.0)"
        in finding.message
    )
    assert "has CVE-2023-26116 (no version fixes all of them)" in finding.message


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://code.jquery.com/jquery-3.4.1.slim.min.js", ("jquery", "3.4.1")),
        ("https://cdn.jsdelivr.net/npm/jquery@3.7.1/dist/jquery.min.js", ("jquery", "3.7.1")),
        ("https://ajax.googleapis.com/ajax/libs/angularjs/1.5.0/angular.min.js", ("angular", "1.5.0")),
        ("https://cdnjs.cloudflare.com/ajax/libs/lodash.js/4.17.20/lodash.min.js", ("lodash", "4.17.20")),
        ("https://stackpath.bootstrapcdn.com/bootstrap/4.1.1/js/bootstrap.bundle.min.js", ("bootstrap", "4.1.1")),
        ("https://code.jquery.com/ui/1.12.1/jquery-ui.min.js", ("jquery-ui", "1.12.1")),
        ("https://code.jquery.com/jquery-3.0.0-beta1.js", ("jquery", "3.0.0-beta1")),
        ("https://a.example/jquery-3.5.0-min.js", ("jquery", "3.5.0")),  # not a pre-release
        ("https://a.example/jquery-3.5.0-rc.1.min.js", ("jquery", "3.5.0-rc.1")),
        ("https://a.example/jquery-ui-1.12.1.custom.min.js", ("jquery-ui", "1.12.1")),
        ("https://a.example/jquery-1.12.4-patched.js", None),  # the patched file may have the fix
        ("https://cdnjs.cloudflare.com/ajax/libs/Chart.js/2.9.3/Chart.min.js", ("chart.js", "2.9.3")),
        ("https://cdn.jsdelivr.net/npm/video.js@7.0.0/dist/video.min.js", ("video.js", "7.0.0")),
        ("https://a.example/chart-1.2.3.min.js", None),  # the site's own files
        ("https://a.example/video/1.2.3/video.js", None),
        ("https://cdn.jsdelivr.net/npm/chart@1.0.0/index.js", None),  # other packages
        ("https://cdn.jsdelivr.net/npm/@scope/swiper@1.0.0/swiper.js", None),
        ("https://cdn.jsdelivr.net/gh/jquery/jquery@3.4.1/dist/jquery.min.js", ("jquery", "3.4.1")),
        ("https://a.example/wp-includes/js/jquery/jquery.min.js?ver=3.4.1", ("jquery", "3.4.1")),
        ("https://a.example/wp-includes/js/jquery/jquery.js?ver=1.12.4-wp", None),  # fixed without a new version number
        ("https://a.example/js/jquery.min.js?ver=3.4.1", None),  # the site's own version
        ("https://a.example/js/bootstrap-datepicker-1.9.0.js", None),
        ("https://a.example/js/jquery.fancybox-1.3.4.js", None),
        ("https://a.example/myjquery-1.3.4.js", None),
        ("https://a.example/jquery/3.4.1/bootstrap.js", None),
        ("https://cdn.jsdelivr.net/npm/@angular/core@12.0.0/core.js", None),
        ("https://a.example/jquery-3.js", None),
        ("not a url", None),
    ],
)
def test_libraries_by_address(url: str, expected: tuple[str, str] | None) -> None:
    found = by_address(url)
    assert (found and (found.library.package, found.version)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/*! jQuery v3.4.1 | (c) JS Foundation */", [("jquery", "3.4.1")]),
        ("/*!\n * jQuery JavaScript Library v1.12.4\n", [("jquery", "1.12.4")]),
        ("/*! jQuery UI - v1.12.1 - 2016-09-14\n", [("jquery-ui", "1.12.1")]),
        ("/*\n AngularJS v1.5.0\n", [("angular", "1.5.0")]),
        ("/**\n * @license AngularJS v1.8.2\n", [("angular", "1.8.2")]),
        ("/**!\n\n @license\n handlebars v4.0.11\n", [("handlebars", "4.0.11")]),
        ("//     Underscore.js 1.8.3\n", [("underscore", "1.8.3")]),
        ("//! moment.js\n//! version : 2.24.0\n", [("moment", "2.24.0")]),
        ("/*! @license DOMPurify 2.3.0 | (c) Cure53", [("dompurify", "2.3.0")]),
        ("a()\n/*! jQuery v3.4.1 */b()\n/*! Select2 4.0.5 | ", [("jquery", "3.4.1"), ("select2", "4.0.5")]),
        ("/*! jQuery v1.7.2 jquery.com | jquery.org/license */", [("jquery", "1.7.2")]),
        ("/*! jQuery v3.4.1 -ajax,-ajax/jsonp | (c) JS Foundation */", [("jquery", "3.4.1")]),
        ("/*! jQuery v3.4.1", [("jquery", "3.4.1")]),
        ("// Axios v0.21.1 Copyright (c) 2023 Matt Zabriskie", [("axios", "0.21.1")]),
        ("/**\n * @license\n * Video.js 7.8.4 <http://videojs.com/>", [("video.js", "7.8.4")]),
        ("/*! jQuery v1.12.4-patched */", []),
        ("/* Bootstrap v3.3.7 overrides */", []),
        ("/*! jQuery v1.12.4-wp */", []),
        ("/* needs jQuery v1.7.2 */", []),
        ("/*! jQuery Foo v1.2.3 */", []),
    ],
)
def test_libraries_by_banner(text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted((each.library.package, each.version) for each in by_banner(text)) == sorted(expected)


def test_versions_are_compared_as_numbers() -> None:
    versions = ["1.9.1", "1.12.4", "3.0.0-beta1", "3.0.0", "3.4.1", "10.0.0"]
    assert sorted(["10.0.0", "3.0.0", "1.12.4", "3.4.1", "1.9.1", "3.0.0-beta1"], key=version_key) == versions


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=https://other.example.org/ target=_blank>x</a>", "pass"),
        ("<a href=https://other.example.org/ target=_blank rel='opener noopener'>x</a>", "pass"),
        ("<a href=/here target=_blank rel=opener>x</a>", "pass"),
        ("<a href=mailto:a@b.c target=_blank rel=opener>x</a>", "pass"),
        ("<a href=https://other.example.org/ target=_BLANK rel='external OPENER'>x</a>", "warn"),
        ("<form action=https://other.example.org/ target=_blank rel=opener></form>", "warn"),
        ("<a href=https://other.example.org/ rel=opener>x</a>", "n/a"),
        ("<base href=https://other.example.org/><a href=/there target=_blank rel=opener>x</a>", "warn"),
        (
            "<base href=https://other.example.org/><a href=https://site.example.com/ target=_blank rel=opener>x</a>",
            "pass",
        ),
        ("<a href=https://other.example.org/ target=named rel=opener>x</a>", "n/a"),
        ("", "n/a"),
    ],
)
def test_link_noopener(html: str, expected: str) -> None:
    seen = page(html=f"<!doctype html><body>{html}")
    assert verdict(checks.link_noopener(seen, document(seen))) == expected
