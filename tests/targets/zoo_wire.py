"""Animals of HTTP itself: slow, endless, malformed, or interrupted responses, and redirect loops."""

from __future__ import annotations

import itertools

from tests.targets.server import Answer, Request
from tests.targets.zoo_cage import (
    COMPLETED,
    EMPTY_ENDS,
    KIB,
    PERFORMANCE,
    SECURITY,
    SEO,
    Animal,
    drip,
    endless,
    failed,
    http,
    page,
    partial,
    raw,
    reset,
    silence,
    site,
)
from website_scan.findings import ScanType

PAGE = b"<!doctype html><html lang=en><title>A page</title><h1>A page</h1>"
HTTP2_SETTINGS = b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00\x03\x00\x00\x00\x64" * 3
PLAIN = "Content-Type: text/html"
TOO_SLOW = failed("TIMEOUT", "The page was not loaded within")
TOO_LARGE = failed("BAD_RESPONSE", "The response's headers are larger than 64 KiB.")
NOT_HTTP = failed("BAD_RESPONSE", "What the server answers is not HTTP.")
NO_END = failed("BAD_RESPONSE", "The response ends within its headers.")
NO_ANSWER = failed("URL_NOT_REACHABLE", "closed the connection without an answer")
BAD_LOCATION = failed("BAD_RESPONSE", "The site redirects to an address that can't be used.")


def _hop(request: Request) -> Answer:
    number = int(request.path.partition("?")[2] or 0)
    return Answer.redirect(f"/?{number + 1}")


def _cookie_hop(request: Request) -> Answer:
    length = len(request.header("Cookie") or "")
    return Answer.redirect("/", Set_Cookie=f"visits={'x' * length}y")


def _fields(count: int, line: str) -> list[str]:
    return [line.format(number) for number in range(count)]


SLOWLY = drip(itertools.repeat(b"x"))
SLOW = (
    Animal("silent", site(raw(then=silence)), TOO_SLOW, is_slow=True),
    Animal(
        "slow-head", site(raw(b"HTTP/1.1 200 OK\r\nX: ", then=drip(itertools.repeat(b"x")))), TOO_SLOW, is_slow=True
    ),
    Animal("slow-body", site(raw(http(PLAIN, body=PAGE), then=SLOWLY)), TOO_SLOW, is_slow=True),
    Animal(
        "slow-interim",
        site(raw(then=drip(itertools.repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n")))),
        TOO_SLOW,
        is_slow=True,
    ),
    Animal(
        "slow-robots",
        site(Answer(PAGE), **{"robots.txt": raw(http("Content-Type: text/plain"), then=drip(itertools.repeat(b"#")))}),
        partial("The scan's time was used up before this could be looked at."),
        only=SEO,
        is_slow=True,
    ),
)

ROBOTS = b"User-agent: *\nDisallow: /*a*b\n" * 1000
ENDLESS = (
    Animal(
        "endless-body",
        site(raw(http(PLAIN, body=PAGE), then=endless(b"<p>more" * 9000))),
        only=PERFORMANCE,
        is_heavy=True,
    ),
    Animal(
        "endless-chunks",
        site(raw(http("Transfer-Encoding: chunked", PLAIN), then=endless(b"10000\r\n" + b"x" * 64 * KIB + b"\r\n"))),
        only=SEO,
        is_heavy=True,
    ),
    Animal(
        "endless-chunks-of-a-byte",
        site(raw(http("Transfer-Encoding: chunked", PLAIN), then=endless(b"1\r\nx\r\n" * 10_000))),
        failed("BAD_RESPONSE", "more framing than content"),
        only=SECURITY,
    ),
    Animal(
        "endless-chunk-extension",
        site(raw(http("Transfer-Encoding: chunked", PLAIN), b"5;", then=endless(b"x" * 64 * KIB))),
        failed("BAD_RESPONSE", "The response's chunks"),
    ),
    Animal(
        "endless-trailers",
        site(raw(http("Transfer-Encoding: chunked", PLAIN), b"0\r\n", then=endless(b"X: y\r\n" * 10_000))),
        failed("BAD_RESPONSE", "more framing than content"),
    ),
    Animal("endless-header", site(raw(b"HTTP/1.1 200 OK\r\nX: ", then=endless(b"x" * 64 * KIB))), TOO_LARGE),
    Animal("endless-headers", site(raw(b"HTTP/1.1 200 OK\r\n", then=endless(b"X: y\r\n" * 10_000))), TOO_LARGE),
    Animal("endless-status-line", site(raw(b"HTTP/1.1 200 ", then=endless(b"x" * 64 * KIB))), TOO_LARGE),
    Animal("endless-interim", site(raw(then=endless(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2000))), TOO_LARGE),
    Animal("endless-empty-lines", site(raw(then=endless(b"\r\n" * 10_000))), NOT_HTTP),
    Animal(
        "endless-robots",
        site(
            Answer(PAGE),
            **{
                "robots.txt": raw(
                    http("Content-Type: text/plain"), then=endless(b"User-agent: *\nDisallow: /*a*b\n" * 999)
                )
            },
        ),
        only=SEO,
    ),
)

MALFORMED = (
    Animal(
        "wrong-chunk-size",
        site(raw(http("Transfer-Encoding: chunked", PLAIN, body=b"zz\r\nxx"))),
        failed("BAD_RESPONSE", "The response's chunks can't be understood."),
    ),
    Animal(
        "short-chunk-size",
        site(raw(http("Transfer-Encoding: chunked", PLAIN, body=b"3\r\n" + PAGE + b"\r\n0\r\n\r\n"))),
        failed("BAD_RESPONSE", "The response's chunks are longer than they say."),
    ),
    Animal(
        "huge-chunk-size",
        site(raw(http("Transfer-Encoding: chunked", PLAIN, body=b"FFFFFFFFFFFFFFFF\r\n" + PAGE))),
    ),
    Animal("longer-content-length", site(raw(http("Content-Length: 1000000", PLAIN, body=PAGE)))),
    Animal("shorter-content-length", site(raw(http("Content-Length: 40", PLAIN, body=PAGE))), other_ends=EMPTY_ENDS),
    Animal("huge-content-length", site(raw(http(f"Content-Length: {'9' * 5000}", PLAIN, body=PAGE)))),
    Animal("negative-content-length", site(raw(http("Content-Length: -1", PLAIN, body=PAGE)))),
    Animal(
        "two-content-lengths",
        site(raw(http("Content-Length: 5", "Content-Length: 50", PLAIN, body=PAGE))),
        failed("BAD_RESPONSE", "The response names several different lengths."),
    ),
    Animal(
        "malformed-headers",
        site(raw(http("no colon", ": no name", " folded", "X Y: z", "Ünï: ü\r more", PLAIN, body=PAGE))),
    ),
    Animal(
        "nul-in-header",
        site(raw(http("X: a\0b", PLAIN, body=PAGE))),
        failed("BAD_RESPONSE", "The response's headers contain a NUL character."),
    ),
    Animal("thousand-headers", site(raw(http(*_fields(1000, "X-Header-{}: value"), PLAIN, body=PAGE)))),
    Animal("thousands-of-cookies", site(raw(http(*_fields(3000, "Set-Cookie: c{}=1"), PLAIN, body=PAGE)))),
    Animal("100000-cookies", site(raw(http(*_fields(100_000, "Set-Cookie: c{}=1"), PLAIN))), TOO_LARGE),
    Animal(
        "10000-links", site(raw(http("Link: " + ", ".join(_fields(10_000, "</{}>; rel=canonical")), PLAIN))), TOO_LARGE
    ),
    Animal(
        "thousands-of-links",
        site(raw(http("Link: " + ", ".join(_fields(2000, "</{}>; rel=canonical")), PLAIN, body=PAGE))),
    ),
    Animal(
        "unclosed-link",
        site(raw(http(f"Link: </>{'; rel=' * 9000}", 'Link: </>; a="' + '\\"' * 3000, PLAIN, body=PAGE))),
    ),
    Animal("policy-of-a-megabyte", site(raw(http("Content-Security-Policy: " + "a 'b';" * 180_000, PLAIN))), TOO_LARGE),
    Animal(
        "policy-of-60-kilobytes",
        site(raw(http("Content-Security-Policy: " + "".join(_fields(4000, "d{} *; ")), PLAIN, body=PAGE))),
    ),
    Animal(
        "headers-of-nonsense",
        page(
            lambda: PAGE,
            ("Strict-Transport-Security", 'max-age="' + "\\" * 9000),
            ("X-Robots-Tag", "unavailable_after: " + "9" * 9000),
            ("Refresh", "0; url=" + "'" * 9000),
            ("Cache-Control", "max-age=" + "9" * 9000),
            ("Server", "/" * 9000 + "1"),
            ("Content-Type", "text/html" + "; charset" * 900 + "=" + "u" * 900),
        ),
    ),
    Animal("interim-storm", site(raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2000, http(PLAIN, body=PAGE)))),
    Animal("not-http", site(raw(b"SSH-2.0-OpenSSH_9.6\r\n", b"\x00\x01\x02" * 100)), NOT_HTTP),
    Animal(
        "http2-frames",
        site(raw(HTTP2_SETTINGS)),
        NO_END,
    ),
    Animal("http2-preface", site(raw(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")), NOT_HTTP),
    Animal("status-of-five-digits", site(raw(b"HTTP/1.1 20000 OK\r\n\r\n")), NOT_HTTP),
)

BROKEN = (
    Animal("hang-up-before-the-answer", site(raw()), NO_ANSWER),
    Animal("reset-before-the-answer", site(raw(then=reset)), NO_ANSWER),
    Animal(
        "reset-in-the-head",
        site(raw(b"HTTP/1.1 200 OK\r\nX: y", then=reset)),
        NO_END,
    ),
    Animal(
        "end-in-the-head",
        site(raw(b"HTTP/1.1 200 OK\r\nX: y")),
        NO_END,
    ),
    Animal("reset-in-the-body", site(raw(http("Content-Length: 1000000", PLAIN, body=PAGE), then=reset))),
)

REDIRECTS = (
    Animal("redirect-to-itself", site(Answer.redirect("/")), failed("TOO_MANY_REDIRECTS", "redirects in a loop")),
    Animal(
        "redirect-circle",
        site(Answer.redirect("/a"), a=Answer.redirect("/b"), b=Answer.redirect("/")),
        failed("TOO_MANY_REDIRECTS", "redirects in a loop"),
    ),
    Animal("endless-redirects", site(_hop), failed("TOO_MANY_REDIRECTS", "redirects more than 10 times")),
    Animal("redirects-with-cookies", site(_cookie_hop), failed("TOO_MANY_REDIRECTS", "redirects more than 10 times")),
    Animal(
        "redirect-to-metadata",
        site(Answer.redirect("http://169.254.169.254/latest/meta-data/")),
        failed("DOMAIN_BLOCKED", "169.254.169.254"),
    ),
    Animal("redirect-to-private", site(Answer.redirect("http://10.0.0.1/")), failed("DOMAIN_BLOCKED", "10.0.0.1")),
    Animal(
        "redirect-to-mapped",
        site(Answer.redirect("http://[::ffff:10.0.0.1]/")),
        failed("DOMAIN_BLOCKED", "not publicly accessible"),
    ),
    Animal(
        "redirect-to-decimal",
        site(Answer.redirect("http://2852039166/")),
        failed("DOMAIN_BLOCKED", "not publicly accessible"),
    ),
    Animal("redirect-to-name", site(Answer.redirect("http://db.internal/")), failed("DOMAIN_BLOCKED", "db.internal")),
    Animal("redirect-to-file", site(Answer.redirect("file:///etc/passwd")), BAD_LOCATION),
    Animal("redirect-to-script", site(Answer.redirect("javascript:alert(1)")), BAD_LOCATION),
    Animal("redirect-to-data", site(Answer.redirect("data:text/html,<h1>Hello")), BAD_LOCATION),
    Animal("redirect-to-gopher", site(Answer.redirect("gopher://127.0.0.1:6379/_FLUSHALL")), BAD_LOCATION),
    Animal("redirect-with-credentials", site(Answer.redirect("https://user:secret@127.0.0.1/")), BAD_LOCATION),
    Animal(
        "redirect-to-60-kilobytes",
        site(Answer.redirect("/" + "a" * 60 * KIB)),
        failed("TARGET_STATUS", "The page answers with status 404 Not Found"),
        {ScanType.SEO: COMPLETED},
    ),
)

ANIMALS = (*SLOW, *ENDLESS, *MALFORMED, *BROKEN, *REDIRECTS)
