from __future__ import annotations

import re
import time

import pytest

from website_scan.net.http.response import Headers, Response
from website_scan.page.soft_404 import media_type, resembles, siblings
from website_scan.security.sensitive_files import files_of

PATHS = [file.path for files in files_of("shop.example.com").values() for file in files]


def answer(body: str | bytes, kind: str = "text/html", status: int = 200) -> Response:
    raw = body if isinstance(body, bytes) else body.encode()
    return Response("https://site.example.com/", status, Headers((("Content-Type", kind),)), raw)


@pytest.mark.parametrize(
    ("path", "near", "far"),
    [
        ("/.env", r"/\.env-\w{6}", r"/\.\w{24}"),
        ("/.env.local", r"/\.env-\w{6}\.local", r"/\.\w{24}\.local"),
        ("/.git/config", r"/\.git/config-\w{6}", r"/\.\w{24}/config"),
        ("/backup.tar.gz", r"/backup-\w{6}\.tar\.gz", r"/\w{24}\.tar\.gz"),
        ("/wp-config.php~", r"/wp-config-\w{6}\.php~", r"/\w{24}\.php~"),
        ("/id_rsa", r"/id_rsa-\w{6}", r"/\w{24}"),
        ("/v2/api-docs", r"/v2/api-docs-\w{6}", r"/\w{24}/api-docs"),
        ("/graphql?query=%7B", r"/graphql-\w{6}\?query=%7B", r"/\w{24}\?query=%7B"),
    ],
)
def test_sibling_paths_are_in_same_folder(path: str, near: str, far: str) -> None:
    first, second = siblings(path)
    assert re.fullmatch(near, first)
    assert re.fullmatch(far, second)


@pytest.mark.parametrize("path", PATHS)
def test_sibling_paths_are_random(path: str) -> None:
    first, second = siblings(path)
    assert len({len(path), len(first), len(second)}) == 3
    assert {first, second}.isdisjoint(siblings(path))
    assert first not in PATHS


TEMPLATE = "<html><title>Shop</title><body><h1>Sorry</h1><p>There is nothing at {path}</p>{more}</body></html>"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (answer("a"), answer("a"), True),
        (answer(""), answer(""), True),
        (answer("a"), answer("a", status=404), False),
        (answer("a"), answer("a", kind="text/plain"), False),
        (answer("a", kind="text/html; charset=utf-8"), answer("a", kind="Text/HTML"), True),
        (answer("one two three"), answer("four five six"), False),
        (answer("one two three" * 9), answer("one two three" * 900), False),
        (answer(TEMPLATE.format(path="/.env", more="")), answer(TEMPLATE.format(path="/x/y%20z", more="")), True),
        (answer(TEMPLATE.format(path="%2F.env", more="")), answer(TEMPLATE.format(path="%2Fx%2Fy%20z", more="")), True),
        (
            answer(TEMPLATE.format(path="", more='<script nonce="aG91c2UgMTIz9A==">2026-11-20T10:00:00Z')),
            answer(TEMPLATE.format(path="", more='<script nonce="Zm9vIGJhciBiYXo7">2026-11-21T11:12:13Z')),
            True,
        ),
        (
            answer(TEMPLATE.format(path="", more="Fri, 20 Nov 2026 10:00:00 GMT, request 17")),
            answer(TEMPLATE.format(path="", more="Sat, 21 Nov 2026 11:00:00 GMT, request 4711")),
            True,
        ),
        (answer(b"\x00\x01" * 50, "image/png"), answer(b"\x00\x01" * 50, "image/png"), True),
        (answer(b"PK\x03\x04" + b"\x01" * 900, "a/b"), answer(b"\x1f\x8b\x08" + b"\x02" * 10, "a/b"), False),
    ],
)
def test_soft_404_is_recognized_by_response(first: Response, second: Response, expected: bool) -> None:
    assert resembles(first, "/.env", second, "/x/y%20z") is expected
    assert resembles(second, "/x/y%20z", first, "/.env") is expected


def test_last_media_type_counts() -> None:
    assert media_type(answer("", "text/plain, Application/JSON; charset=utf-8")) == "application/json"
    assert media_type(Response("https://site.example.com/", 200, Headers())) == ""


@pytest.mark.parametrize("body", [b"a1" * 65536, b" " * 131072, b"2026-" * 20000, b"/.env" * 20000])
def test_hostile_bodies_are_compared_within_a_second(body: bytes) -> None:
    began = time.perf_counter()
    resembles(answer(body), "/.env", answer(body + b"x", status=200), "/.x")
    resembles(answer(b"y" + body), "/.env", answer(b"z" + body), "/.x")
    assert time.perf_counter() - began < 1.0
