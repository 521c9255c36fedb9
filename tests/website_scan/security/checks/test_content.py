from __future__ import annotations

import time

import pytest

from tests.website_scan.cast import message, outcome, rows, title_of, verdict
from tests.website_scan.security.cast import document, page, policies
from website_scan.outcomes import Fail
from website_scan.security.checks import content as checks
from website_scan.security.evidence import LoadedScripts, Script
from website_scan.security.javascript_libraries import (
    Library,
    UsedLibrary,
    Vulnerability,
    find_libraries_in_script,
    find_library_by_url,
    version_sort_key,
)

DIGEST = "sha384-" + "A" * 64


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<script src=https://cdn.example.net/a.js integrity={DIGEST} crossorigin></script>", "pass"),
        (f'<script src=https://cdn.example.net/a.js integrity="{DIGEST}?x {DIGEST}"></script>', "pass"),
        ("<script src=https://js.stripe.com/v3/></script>", "pass"),  # Stripe changes this file without notice.
        ("<link rel=stylesheet href='https://fonts.googleapis.com/css2?family=A'>", "pass"),
        ("<script src=/a.js></script><script src=https://static.example.com/a.js></script>", "n/a"),
        ("<script src=data:text/javascript,1></script>", "n/a"),
        ("<link rel=preconnect href=https://cdn.example.net>", "n/a"),
        ("<link rel='dns-prefetch alternate' href=https://cdn.example.net/feed>", "n/a"),
        ("<script type=application/ld+json src=https://cdn.example.net/a></script>", "n/a"),
        ("<noscript><link rel=stylesheet href=https://cdn.example.net/a.css></noscript>", "n/a"),
        ("<template><script src=https://cdn.example.net/a.js></script></template>", "n/a"),
        ("<!-- <script src=https://cdn.example.net/a.js></script> -->", "n/a"),
        ("<script src=''></script><a href=https://cdn.example.net/>x</a>", "n/a"),
        ("<script src=https://cdn.example.net/a.js></script>", "missing"),
        ("<script src=//cdn.example.net/a.js integrity=''></script>", "missing"),
        ("<script src=https://cdn.example.net/a.js integrity=md5-AAAA></script>", "missing"),
        ("<link rel='preload stylesheet' href=https://cdn.example.net/a.css>", "missing"),
        ("<base href=https://cdn.example.net/><script src=a.js></script>", "missing"),
        ("<script src=https://one.github.io/a.js></script>", "missing"),
        ("<script src=http://cdn.example.net/a.js></script>", "over-http"),
        (f"<script src=http://cdn.example.net/a.js integrity={DIGEST}></script>", "over-http"),
        (
            f"<meta http-equiv=Content-Security-Policy content=upgrade-insecure-requests>"
            f"<script src=http://cdn.example.net/a.js integrity={DIGEST}></script>",
            "pass",
        ),
        (
            "<meta http-equiv=Content-Security-Policy content=upgrade-insecure-requests>"
            "<script src=http://cdn.example.net/a.js></script>",
            "missing",
        ),
    ],
)
def test_sri_third_party_check_verdict(html: str, expected: str) -> None:
    html_page = page(html=f"<!doctype html><head>{html}", url="https://www.example.com/")
    finding = checks.sri_third_party(html_page, document(html_page), policies(html_page))
    assert outcome(finding) == expected
    assert verdict(finding) == {"missing": "warn", "over-http": "fail"}.get(expected, expected)


def test_sri_finding_lists_files() -> None:
    files = [
        ("script", "https://cdn.example.net/a.js"),
        ("link", "https://cdn.example.net/a.css"),
    ]
    html_page = page(
        html=f"<!doctype html><head><script src={files[0][1]}></script><link rel=stylesheet href={files[1][1]}>"
    )
    finding = checks.sri_third_party(html_page, document(html_page), policies(html_page))
    assert message(finding) == "The page loads 2 third-party files without an integrity attribute."
    assert rows(finding) == [{"element": element, "url": url} for element, url in files]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<script src=https://cdn.polyfill.io/v3/polyfill.min.js></script>", "loaded"),
        ("<script src=https://POLYFILL.io/v3/polyfill.min.js></script>", "loaded"),
        ("<link rel=stylesheet href=//cdn.bootcss.com/a.css>", "loaded"),
        ("<iframe src=https://www.staticfile.org/></iframe>", "loaded"),
        ("<script src=https://cdnjs.cloudflare.com/polyfill/v3/polyfill.min.js></script>", "pass"),
        ("<script src=https://cdn.example.net/polyfill.io/a.js></script>", "pass"),
        ("<script src=https://notpolyfill.io/a.js></script>", "pass"),
        ("<script src=https://polyfill.io.example.net/a.js></script>", "pass"),
        ("<p>We removed https://polyfill.io</p><a href=https://polyfill.io>it</a>", "pass"),
        ("<link rel=dns-prefetch href=https://polyfill.io>", "pass"),
        ("", "pass"),
    ],
)
def test_compromised_cdn_check_verdict(html: str, expected: str) -> None:
    html_page = page(html=f"<!doctype html><head>{html}")
    finding = checks.compromised_cdn(document(html_page))
    assert outcome(finding) == expected
    assert verdict(finding) == ("fail" if expected == "loaded" else expected)


def test_compromised_cdn_message_counts_files() -> None:
    def message_for(*urls: str) -> str:
        markup = "".join(f"<script src={url}></script>" for url in urls)
        return message(checks.compromised_cdn(document(page(html=f"<!doctype html><head>{markup}"))))

    one, other = "https://polyfill.io/a.js", "https://cdn.bootcss.com/a.js"
    assert message_for(one) == "The page loads 1 file from a compromised host."
    assert message_for(one, one) == "The page loads 2 files from a compromised host."
    assert message_for(one, other) == "The page loads 2 files from compromised hosts."


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        ([Script("https://code.jquery.com/jquery-3.7.1.min.js")], "pass"),
        ([Script("https://site.example.com/app.js", "/*! jQuery v3.7.1 | (c) OpenJS */")], "pass"),
        ([Script("https://code.jquery.com/jquery-3.4.1.min.js")], "one-library"),
        ([Script("https://site.example.com/app.js", "x();\n/*!\n * Bootstrap v3.3.7 (http")], "one-library"),
        ([Script("https://site.example.com/app.js", "/* A plug-in, tested with jQuery v1.11.0 */")], "n/a"),
        ([Script("https://site.example.com/app.js", "var text = 'jQuery v1.11.0'")], "n/a"),
        ([Script("https://site.example.com/app.js", "// jQuery v1.11.0 or later is needed")], "n/a"),
        ([Script("https://site.example.com/js/video-1.0.2.js")], "n/a"),  # The file is on the site itself.
        ([Script("https://site.example.com/jquery.js?ver=1.0.0")], "n/a"),
        ([], "n/a"),
    ],
)
def test_vulnerable_js_library_check_verdict(scripts: list[Script], expected: str) -> None:
    assert outcome(checks.vulnerable_js_library(LoadedScripts(tuple(scripts)))) == expected


def test_library_finding_lists_vulnerabilities() -> None:
    scripts = (Script("https://a.example/jquery-3.4.1.js"), Script("https://a.example/angular@1.8.3/angular.js"))
    finding = checks.vulnerable_js_library(LoadedScripts(scripts))
    assert isinstance(finding, Fail)
    assert outcome(finding) == "several-libraries"
    jquery, angular = (place.label for place in finding.places)
    assert jquery == (
        "jQuery 3.4.1 (CVE-2020-11022, CVE-2020-11023; fixed in 3.5.0) in https://a.example/jquery-3.4.1.js"
    )
    assert "CVE-2023-26116" in angular
    assert "no version fixes all of them" in angular
    assert [(row["library"], row["version"], row.get("fixed_in")) for row in rows(finding)] == [
        ("jQuery", "3.4.1", "3.5.0"),
        ("AngularJS", "1.8.3", None),
    ]


def test_title_names_vulnerable_library() -> None:
    finding = checks.vulnerable_js_library(LoadedScripts((Script("https://code.jquery.com/jquery-3.4.1.min.js"),)))
    assert verdict(finding) == "fail"
    assert title_of(checks.vulnerable_js_library, finding) == "jQuery 3.4.1 has known vulnerabilities"


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
        ("https://a.example/jquery-3.5.0-min.js", ("jquery", "3.5.0")),  # The suffix `min` is not a pre-release.
        ("https://a.example/jquery-3.5.0-rc.1.min.js", ("jquery", "3.5.0-rc.1")),
        ("https://a.example/jquery-ui-1.12.1.custom.min.js", ("jquery-ui", "1.12.1")),
        ("https://a.example/jquery-1.12.4-patched.js", None),  # The patched file may already contain the fix.
        ("https://cdnjs.cloudflare.com/ajax/libs/Chart.js/2.9.3/Chart.min.js", ("chart.js", "2.9.3")),
        ("https://cdn.jsdelivr.net/npm/video.js@7.0.0/dist/video.min.js", ("video.js", "7.0.0")),
        ("https://a.example/chart-1.2.3.min.js", None),  # The files are on the site itself.
        ("https://a.example/video/1.2.3/video.js", None),
        ("https://cdn.jsdelivr.net/npm/chart@1.0.0/index.js", None),  # Other packages have similar names.
        ("https://cdn.jsdelivr.net/npm/@scope/swiper@1.0.0/swiper.js", None),
        ("https://cdn.jsdelivr.net/gh/jquery/jquery@3.4.1/dist/jquery.min.js", ("jquery", "3.4.1")),
        ("https://a.example/wp-includes/js/jquery/jquery.min.js?ver=3.4.1", ("jquery", "3.4.1")),
        (
            "https://a.example/wp-includes/js/jquery/jquery.js?ver=1.12.4-wp",
            None,
        ),  # WordPress ships its own patched copy of jQuery.
        ("https://a.example/js/jquery.min.js?ver=3.4.1", None),  # The query parameter `ver` is the version of the site.
        ("https://a.example/js/bootstrap-datepicker-1.9.0.js", None),
        ("https://a.example/js/jquery.fancybox-1.3.4.js", None),
        ("https://a.example/myjquery-1.3.4.js", None),
        ("https://a.example/jquery/3.4.1/bootstrap.js", None),
        ("https://cdn.jsdelivr.net/npm/@angular/core@12.0.0/core.js", None),
        ("https://a.example/jquery-3.js", None),
        ("not a url", None),
    ],
)
def test_library_is_recognized_by_url(url: str, expected: tuple[str, str] | None) -> None:
    library = find_library_by_url(url)
    assert (library and (library.library.package, library.version)) == expected


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
def test_library_is_recognized_by_license(text: str, expected: list[tuple[str, str]]) -> None:
    assert sorted((entry.library.package, entry.version) for entry in find_libraries_in_script(text)) == sorted(
        expected
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/*!\r\n * jQuery Validation Plugin v1.15.0\r\n *\r\n", ("jquery-validation", "1.15.0")),
        ("/*! jQuery Validation Plugin - v1.19.2 - 5/23/2020\n", ("jquery-validation", "1.19.2")),
        ("/*!\n * Chart.js\n * http://chartjs.org/\n * Version: 1.0.2\n *\n", ("chart.js", "1.0.2")),
        ("/*!\n * Chart.js\n * https://www.chartjs.org\n * Version: 2.7.3\n", ("chart.js", "2.7.3")),
        ("/*!\n * Chart.js v2.9.3\n * https://www.chartjs.org\n", ("chart.js", "2.9.3")),
        ("/**\n * @license\n * Lo-Dash 2.4.1 (Custom Build) lodash.com/license | Under", ("lodash", "2.4.1")),
        ("/**\n * @license\n * Lodash <https://lodash.com/>\n */\nvar VERSION = '4.17.4';", ("lodash", "4.17.4")),
        ('var u,t="4.17.4",n=200,r="Expected a function",e="__lodash_hash_undefined__";', ("lodash", "4.17.4")),
        ("// moment.js\n// version : 2.0.0\n// author : Tim Wood\n", ("moment", "2.0.0")),
        ('f.version="2.29.1",H=W,f.fn=i,f.min=function(){return R', ("moment", "2.29.1")),
        ("DOMPurify.version = '1.0.1';", ("dompurify", "1.0.1")),
        ('if(g.version="1.0.1",g.removed=[],!h||!h.document)', ("dompurify", "1.0.1")),
        ('r.version="0.8.9";r.removed=[];if(!t)', ("dompurify", "0.8.9")),
        ('exports.name = "mustache.js";\n  exports.version = "0.7.2";', ("mustache", "0.7.2")),
        ('mustache.name = "mustache.js";\n  mustache.version = "0.8.1";', ("mustache", "0.8.1")),
        ('mustache.name="mustache.js";mustache.version="2.1.3";', ("mustache", "2.1.3")),
        ("mustache = {\n    name: 'mustache.js',\n    version: '3.2.1',", ("mustache", "3.2.1")),
        ('Handlebars.VERSION = "1.0.0";', ("handlebars", "1.0.0")),
        ('return"[Axios v1.6.0] Transitional option \'"+e', ("axios", "1.6.0")),
        ("// 4.5.1 (2016-12-07)\n!function(e,t){ns('tinymce/dom/Sizzle'", ("tinymce", "4.5.1")),
        (
            "/**\n * Copyright (c) Tiny Technologies, Inc. All rights reserved.\n * Licensed under LGPL or a commercial"
            " license.\n * For commercial licenses see https://www.tiny.cloud/\n *\n * Version: 5.10.0 (2021-10-11)\n",
            ("tinymce", "5.10.0"),
        ),
        ("/**\n * TinyMCE version 6.1.1 (2022-07-27)\n */", ("tinymce", "6.1.1")),
        ("/*!\n\nJSZip - A Javascript class for generating and reading zip files\n", ("jszip", "2.7.0 or older")),
        ("/*!\n\nJSZip v3.1.5 - A JavaScript class for generating and reading zip files\n", ("jszip", "3.1.5")),
        ("/**\n * marked - a markdown parser\n * Copyright (c) 2011-2014, C", ("marked", "0.3.19 or older")),
        ("/**\n * marked - a markdown parser\n * Copyright (c) 2011-2021, C", ("marked", "4.0.8 or older")),
        ("/**\n * marked v12.0.0 - a markdown parser\n * Copyright (c) 2011-2024, C", ("marked", "12.0.0")),
        # A release of 2022 may have the fix.
        ("/**\n * marked - a markdown parser\n * Copyright (c) 2011-2022, C", None),
        ("// 4.1.0 (2016-12-07)\nstartCarousel();", None),  # A script of the site has its own version and date.
        ("// 1.2.0 (2016-12-07)\ntinymce.PluginManager.add('own', own);", None),
        ('app.version="1.0.1",app.routes=[]', None),
        ('editor={name:"mustache.js editor",version:"0.1.0"}', None),
        ('if (DOMPurify.version === "1.0.1") warn();', None),
        ("if (Handlebars.VERSION < '4.0.0') warn();", None),
        ("/*!\n * Chart.js plugin\n * http://chartjs.org/\n * Version: 0.1.0\n", None),
        ("/*! jQuery Validation Plugin Extras v1.0.0 */", None),
    ],
)
def test_library_is_recognized_by_text(text: str, expected: tuple[str, str] | None) -> None:
    """The texts are from npm releases, or look similar.

    retire.js describes the same forms.
    """
    found = [(entry.library.package, entry.version_text) for entry in find_libraries_in_script(text)]
    assert found == ([expected] if expected else [])


def test_uncertain_version_has_certain_vulnerabilities() -> None:
    library = Library("a", "A", (Vulnerability("1", "0", "4.0.0"), Vulnerability("2", "2.0.0", "4.0.0")))
    assert [entry.id for entry in UsedLibrary(library, "3.0.0").known_vulnerabilities] == ["1", "2"]
    older = UsedLibrary(library, "3.0.0", is_latest_possible=True)
    assert [entry.id for entry in older.known_vulnerabilities] == ["1"]


@pytest.mark.parametrize(
    "text", ['="1.1.1"a', "/* ", "// 4.1.0 (2020-01-01) ", "@license Lodash ", "/*!\n * Chart.js\n * "]
)
def test_hostile_script_takes_linear_time(text: str) -> None:
    start = time.perf_counter()
    find_libraries_in_script(text * (64 * 1024 // len(text)))
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    ("package", "version", "is_vulnerable"),
    [
        ("tinymce", "4.9.11", True),
        ("tinymce", "7.2.0", False),
        ("lodash", "4.17.21", True),
        ("axios", "1.11.0", True),
        ("axios", "1.12.0", False),
        ("jszip", "2.6.1", True),
        ("jszip", "3.10.1", False),
        ("dompurify", "1.0.1", True),
        ("jquery-ui", "1.13.2", False),
        ("bootstrap", "3.4.1", True),
        ("bootstrap", "5.3.0", False),
        ("angular", "1.8.3", True),
        ("moment", "2.29.1", True),
        ("moment", "2.29.4", False),
    ],
)
def test_library_has_vulnerabilities_from_advisories(package: str, version: str, is_vulnerable: bool) -> None:
    used = find_library_by_url(f"https://cdn.jsdelivr.net/npm/{package}@{version}/index.js")
    assert used is not None
    assert bool(used.known_vulnerabilities) == is_vulnerable


def test_library_versions_are_sorted() -> None:
    versions = ["1.9.1", "1.12.4", "3.0.0-beta1", "3.0.0", "3.4.1", "10.0.0"]
    assert sorted(["10.0.0", "3.0.0", "1.12.4", "3.4.1", "1.9.1", "3.0.0-beta1"], key=version_sort_key) == versions


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=https://other.example.org/ target=_blank>x</a>", "pass"),
        ("<a href=https://other.example.org/ target=_blank rel='opener noopener'>x</a>", "pass"),
        ("<a href=/here target=_blank rel=opener>x</a>", "pass"),
        ("<a href=mailto:a@b.c target=_blank rel=opener>x</a>", "pass"),
        ("<a href=https://other.example.org/ target=_BLANK rel='external OPENER'>x</a>", "exposed"),
        ("<form action=https://other.example.org/ target=_blank rel=opener></form>", "exposed"),
        ("<a href=https://other.example.org/ rel=opener>x</a>", "n/a"),
        ("<base href=https://other.example.org/><a href=/there target=_blank rel=opener>x</a>", "exposed"),
        (
            "<base href=https://other.example.org/><a href=https://site.example.com/ target=_blank rel=opener>x</a>",
            "pass",
        ),
        ("<a href=https://other.example.org/ target=named rel=opener>x</a>", "n/a"),
        ("", "n/a"),
    ],
)
def test_link_noopener_check_verdict(html: str, expected: str) -> None:
    html_page = page(html=f"<!doctype html><body>{html}")
    assert outcome(checks.link_noopener(html_page, document(html_page))) == expected


def test_links_with_rel_opener_are_listed() -> None:
    html_page = page(html="<!doctype html><body><a href=https://other.example.org/a target=_blank rel=opener>x</a>")
    finding = checks.link_noopener(html_page, document(html_page))
    assert verdict(finding) == "warn"
    assert message(finding) == "1 link to another site has rel=opener."
    assert rows(finding) == [{"url": "https://other.example.org/a"}]
