"""Sites with hostile HTTP, such as endless responses and redirect loops."""

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
    failed_end,
    http_response,
    page_factory,
    partial_end,
    raw_route,
    reset_connection,
    send_endlessly,
    send_slowly,
    site,
    stay_silent,
)
from website_scan.findings import ScanType

PAGE = b"<!doctype html><html lang=en><title>A page</title><h1>A page</h1>"
HTTP2_SETTINGS = b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00\x03\x00\x00\x00\x64" * 3
PLAIN = "Content-Type: text/html"
TIMEOUT_END = failed_end("TIMEOUT", "The page was not loaded within")
LARGE_HEADERS_END = failed_end("BAD_RESPONSE", "The response's headers are larger than 64 KiB.")
NOT_HTTP_END = failed_end("BAD_RESPONSE", "What the server answers is not HTTP.")
TRUNCATED_HEADERS_END = failed_end("BAD_RESPONSE", "The response ends within its headers.")
CLOSED_CONNECTION_END = failed_end("URL_NOT_REACHABLE", "closed the connection without an answer")
BAD_LOCATION_END = failed_end("BAD_RESPONSE", "The site redirects to an address that can't be used.")


def _numbered_redirect(request: Request) -> Answer:
    number = int(request.path.partition("?")[2] or 0)
    return Answer.redirect(f"/?{number + 1}")


def _cookie_redirect(request: Request) -> Answer:
    length = len(request.header("Cookie") or "")
    return Answer.redirect("/", Set_Cookie=f"visits={'x' * length}y")


def _numbered_lines(count: int, line: str) -> list[str]:
    return [line.format(number) for number in range(count)]


SLOWLY = send_slowly(itertools.repeat(b"x"))
SLOW = (
    Animal("silent", site(raw_route(then=stay_silent)), TIMEOUT_END, is_slow=True),
    Animal(
        "slow-head",
        site(raw_route(b"HTTP/1.1 200 OK\r\nX: ", then=send_slowly(itertools.repeat(b"x")))),
        TIMEOUT_END,
        is_slow=True,
    ),
    Animal("slow-body", site(raw_route(http_response(PLAIN, body=PAGE), then=SLOWLY)), TIMEOUT_END, is_slow=True),
    Animal(
        "slow-interim",
        site(raw_route(then=send_slowly(itertools.repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n")))),
        TIMEOUT_END,
        is_slow=True,
    ),
    Animal(
        "slow-robots",
        site(
            Answer(PAGE),
            **{
                "robots.txt": raw_route(
                    http_response("Content-Type: text/plain"), then=send_slowly(itertools.repeat(b"#"))
                )
            },
        ),
        partial_end("The scan's time was used up before this could be checked."),
        only=SEO,
        is_slow=True,
    ),
)

ROBOTS = b"User-agent: *\nDisallow: /*a*b\n" * 1000
ENDLESS = (
    Animal(
        "endless-body",
        site(raw_route(http_response(PLAIN, body=PAGE), then=send_endlessly(b"<p>more" * 9000))),
        only=PERFORMANCE,
        is_heavy=True,
    ),
    Animal(
        "endless-chunks",
        site(
            raw_route(
                http_response("Transfer-Encoding: chunked", PLAIN),
                then=send_endlessly(b"10000\r\n" + b"x" * 64 * KIB + b"\r\n"),
            )
        ),
        only=SEO,
        is_heavy=True,
    ),
    Animal(
        "endless-chunks-of-a-byte",
        site(
            raw_route(http_response("Transfer-Encoding: chunked", PLAIN), then=send_endlessly(b"1\r\nx\r\n" * 10_000))
        ),
        failed_end("BAD_RESPONSE", "more framing than content"),
        only=SECURITY,
    ),
    Animal(
        "endless-chunk-extension",
        site(
            raw_route(http_response("Transfer-Encoding: chunked", PLAIN), b"5;", then=send_endlessly(b"x" * 64 * KIB))
        ),
        failed_end("BAD_RESPONSE", "The response's chunks"),
    ),
    Animal(
        "endless-trailers",
        site(
            raw_route(
                http_response("Transfer-Encoding: chunked", PLAIN), b"0\r\n", then=send_endlessly(b"X: y\r\n" * 10_000)
            )
        ),
        failed_end("BAD_RESPONSE", "more framing than content"),
    ),
    Animal(
        "endless-header",
        site(raw_route(b"HTTP/1.1 200 OK\r\nX: ", then=send_endlessly(b"x" * 64 * KIB))),
        LARGE_HEADERS_END,
    ),
    Animal(
        "endless-headers",
        site(raw_route(b"HTTP/1.1 200 OK\r\n", then=send_endlessly(b"X: y\r\n" * 10_000))),
        LARGE_HEADERS_END,
    ),
    Animal(
        "endless-status-line",
        site(raw_route(b"HTTP/1.1 200 ", then=send_endlessly(b"x" * 64 * KIB))),
        LARGE_HEADERS_END,
    ),
    Animal(
        "endless-interim",
        site(raw_route(then=send_endlessly(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2000))),
        LARGE_HEADERS_END,
    ),
    Animal("endless-empty-lines", site(raw_route(then=send_endlessly(b"\r\n" * 10_000))), NOT_HTTP_END),
    Animal(
        "endless-robots",
        site(
            Answer(PAGE),
            **{
                "robots.txt": raw_route(
                    http_response("Content-Type: text/plain"),
                    then=send_endlessly(b"User-agent: *\nDisallow: /*a*b\n" * 999),
                )
            },
        ),
        only=SEO,
    ),
)

MALFORMED = (
    Animal(
        "wrong-chunk-size",
        site(raw_route(http_response("Transfer-Encoding: chunked", PLAIN, body=b"zz\r\nxx"))),
        failed_end("BAD_RESPONSE", "The response's chunks can't be understood."),
    ),
    Animal(
        "short-chunk-size",
        site(raw_route(http_response("Transfer-Encoding: chunked", PLAIN, body=b"3\r\n" + PAGE + b"\r\n0\r\n\r\n"))),
        failed_end("BAD_RESPONSE", "The response's chunks are longer than declared."),
    ),
    Animal(
        "huge-chunk-size",
        site(raw_route(http_response("Transfer-Encoding: chunked", PLAIN, body=b"FFFFFFFFFFFFFFFF\r\n" + PAGE))),
    ),
    Animal("longer-content-length", site(raw_route(http_response("Content-Length: 1000000", PLAIN, body=PAGE)))),
    Animal(
        "shorter-content-length",
        site(raw_route(http_response("Content-Length: 40", PLAIN, body=PAGE))),
        other_ends=EMPTY_ENDS,
    ),
    Animal("huge-content-length", site(raw_route(http_response(f"Content-Length: {'9' * 5000}", PLAIN, body=PAGE)))),
    Animal("negative-content-length", site(raw_route(http_response("Content-Length: -1", PLAIN, body=PAGE)))),
    Animal(
        "two-content-lengths",
        site(raw_route(http_response("Content-Length: 5", "Content-Length: 50", PLAIN, body=PAGE))),
        failed_end("BAD_RESPONSE", "The response names several different lengths."),
    ),
    Animal(
        "malformed-headers",
        site(raw_route(http_response("no colon", ": no name", " folded", "X Y: z", "Ünï: ü\r more", PLAIN, body=PAGE))),
    ),
    Animal(
        "nul-in-header",
        site(raw_route(http_response("X: a\0b", PLAIN, body=PAGE))),
        failed_end("BAD_RESPONSE", "The response's headers contain a NUL character."),
    ),
    Animal(
        "thousand-headers",
        site(raw_route(http_response(*_numbered_lines(1000, "X-Header-{}: value"), PLAIN, body=PAGE))),
    ),
    Animal(
        "thousands-of-cookies",
        site(raw_route(http_response(*_numbered_lines(3000, "Set-Cookie: c{}=1"), PLAIN, body=PAGE))),
    ),
    Animal(
        "100000-cookies",
        site(raw_route(http_response(*_numbered_lines(100_000, "Set-Cookie: c{}=1"), PLAIN))),
        LARGE_HEADERS_END,
    ),
    Animal(
        "10000-links",
        site(raw_route(http_response("Link: " + ", ".join(_numbered_lines(10_000, "</{}>; rel=canonical")), PLAIN))),
        LARGE_HEADERS_END,
    ),
    Animal(
        "thousands-of-links",
        site(
            raw_route(
                http_response("Link: " + ", ".join(_numbered_lines(2000, "</{}>; rel=canonical")), PLAIN, body=PAGE)
            )
        ),
    ),
    Animal(
        "unclosed-link",
        site(
            raw_route(http_response(f"Link: </>{'; rel=' * 9000}", 'Link: </>; a="' + '\\"' * 3000, PLAIN, body=PAGE))
        ),
    ),
    Animal(
        "policy-of-a-megabyte",
        site(raw_route(http_response("Content-Security-Policy: " + "a 'b';" * 180_000, PLAIN))),
        LARGE_HEADERS_END,
    ),
    Animal(
        "policy-of-60-kilobytes",
        site(
            raw_route(
                http_response("Content-Security-Policy: " + "".join(_numbered_lines(4000, "d{} *; ")), PLAIN, body=PAGE)
            )
        ),
    ),
    Animal(
        "headers-of-nonsense",
        page_factory(
            lambda: PAGE,
            ("Strict-Transport-Security", 'max-age="' + "\\" * 9000),
            ("X-Robots-Tag", "unavailable_after: " + "9" * 9000),
            ("Refresh", "0; url=" + "'" * 9000),
            ("Cache-Control", "max-age=" + "9" * 9000),
            ("Server", "/" * 9000 + "1"),
            ("Content-Type", "text/html" + "; charset" * 900 + "=" + "u" * 900),
        ),
    ),
    Animal(
        "interim-storm", site(raw_route(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 2000, http_response(PLAIN, body=PAGE)))
    ),
    Animal("not-http", site(raw_route(b"SSH-2.0-OpenSSH_9.6\r\n", b"\x00\x01\x02" * 100)), NOT_HTTP_END),
    Animal(
        "http2-frames",
        site(raw_route(HTTP2_SETTINGS)),
        failed_end("BAD_RESPONSE", "The server speaks only HTTP/2."),
    ),
    Animal("http2-preface", site(raw_route(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")), NOT_HTTP_END),
    Animal("status-of-five-digits", site(raw_route(b"HTTP/1.1 20000 OK\r\n\r\n")), NOT_HTTP_END),
)

BROKEN = (
    Animal("hang-up-before-the-answer", site(raw_route()), CLOSED_CONNECTION_END),
    Animal("reset-before-the-answer", site(raw_route(then=reset_connection)), CLOSED_CONNECTION_END),
    Animal(
        "reset-in-the-head",
        site(raw_route(b"HTTP/1.1 200 OK\r\nX: y", then=reset_connection)),
        TRUNCATED_HEADERS_END,
    ),
    Animal(
        "end-in-the-head",
        site(raw_route(b"HTTP/1.1 200 OK\r\nX: y")),
        TRUNCATED_HEADERS_END,
    ),
    Animal(
        "reset-in-the-body",
        site(raw_route(http_response("Content-Length: 1000000", PLAIN, body=PAGE), then=reset_connection)),
    ),
)

REDIRECTS = (
    Animal("redirect-to-itself", site(Answer.redirect("/")), failed_end("TOO_MANY_REDIRECTS", "redirects in a loop")),
    Animal(
        "redirect-circle",
        site(Answer.redirect("/a"), a=Answer.redirect("/b"), b=Answer.redirect("/")),
        failed_end("TOO_MANY_REDIRECTS", "redirects in a loop"),
    ),
    Animal(
        "endless-redirects", site(_numbered_redirect), failed_end("TOO_MANY_REDIRECTS", "redirects more than 10 times")
    ),
    Animal(
        "redirects-with-cookies",
        site(_cookie_redirect),
        failed_end("TOO_MANY_REDIRECTS", "redirects more than 10 times"),
    ),
    Animal(
        "redirect-to-metadata",
        site(Answer.redirect("http://169.254.169.254/latest/meta-data/")),
        failed_end("DOMAIN_BLOCKED", "169.254.169.254"),
    ),
    Animal("redirect-to-private", site(Answer.redirect("http://10.0.0.1/")), failed_end("DOMAIN_BLOCKED", "10.0.0.1")),
    Animal(
        "redirect-to-mapped",
        site(Answer.redirect("http://[::ffff:10.0.0.1]/")),
        failed_end("DOMAIN_BLOCKED", "not publicly accessible"),
    ),
    Animal(
        "redirect-to-decimal",
        site(Answer.redirect("http://2852039166/")),
        failed_end("DOMAIN_BLOCKED", "not publicly accessible"),
    ),
    Animal(
        "redirect-to-name", site(Answer.redirect("http://db.internal/")), failed_end("DOMAIN_BLOCKED", "db.internal")
    ),
    Animal("redirect-to-file", site(Answer.redirect("file:///etc/passwd")), BAD_LOCATION_END),
    Animal("redirect-to-script", site(Answer.redirect("javascript:alert(1)")), BAD_LOCATION_END),
    Animal("redirect-to-data", site(Answer.redirect("data:text/html,<h1>Hello")), BAD_LOCATION_END),
    Animal("redirect-to-gopher", site(Answer.redirect("gopher://127.0.0.1:6379/_FLUSHALL")), BAD_LOCATION_END),
    Animal("redirect-with-credentials", site(Answer.redirect("https://user:secret@127.0.0.1/")), BAD_LOCATION_END),
    Animal(
        "redirect-to-60-kilobytes",
        site(Answer.redirect("/" + "a" * 60 * KIB)),
        failed_end("TARGET_STATUS", "The page answers with status 404 Not Found"),
        {ScanType.SEO: COMPLETED},
    ),
)

ANIMALS = (*SLOW, *ENDLESS, *MALFORMED, *BROKEN, *REDIRECTS)
