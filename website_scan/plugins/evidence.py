"""Evidence for the checks and probes of plug-ins.

These classes are a stable interface. Their objects exist only in the process of the plug-in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import force_setattr

from website_scan.messages import excerpt
from website_scan.net.http.response import Headers
from website_scan.places import Element

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_SNIPPET_LENGTH = 200
MAX_PATH_ELEMENTS = 64
NO_HEADERS = Headers()


class Page(Struct, frozen=True, dict=True):
    """The page as the server sent it, after all redirects.

    `requested_url` is the address before redirects, by default `url`. `body` is decompressed, at most 10 MiB;
    `is_truncated` is True if the server sent more.
    """

    url: str
    requested_url: str = ""
    status: int = 200
    headers: Headers = NO_HEADERS
    body: bytes = b""
    encoding: str = "utf-8"
    is_truncated: bool = False

    def __post_init__(self) -> None:
        if not self.requested_url:
            force_setattr(self, "requested_url", self.url)

    @cached_property
    def text(self) -> str:
        """Return the decoded body."""
        try:
            return self.body.decode(self.encoding, "replace")
        except LookupError:  # Python lacks a few encodings of the web.
            return self.body.decode("utf-8", "replace")


class Node:
    """HTML element of a document, which `Document.select` returns. It is no place of a finding; `place` returns one."""

    def __init__(self, node: LexborNode) -> None:
        self._node = node

    @property
    def tag(self) -> str:
        """Return the name of the element in lower case."""
        return self._node.tag or ""

    @property
    def text(self) -> str:
        """Return the text of the element and its descendants, with single spaces."""
        return " ".join(self._node.text(separator=" ").split())

    @property
    def html(self) -> str:
        return self._node.html or ""

    @property
    def attributes(self) -> Mapping[str, str]:
        """Return the attributes; the value of one without a value is empty."""
        return {name: value or "" for name, value in self._node.attributes.items()}

    def get(self, attribute: str) -> str | None:
        """Return an attribute's value, or None if the element does not have it."""
        return self.attributes.get(attribute)

    def select(self, selector: str) -> list[Node]:
        """Return the descendants that match a CSS selector, in document order."""
        return _unique(self._node.css(selector))

    def place(self, why: str | None = None) -> Element:
        """Return the element as a place of a finding; `why` says what is wrong with it."""
        tag = (self._node.html or "").partition(">")[0]
        return Element(_path(self._node), excerpt(f"{tag}>", MAX_SNIPPET_LENGTH), why)


def _unique(nodes: list[LexborNode]) -> list[Node]:
    # A selector list returns an element once for each matching selector.
    return [Node(node) for node in {node.mem_id: node for node in nodes}.values()]


def _path(node: LexborNode) -> str:
    """Return a CSS selector of the element: its ancestors up to one with an ID."""
    steps: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.is_element_node and len(steps) < MAX_PATH_ELEMENTS:
        tag = current.tag or "*"
        if (id := current.attributes.get("id")) and id.isidentifier():
            steps.append(f"{tag}#{id}")
            break
        steps.append(tag + _position(current, tag))
        current = current.parent
    return " > ".join(reversed(steps))


def _position(node: LexborNode, tag: str) -> str:
    """Return `:nth-of-type(n)`, or an empty string for the first element of its type."""
    number, sibling = 1, node.prev
    while sibling is not None:
        number += sibling.tag == tag
        sibling = sibling.prev
    return f":nth-of-type({number})" if number > 1 else ""


class Document:
    """Parsed HTML of the page as sent, as in a browser that runs scripts. Only for HTML pages."""

    def __init__(self, markup: str) -> None:
        self.markup = markup

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """Return the tree of the parser selectolax, for what `select` cannot do."""
        from selectolax.lexbor import LexborHTMLParser  # Hosts without a check of documents need no parser.

        return LexborHTMLParser(self.markup, scripting=True)

    def select(self, selector: str) -> list[Node]:
        """Return the elements that match a CSS selector, in document order."""
        return _unique(self.tree.css(selector))


class RenderedPage(Document):
    """Document after its scripts have run. Needs a browser, so security checks cannot use it."""


class PageRequest(Struct, frozen=True):
    """Request of the browser.

    `kind` is document, script, stylesheet, image, font, media, icon or other. `bytes` are the transferred bytes.
    `status` is None without an answer.
    """

    url: str
    kind: str
    bytes: int
    status: int | None
    is_third_party: bool


class Requests(Struct, frozen=True):
    """Requests of the browser that loaded the page. Needs a browser, so security checks cannot use it."""

    items: tuple[PageRequest, ...]

    def __iter__(self) -> Iterator[PageRequest]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class NetworkError(Exception):
    """Raised by `Network` if there is no answer, or if the scan may not send the request.

    `code` is the error code of the API, such as BLOCKED.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Answer(Struct, frozen=True, dict=True):
    """Answer to a request of a probe, after redirects."""

    url: str
    status: int = 200
    headers: Headers = NO_HEADERS
    body: bytes = b""

    @cached_property
    def text(self) -> str:
        """Return the body decoded as UTF-8."""
        return self.body.decode("utf-8", "replace")


class Network:
    """Guarded network of the scan, for probes.

    All probes of a plug-in together may send 20 requests for a page and receive 5 MiB. Requests have no cookies and no
    credentials. Addresses that the scan may not reach raise NetworkError, like sites that do not answer.

    Tests make a network from functions: `get(url)` returns an Answer, and `records(name, type)` DNS records.
    """

    def __init__(
        self,
        get: Callable[[str], Answer],
        records: Callable[[str, str], tuple[str, ...]] = lambda _name, _type: (),
    ) -> None:
        self._get = get
        self._records = records

    def get(self, url: str) -> Answer:
        """Return the answer to a GET request. Raises NetworkError."""
        return self._get(url)

    def records(self, name: str, type: str) -> tuple[str, ...]:
        """Return DNS records such as TXT as text; empty if there are none. Raises NetworkError."""
        return self._records(name, type)
