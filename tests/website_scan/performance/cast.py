"""Build resources, fonts and styles for performance tests."""

from __future__ import annotations

import hashlib

from msgspec.structs import replace

from tests.website_scan.cast import document, page
from website_scan.net.http.response import Headers
from website_scan.outcomes import Fault, Verdict
from website_scan.page.image_headers import ImageFormat, ImageHeader
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import FontFace, Resource, Resources, Styles
from website_scan.performance.probes.styles import styles

HERE = "https://site.example.com"
OTHER = "https://cdn.example.org"


def resource(
    url: str = f"{HERE}/a.js",
    kind: ResourceKind = ResourceKind.SCRIPT,
    body: bytes = b"run()",
    *headers: tuple[str, str],
    wire: int | None = None,
    eager: bool = True,
    status: int | None = 200,
    picture: ImageHeader | None = None,
    header_bytes: int = 300,
    http_version: str = "1.1",
) -> Resource:
    """Return a loaded resource.

    `wire` is its number of bytes on the wire, by default the size of its body.
    """
    size = len(body) if wire is None else wire
    return Resource(
        url,
        kind,
        eager,
        1,
        status,
        wire_bytes=size,
        last_response_wire_bytes=size,
        body_bytes=len(body),
        header_bytes=header_bytes,
        http_version=http_version,
        headers=Headers(headers),
        body=body,
        body_sha256=hashlib.sha256(body).hexdigest(),
        final_url=url,
        picture=picture,
    )


def image(size: int, format: ImageFormat, width: int = 100, height: int = 100, *, animated: bool = False) -> Resource:
    picture = ImageHeader(format, width, height, animated)
    return resource(f"{HERE}/a.{format.lower()}", ResourceKind.IMAGE, b"", wire=size, picture=picture)


def font(name: str, size: int = 20_000, signature: bytes = b"wOF2", *, eager: bool = False) -> Resource:
    return resource(f"{HERE}/{name}", ResourceKind.FONT, signature + b"\0" * 9, wire=size, eager=eager)


def face(family: str, name: str, display: str = "swap") -> FontFace:
    return FontFace(family, f"{HERE}/{name}", display)


def resources_of(*items: Resource) -> Resources:
    return Resources(items)


def sheet(css: str, url: str = f"{HERE}/css/a.css", *, eager: bool = True) -> Resource:
    return resource(url, ResourceKind.STYLESHEET, css.encode(), eager=eager)


def styles_of(css: str, markup: str = "<p>Text") -> Styles:
    """Return the style probe's result for one style sheet."""
    return styles(document(page(markup)), resources_of(sheet(css)))


def resource_with_url(file: Resource, url: str) -> Resource:
    """Return the same resource with another URL."""
    return replace(file, url=url, final_url=url)


def labels(finding: Verdict) -> list[str]:
    """Return the place labels of a finding, as its message lists them."""
    assert isinstance(finding, Fault)
    return [place.label for place in finding.places]
