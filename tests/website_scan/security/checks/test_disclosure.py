from __future__ import annotations

import html
import time

import pytest
from msgspec.structs import replace

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from tests.website_scan.security.cast import HTML, bare_page, document, page, response
from website_scan.findings import LOW
from website_scan.net.http.response import Response
from website_scan.outcomes import Fail, Fault, Warn
from website_scan.page.evidence import Page
from website_scan.security.checks import disclosure as checks
from website_scan.security.evidence import AssetDirectories, NotFoundBaseline

SITE = "https://site.example.com"


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("nginx/1.25.3", "named"),
        ("Apache/2", "named"),
        ("Apache/2.4.57 (Debian) OpenSSL/1.0.2k", "named"),
        ("Apache (Unix) OpenSSL/3.0", "named"),
        ("Microsoft-IIS/10.0", "named"),
        ("Jetty(9.4.53.v20231009)", "named"),
        ("Apache 2.4", "named"),
        ("Python/3.11 aiohttp/3.9.1", "named"),
        ("Foo/v2.1", "named"),
        ("nginx", "pass"),
        ("Apache (Debian 12)", "pass"),  # This is the version of the operating system, not of a product.
        ("ECS (dcb/7F84)", "pass"),  # This text identifies a node.
        ("BunnyCDN-DE1-1082", "pass"),
        ("Fly/6f91d33b9d (2024-06-27)", "pass"),  # This text identifies a commit.
        ("Fly/b6b5d2d", "pass"),
        ("AmazonS3", "pass"),
        ("cloudflare", "pass"),
        ("h2o", "pass"),
        ("", "pass"),
        (None, "pass"),
    ],
)
def test_server_version_check_verdict(server: str | None, expected: str) -> None:
    headers = [] if server is None else [("Server", server)]
    finding = checks.server_version(page(*headers))
    assert outcome(finding) == expected
    assert verdict(finding) == ("fail" if expected == "named" else expected)


def test_server_version_finding_quotes_header() -> None:
    finding = checks.server_version(page(("Server", "nginx/1.25.3")))
    assert message(finding) == "Server: nginx/1.25.3 names a version."
    assert rows(finding) == [{"header": "Server", "value": "nginx/1.25.3"}]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("X-Powered-By", "PHP/8.2.7")], "one-header"),
        ([("X-Powered-By", "Express")], "one-header"),
        ([("x-aspnet-version", "4.0.30319")], "one-header"),
        ([("X-AspNetMvc-Version", "5")], "one-header"),
        ([("X-Generator", "Drupal 10 (https://www.drupal.org)")], "one-header"),
        ([("X-Powered-By", "")], "pass"),
        ([("X-Powered-By", "7f3a9c2e-11aa-4b1c-9d77-0123456789ab")], "pass"),  # The header's value is the ID of a node.
        ([("X-Powered-By", "1042")], "pass"),
        ([("X-Request-Id", "abc"), ("CF-RAY", "8f"), ("X-Amz-Cf-Id", "x"), ("X-Varnish", "1 2")], "pass"),
        ([("X-Served-By", "cache-fra-1"), ("X-Cache", "HIT"), ("X-B3-TraceId", "1"), ("X-Runtime", "0.01")], "pass"),
        ([], "pass"),
    ],
)  # fmt: skip
def test_powered_by_check_verdict(headers: list[tuple[str, str]], expected: str) -> None:
    finding = checks.powered_by(page(*headers))
    assert outcome(finding) == expected
    assert verdict(finding) == ("fail" if expected == "one-header" else expected)


def test_powered_by_finding_lists_headers() -> None:
    finding = checks.powered_by(page(("X-Powered-By", "PHP/8.2.7"), ("X-Generator", "Drupal 10")))
    assert outcome(finding) == "several-headers"
    assert verdict(finding) == "fail"
    assert message(finding) == "The response sends 2 headers that name the software in use."
    assert rows(finding) == [
        {"header": "X-Powered-By", "value": "PHP/8.2.7"},
        {"header": "X-Generator", "value": "Drupal 10"},
    ]


JAVA_TRACE = """java.lang.NullPointerException: Cannot invoke "x"
\tat com.example.shop.Cart.total(Cart.java:42)
\tat com.example.shop.Controller.show(Controller.java:17)
\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:103)
\tat org.apache.catalina.core.ApplicationFilterChain.doFilter(ApplicationFilterChain.java:166)
"""
NODE_TRACE = """<!DOCTYPE html><html lang="en"><head><title>Error</title></head><body>
<pre>URIError: Failed to decode param &#39;/%C0x&#39;<br> &nbsp; &nbsp;at decodeURIComponent (&lt;anonymous&gt;)<br>
 &nbsp; &nbsp;at decode_param (/app/node_modules/express/lib/router/layer.js:172:12)<br> &nbsp; &nbsp;at Layer.match
 (/app/node_modules/express/lib/router/layer.js:148:15)<br> &nbsp; &nbsp;at matchLayer (/app/router/index.js:585:18)<br>
 &nbsp; &nbsp;at next (/app/node_modules/express/lib/router/index.js:226:15)</pre></body></html>"""
DJANGO = """<!DOCTYPE html><html lang="en"><head><title>Page not found at /x</title></head><body>
<header id="summary"><h1>Page not found <small>(404)</small></h1></header>
<footer id="explanation"><p>You\u2019re seeing this error because you have <code>DEBUG = True</code> in your
Django settings file.</p></footer></body></html>"""
PHP = "<br />\n<b>Fatal error</b>:  Uncaught Error: x in <b>/var/www/html/router.php</b> on line <b>3</b><br />\n"
LARAVEL = (
    '{"message": "", "exception": "Symfony\\\\Component\\\\HttpKernel\\\\Exception\\\\NotFoundHttpException", '
    '"file": "/var/www/vendor/laravel/framework/src/Router.php", "line": 44, "trace": [{"file": "/var/www/a.php"}]}'
)
PYTHON = 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in view\nKeyError: 1\n'
GO = "panic: x\n\ngoroutine 7 [running]:\nmain.main()\n\t/srv/main.go:12 +0x1d\n"


@pytest.mark.parametrize(
    ("body", "status", "shows"),
    [
        (DJANGO, 404, "Django with DEBUG = True"),
        ("<b>Request Method:</b> GET Django Version: 5.2 Exception Type: KeyError", 500, "Django with DEBUG = True"),
        ("<title>KeyError: 'x' // Werkzeug Debugger</title>", 500, "Werkzeug's debugger"),
        ("<title>Action Controller: Exception caught</title>", 404, "Rails in development mode"),
        ("Routing Error\nNo route matches [GET] &quot;/x&quot;\nRails.root: /srv", 404, "Rails in development mode"),
        ("<title>Not found</title><script>window.ignite({})</script>", 500, "Laravel's Ignition"),
        ("<title>Whoops! There was an error.</title>", 500, "Laravel in debug mode"),
        (LARAVEL, 404, "Laravel in debug mode"),
        ('<div class="exception-summary"><div class="exception-message-wrapper">No route found</div></div>Symfony', 404,
         "Symfony in debug mode"),
        ("<h1>Server Error in '/' Application.</h1><b>Stack Trace:</b> <pre>[HttpException]", 404,
         "ASP.NET with custom errors off"),
        ('<h1>An unhandled exception</h1><div class="titleerror">X</div>', 500, "ASP.NET Core's developer page"),
        ("<h3>Detailed Error Information:</h3><tr><th>Physical Path</th><td>C:\\inetpub</td>", 404,
         "IIS with detailed errors"),
        ("<h1>Whitelabel Error Page</h1><div>" + html.escape(JAVA_TRACE) + "</div>", 404,
         "Spring's Whitelabel page with a trace"),
        ('{"status": 500, "trace": "java.lang.NullPointerException\\n", "path": "/x"}', 500, "Spring with traces"),
        (NODE_TRACE, 400, "Express in development mode"),
        (PHP, 200, "PHP with display_errors"),  # PHP prints errors without changing the status.
        ("<article>" + PHP + "</article>", 404, "PHP with display_errors"),
        ("PHP Fatal error:  Uncaught x in /var/www/a.php:3\n", 500, "PHP with display_errors"),
        ("<title>HTTP Status 500</title><h1>HTTP Status 500</h1><pre>" + JAVA_TRACE + "</pre>Apache Tomcat/9.0.1", 500,
         "a Java stack trace"),
        (PYTHON, 500, "a Python traceback"),
        (html.escape(PYTHON), 500, "a Python traceback"),
        (GO, 500, "a Go stack trace"),
        # Pages that are not debug pages.
        ("<title>404 Not Found</title><hr>nginx/1.25", 404, None),
        ("<h1>HTTP Status 404 \u2013 Not Found</h1>Apache Tomcat/9.0.1", 404, None),
        ("<h1>Whitelabel Error Page</h1>There was an unexpected error (type=Not Found, status=404).", 404, None),
        ("<h1>Runtime Error</h1>Server Error in '/' Application. Details: set customErrors mode to Off", 500, None),
        ("<pre>Cannot GET /x</pre>", 404, None),
        ('{"status": 404, "error": "Not Found", "path": "/x"}', 404, None),
        ("<title>404 | Not Found</title>", 404, None),
        ("", 404, None),
        # Articles about stack traces are not debug pages, whatever their status.
        (DJANGO, 200, None),
        ("<article><h1>Reading stack traces</h1><pre>" + JAVA_TRACE + PYTHON + GO + "</pre></article>", 404, None),
        ("<meta property=og:title content=Traces><pre>" + DJANGO + NODE_TRACE, 404, None),
        ("<link href=/ rel=canonical><p>" + JAVA_TRACE, 404, None),
        ("<pre>" + html.escape(PHP) + "</pre>", 200, None),
        ("<p>A fatal error in PHP: <b>Fatal error</b> in your file on line 3", 404, None),
        ("<p>One frame, at com.example.Cart.total(Cart.java:42), of a java.lang.NullPointerException", 404, None),
    ],
)  # fmt: skip
def test_debug_error_page_check_verdict(body: str, status: int, shows: str | None) -> None:
    ordinary = response(f"{SITE}/a", HTML, status=404, body=b"<h1>Not found</h1>")
    wrong = response(f"{SITE}/b", HTML, status=status, body=body.encode())
    html_page = page()
    finding = checks.debug_error_page(document(html_page), NotFoundBaseline((ordinary, wrong)))
    assert outcome(finding) == ("shown" if shows else "pass"), message(finding)
    if shows:
        assert verdict(finding) == "fail"
        assert message(finding) == f"A path that does not exist returns status {status} and debug output ({shows})."
        assert rows(finding) == [{"path": "/b", "status": status, "shows": shows}]


def test_scanned_page_may_show_a_stack_trace() -> None:
    trace = f"<h1>Traces</h1><pre>{JAVA_TRACE}</pre>"
    missing = NotFoundBaseline((response(f"{SITE}/a", HTML, status=404, body=trace.encode()),))
    article, other = page(html=trace), page()
    assert verdict(checks.debug_error_page(document(article), missing)) == "pass"
    assert verdict(checks.debug_error_page(document(other), missing)) == "fail"


def test_image_is_not_debug_output() -> None:
    picture = response(f"{SITE}/a", ("Content-Type", "image/png"), status=500, body=PYTHON.encode())
    html_page = page()
    assert verdict(checks.debug_error_page(document(html_page), NotFoundBaseline((picture,)))) == "pass"


NGINX = """<html><head><title>Index of /static/</title></head><body><h1>Index of /static/</h1><hr><pre>
<a href="../">../</a>\n<a href="a.js">a.js</a> 20-Nov-2026 10:00 12\n</pre></body></html>"""
APACHE = """<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN"><html><head><title>Index of /static</title></head>
<body><h1>Index of /static</h1><table><tr><th><a href="?C=N;O=D">Name</a></th></tr>
<tr><td><img src="/icons/back.gif"></td><td><a href="/">Parent Directory</a></td></tr></table></body></html>"""
LIGHTTPD = """<title>Index of /static/</title><tr class="d"><td class="n"><a href="../">..</a>/</td></tr>"""
IIS = """<html><head><title>site.example.com - /static/</title></head><body><H1>site.example.com - /static/</H1><hr>
<pre><A HREF="/">[To Parent Directory]</A><br><br>12 <A HREF="/static/a.js">a.js</A><br></pre></body></html>"""
PYTHON_LISTING = """<!DOCTYPE HTML><html lang="en"><head><title>Directory listing for /static/</title></head><body>
<h1>Directory listing for /static/</h1>\n<hr>\n<ul>\n<li><a href="a.js">a.js</a></li>\n</ul>\n<hr></body></html>"""
CADDY = """<!DOCTYPE html><html><head><title>/static/</title></head><body><a href="..">
<svg width="24"><path d="M0"/></svg> <span class="goup">Up</span></a></body></html>"""
JETTY = """<html><head><title>Directory: /static/</title></head><body>
<table><tr><td><a href="/">Parent Directory</a></td></tr></table></body></html>"""
TOMCAT = """<title>Directory Listing For [/static/]</title><a href="/"><b>Up To [/]</b></a>"""
NODE = """<title>listing directory /static/</title><a href="/" class="icon" title=".."><span>..</span></a>"""
ROOT = """<title>Index of /</title><h1>Index of /</h1><a href="?C=N;O=D">Name</a> <a href="a/">a/</a>"""


@pytest.mark.parametrize(
    ("body", "server"),
    [
        (NGINX, "Apache, nginx or lighttpd"),
        (APACHE, "Apache, nginx or lighttpd"),
        (LIGHTTPD, "Apache, nginx or lighttpd"),
        (IIS, "IIS"),
        (PYTHON_LISTING, "Python"),
        (CADDY, "Caddy"),
        (JETTY, "Jetty"),
        (TOMCAT, "Tomcat"),
        (NODE, "Node.js"),
        # This listing is of another folder than the requested one.
        (NGINX.replace("Index of /static/", "Index of /other/"), None),
        (NGINX.replace('<a href="../">../</a>', ""), None),  # Only the title looks like a directory listing.
        # Only the link looks like a directory listing.
        (NGINX.replace("<title>Index of /static/</title>", "<title>Files</title>"), None),
        ("<title>Index of /static/</title><nav><a href=/>Home</a></nav><a href=/up>Updates</a>", None),
        ("<title>Directory listing for /static/</title><p>What Python writes: <a href='/'>more</a>", None),
        ("<title>How nginx writes Index of /static/</title><a href=../>..</a>", None),
        ("<h1>Forbidden</h1>", None),
        ("", None),
    ],
)
def test_directory_listing_check_verdict(body: str, server: str | None) -> None:
    directories = AssetDirectories((response(f"{SITE}/static/", HTML, body=body.encode()),))
    finding = checks.directory_listing(page(), directories)
    assert outcome(finding) == ("public" if server else "pass")
    if server:
        assert verdict(finding) == "fail"
        assert message(finding) == "The server lists the files of 1 directory."
        assert rows(finding) == [{"path": "/static/", "server": server}]


def test_scanned_page_may_be_a_listing() -> None:
    assert verdict(checks.directory_listing(page(html=ROOT), AssetDirectories(()))) == "fail"
    listed = page(html=NGINX.replace("/static/", "/a b/"), url=f"{SITE}/a%20b/")
    assert verdict(checks.directory_listing(listed, AssetDirectories(()))) == "fail"


def test_listing_with_status_403_is_allowed() -> None:
    directories = AssetDirectories((response(f"{SITE}/static/", HTML, status=403, body=NGINX.encode()),))
    assert verdict(checks.directory_listing(page(), directories)) == "pass"


def response_body(text: str) -> str:
    return f"<!doctype html><html><head><title>A page</title></head><body>{text}</body></html>"


@pytest.mark.parametrize(
    ("headers", "text", "expected"),
    [
        ([("Location", "http://10.1.2.3/")], "", "disclosed"),
        ([("Via", "1.1 10.0.0.5 (squid)")], "", "disclosed"),
        ([("X-Backend", "192.168.7.9:8080")], "", "disclosed"),
        ([("X-Served-By", "fd12:3456:789a::1")], "", "disclosed"),
        ([], '<a href="http://192.168.3.4/admin">Log in</a>', "disclosed"),
        ([], '<img src="//172.16.0.9/a.png">', "disclosed"),
        ([], '<a href="http://[fe80::1]/">x</a>', "disclosed"),
        ([], '<script>const api = "10.1.2.3";</script>', "disclosed"),
        ([], '<script>fetch("http://10.1.2.3:8080/x")</script>', "disclosed"),
        ([], "<!-- served by 10.1.2.3 -->", "disclosed"),
        ([], "<p>Connect to the server at 10.1.2.3.", "disclosed"),
        ([], "<p>Connect to 10.1.2.3:8080.", "disclosed"),
        ([], "<p>Backend: 172.20.1.1", "disclosed"),
        ([], "<p>169.254.7.7 did not answer", "disclosed"),
        # These texts disclose no address. Routers, for example, have default addresses.
        ([], "<p>Open 192.168.0.1 in your browser to set up the router.", "pass"),
        ([], '<p>Open <a href="http://192.168.1.1/">192.168.1.1</a> to set up the router.', "pass"),
        ([], '<a href="http://192.168.88.1:8080/webfig">WebFig</a> <code>"172.17.0.1"</code>', "pass"),
        ([("Via", "1.1 192.168.1.1")], "", "disclosed"),  # The Via header has the real address of a proxy.
        ([], "<p>Version 10.0.0.1 mends two faults. So does version 10.4.2.1.", "pass"),
        ([], "<p>Foo 10.4.2.1 is out.", "pass"),
        ([], "<p>v10.4.2.1, release 10.4.2.2, Firmware: 10.4.2.3, Chrome/10.4.2.4", "pass"),
        ([], "<p>Private networks are 10.0.0.0/8, 172.16.0.0/12 and 192.168.0.0/16.", "pass"),
        ([], '<script src="/a-10.4.2.1.js"></script><script src="/b.js?v=10.4.2.1"></script>', "pass"),
        ([], '<script>var version = "10.4.2.1", build: "10.4.2.2";</script>', "pass"),
        ([], '<svg><path d="M10.4.2.1 10.4.2.1"/></svg>', "pass"),
        ([], "<p>172.15.0.1, 172.32.0.1, 192.169.1.1, 11.0.0.1, 10.0.0.256, 110.1.2.3, 10.1.2.3.4", "pass"),
        ([], "<p>Face: fe80, fade:cafe, 10:30", "pass"),
        ([("Server", "Foo/10.4.2.1")], "", "pass"),
        ([("X-App-Version", "10.4.2.1")], "", "pass"),
        ([("Via", "1.1 198.51.100.7")], "", "pass"),
        ([], "", "pass"),
    ],
)  # fmt: skip
def test_private_ip_check_verdict(headers: list[tuple[str, str]], text: str, expected: str) -> None:
    html_page = page(*headers, html=response_body(text))
    finding = checks.private_ip(html_page, document(html_page))
    assert outcome(finding) == expected, finding
    assert verdict(finding) == ("warn" if expected == "disclosed" else expected)


def test_private_ip_finding_lists_addresses() -> None:
    html_page = page(("Via", "1.1 10.0.0.5 (squid)"), html=response_body("<!-- served by 10.1.2.3 -->"))
    finding = checks.private_ip(html_page, document(html_page))
    assert message(finding) == "The response discloses 2 addresses of an internal network."
    assert rows(finding) == [
        {"address": "10.0.0.5", "where": "the header Via"},
        {"address": "10.1.2.3", "where": "a comment"},
    ]


def test_scanned_ip_address_is_no_disclosure() -> None:
    html_page = page(html=response_body('<a href="http://10.1.2.3/">x</a>'))
    page_at_address = Page(html_page.requested, html_page.target, (replace(html_page.response, address="10.1.2.3"),))
    assert verdict(checks.private_ip(html_page, document(html_page))) == "warn"
    assert verdict(checks.private_ip(page_at_address, document(page_at_address))) == "pass"


def test_private_ip_is_found_in_json() -> None:
    html_page = bare_page(("Content-Type", "application/json"), body=b'{"upstream": "10.1.2.3"}')
    assert verdict(checks.private_ip(html_page, document(html_page))) == "warn"


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("password: hunter2", "credentials"),
        ("db_password = hunter", "credentials"),
        ("pwd: s3cr3t!", "credentials"),
        ("Admin password: geheim", "credentials"),
        ("user: admin password: geheim", "credentials"),
        ("login: admin / admin123", "credentials"),
        ("api_key: 0a1b2c3d4e5f6a7b", "credentials"),
        ("AKIAIOSFODNN7EXAMPLE", "credentials"),
        ("staging: https://bob:geheim@staging.example.com/", "credentials"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "credentials"),
        ("TODO: remove the default password before release", "unfinished-work"),
        ("FIXME authentication is switched off here", "unfinished-work"),
        # These comments mention passwords without a value.
        ("password field below", "pass"),
        ("Password: required", "pass"),
        ("password: see the wiki", "pass"),
        ("password: must have eight characters", "pass"),
        ("password: {{ form.password }}", "pass"),
        ("password: form.password", "pass"),
        ("password = $_POST['password']", "pass"),
        ("password: ********", "pass"),
        ("/password", "pass"),
        ("begin: reset password form", "pass"),
        ('<input type="password" name="password" value="">', "pass"),
        ('<label for="pwd">Password:</label>', "pass"),
        ('<input type="hidden" name="csrf_token" value="a1b2c3d4e5f6a7b8">', "pass"),
        ("Access key: Alt+1", "pass"),
        ("api key: see README", "pass"),
        ("secret: {{SECRET}}", "pass"),
        ("build 0123456789abcdef0123456789abcdef01234567", "pass"),
        ("User: guest", "pass"),
        ("TODO: nicer icons", "pass"),
        ("TODO: translate the security page", "pass"),
        ("TODO: link to the security section, password field styling", "pass"),
        ("FIXME: align the password input", "pass"),
        ("TODO: translate this sentence about security", "pass"),
        ("TODO: sanitize the input", "unfinished-work"),
        ("TODO: security! anybody can log in", "unfinished-work"),
        ("FIXME: csrf token is missing in the form", "unfinished-work"),
        ("[if lt IE 9]><script src=a.js></script><![endif]", "pass"),
        ("", "pass"),
    ],
)
@pytest.mark.parametrize("place", ["before", "body"])
def test_security_comments_check_verdict(comment: str, expected: str, place: str) -> None:
    markup = f"<!-- {comment} -->"
    html_page = page(html=markup + response_body("") if place == "before" else response_body(f"<p>Text{markup}"))
    finding = checks.security_comments(document(html_page))
    assert outcome(finding) == expected, finding
    assert verdict(finding) == {"credentials": "fail", "unfinished-work": "warn"}.get(expected, expected)
    if isinstance(finding, Fault):
        stored_text = repr((finding.message, finding.values, finding.places, finding.details))
        for secret in ("hunter", "geheim", "s3cr3t", "admin123", "0a1b2c", "AKIA", "eyJ"):
            assert secret not in stored_text


def test_credentials_finding_lists_lines() -> None:
    secret = "<!--\r\n db_password: hunter2 -->"
    markup = response_body(f"\n<p>One\n{secret}\n<!-- nothing -->\n{secret}<!-- api_key: 0a1b2c3d4e5f6a7b -->")
    finding = checks.security_comments(document(page(html=markup)))
    assert isinstance(finding, Fail)
    assert finding.message == "3 comments contain what looks like credentials."
    assert [place.label for place in finding.places] == ["line 3 (password)", "line 6 (password)", "line 7 (api_key)"]
    assert [row["line"] for row in rows(finding)] == [3, 6, 7]


def test_unfinished_work_finding_quotes_comment() -> None:
    unfinished = checks.security_comments(document(page(html=response_body("\n\n<!-- TODO: fix the xss -->"))))
    assert isinstance(unfinished, Warn)
    assert unfinished.message == "1 comment mentions unfinished security work."
    assert [place.label for place in unfinished.places] == ["line 3 (“TODO: fix the xss”)"]
    assert severity_of(checks.security_comments, unfinished) == LOW


def test_comments_in_scripts_are_ignored() -> None:
    html_page = page(html=response_body("<script><!-- password: hunter2 --></script>"))
    assert verdict(checks.security_comments(document(html_page))) == "pass"


HOSTILE = [
    " " * 200_000,
    "a" * 200_000,
    "10.1.2." * 30_000,
    "fd00:" * 40_000,
    "\n at " * 40_000,
    "at " + "a." * 60_000,
    "<a href=/" * 20_000,
    "<a><b" * 20_000,
    "<b>Warning</b>: " * 12_000,
    "todo " * 40_000,
    "password " * 20_000,
    "user:" * 40_000,
    "Error: " * 30_000,
    "java." * 40_000,
    "<title>Index of /static/</title>" + "<a href=/>" * 18_000,
    "//10.1.2.3 " * 180_000,
    "'10.1.2.3' " * 180_000,
    "server fe80:1:: " * 120_000,
    "<!-- 10.1.2.3 -->" * 110_000,
    "<!-- todo security page -->" * 70_000,
    "<!-- api_key=aaaaaaaaaaaaaaaa1 -->" * 60_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_takes_under_two_seconds(text: str) -> None:
    wrong: Response = response(f"{SITE}/static/", HTML, body=text.encode())
    broken: Response = response(f"{SITE}/b", HTML, status=500, body=text.encode())
    html_page = page(("X-A", text[:8000]), html=response_body(f"<p>{html.escape(text)}<!-- {text} -->"))
    parsed = document(html_page)
    started = time.thread_time()
    checks.debug_error_page(parsed, NotFoundBaseline((broken,)))
    checks.directory_listing(html_page, AssetDirectories((wrong,)))
    checks.private_ip(html_page, parsed)
    checks.security_comments(parsed)
    assert time.thread_time() - started < 2.0
