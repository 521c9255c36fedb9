"""Find a page's requests over plain HTTP.

W3C Mixed Content, section 3; HTML, "form submission".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.browser.evidence import MixedRequest
from website_scan.page.css import style_images, style_references
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, enclosing, is_plaintext, live, resolve
from website_scan.page.references import Reading, candidates
from website_scan.urls import Url


class InsecureResource(Struct, frozen=True):
    """Resource over plain HTTP.

    `passive` resources are images, audio and video. Browsers block all others.
    """

    element: str
    url: str
    passive: bool


class InsecureForm(Struct, frozen=True):
    action: str
    password: bool


# Selectors and attributes of elements that load a resource. The third value is True for passive content. Browsers block
# images of `srcset` instead of loading them over HTTPS.
SOURCES = (
    ("script", "src", False),
    ("iframe", "src", False),
    ("frame", "src", False),
    ("embed", "src", False),
    ("object", "data", False),
    ("track", "src", False),
    ("img", "src", True),
    ("audio", "src", True),
    ("video", "src", True),
    ("video", "poster", True),
    ("audio > source, video > source", "src", True),
    ("input[type=image i]", "src", True),
    ("image", "href", True),
    ("image", "xlink:href", True),
    ("use", "href", False),
    ("use", "xlink:href", False),
)
MAX_REFERENCES = 20_000
MAX_SRCSET_CHARACTERS = 64 * 1024
SRCSET_ATTRIBUTES = (("img", "srcset"), ("picture > source", "srcset"), ("link[rel~=preload i]", "imagesrcset"))
# Link relations that make browsers fetch a resource. All other relations are mere links.
ACTIVE_RELATIONS = frozenset({"stylesheet", "manifest", "modulepreload"})
PASSIVE_RELATIONS = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"})
PASSIVE_DESTINATIONS = frozenset({"image", "audio", "video"})
JAVASCRIPT_TYPE_WORDS = ("javascript", "ecmascript", "jscript", "livescript")


def insecure_resources(document: Document) -> list[InsecureResource]:
    """Return the resources that the markup loads over plain HTTP.

    Active resources come first.
    """
    resources = [
        InsecureResource(element, url, passive)
        for element, reference, passive in itertools.islice(_iterate_references(document), MAX_REFERENCES)
        if (url := _plaintext_url(document, reference)) is not None
    ]
    return sorted(resources, key=lambda resource: resource.passive)


def add_seen_requests(
    resources: Sequence[InsecureResource], requests: Sequence[MixedRequest]
) -> list[InsecureResource]:
    """Add resources that only the browser saw.

    These are imports of style sheets and inserted scripts, for example.

    Browsers load passive resources over HTTPS instead of plain HTTP, and block all others.
    """
    known = {resource.url for resource in resources}
    added = [
        InsecureResource(request.kind, request.url, passive=not request.is_blocked)
        for request in requests
        if request.url not in known
    ]
    return sorted([*resources, *added], key=lambda resource: resource.passive)


def insecure_forms(document: Document, address: str) -> list[InsecureForm]:
    """Return the forms that submit over plain HTTP.

    The action or a button's formaction decides.

    `address` is the document's URL, to which a form without an action submits. Loopback URLs such as http://localhost
    are insecure only if the document itself came over plain HTTP.
    """
    fields: dict[int | str, list[LexborNode]] = {}
    for field in live(document, "input, button"):
        owner = attribute(field, "form")
        if owner is not None:
            fields.setdefault(owner, []).append(field)
        elif (enclosing_form := enclosing(field, "form")) is not None:
            fields.setdefault(enclosing_form.mem_id, []).append(field)
    insecure = []
    for form in live(document, "form"):
        form_fields = fields.get(form.mem_id, []) + fields.get(attribute(form, "id") or "", [])
        for action in _iterate_submit_urls(form, form_fields, address):
            url = resolve(document, action)
            if url is not None and _is_insecure_url(url, address):
                insecure.append(InsecureForm(url.href, any(_is_password_field(field) for field in form_fields)))
                break
    return insecure


def _is_insecure_url(url: Url, address: str) -> bool:
    if address.startswith("http:"):
        return url.scheme == "http"
    return is_plaintext(url)


def has_password_field(document: Document) -> bool:
    return any(True for _ in live(document, "input[type=password i]"))


def _iterate_references(document: Document) -> Iterator[tuple[str, str, bool]]:
    for selector, name, passive in SOURCES:
        for node in live(document, selector):
            value = attribute(node, name)
            if value is not None and value.strip() and _is_fetched_by_browsers(node):
                # Browsers block insecure requests with CORS (`crossorigin`) instead of upgrading them.
                yield node.tag or "", value, passive and attribute(node, "crossorigin") is None
    for selector, name in SRCSET_ATTRIBUTES:
        for node in live(document, selector):
            for candidate, _ in candidates((attribute(node, name) or "")[:MAX_SRCSET_CHARACTERS]):
                yield node.tag or "", candidate, False
    for node in live(document, "link[rel][href]"):
        is_passive = _is_passive_link(node)
        if is_passive is not None:
            yield "link", attribute(node, "href") or "", is_passive
    yield from _iterate_style_references(document)


def _iterate_style_references(document: Document) -> Iterator[tuple[str, str, bool]]:
    """Yield the URLs in `<style>` elements and `style` attributes.

    CSS images are passive, like `<img>`.
    """
    reading = Reading()
    for node in live(document, "style"):
        references = style_references(reading.take(node.text()), reading.allowance)
        yield from (("style", address, False) for address in (*references.imports, *references.fonts))
        yield from (("style", address, True) for address in references.images)
    for node in live(document, "[style]"):
        for address in style_images(reading.take(attribute(node, "style"))):
            yield node.tag or "", address, True


def _is_fetched_by_browsers(node: LexborNode) -> bool:
    """Return False for a script with a type that browsers do not fetch.

    HTML, "prepare the script element".
    """
    if node.tag != "script":
        return True
    kind = (attribute(node, "type") or "").strip().lower()
    return kind in ("", "module") or any(name in kind for name in JAVASCRIPT_TYPE_WORDS)


def _is_passive_link(node: LexborNode) -> bool | None:
    """Return True if a link element loads passive content.

    False if active content, None if nothing.
    """
    relations = frozenset((attribute(node, "rel") or "").lower().split())
    if "stylesheet" in relations and attribute(node, "disabled") is None:
        return False
    if relations & (ACTIVE_RELATIONS - {"stylesheet"}):
        return False
    if "preload" in relations:
        destination = (attribute(node, "as") or "").strip().lower()
        if not destination:
            return None  # Browsers ignore a preload link without a destination.
        return destination in PASSIVE_DESTINATIONS and attribute(node, "crossorigin") is None
    return True if relations & PASSIVE_RELATIONS else None


def _iterate_submit_urls(form: LexborNode, fields: Sequence[LexborNode], address: str) -> Iterator[str]:
    """Yield the URLs to which a form may submit.

    A form with method=dialog submits only by buttons with formaction.
    """
    if (attribute(form, "method") or "").strip().lower() != "dialog":
        yield (attribute(form, "action") or "").strip() or address
    for button in fields:
        action = (attribute(button, "formaction") or "").strip()
        kind = (attribute(button, "type") or ("submit" if button.tag == "button" else "")).lower()
        if action and kind in ("submit", "image"):
            yield action


def _is_password_field(field: LexborNode) -> bool:
    return field.tag == "input" and (attribute(field, "type") or "").strip().lower() == "password"


def _plaintext_url(document: Document, reference: str) -> str | None:
    url = resolve(document, reference)
    return url.href if url is not None and is_plaintext(url) else None
