"""Render docs/*.md to HTML.

Raw HTML is escaped, only URLs from the resolver become links, and only files in static/img/ become pictures.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape

from django.conf import settings
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from documentation.pictures import picture, with_markdown_images

HEADING = re.compile(r"^(#{1,3}) (.+)$")
FENCE = re.compile(r"^(```+)")
COMMENT = re.compile(r"^<!--(?:(?!<!--).)*?-->\n", re.MULTILINE | re.DOTALL)
# Characters that GitHub removes from a heading's anchor. The same anchors make links between the documents work.
NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")
# Placeholder in the documents for the URL of the reader's installation.
EXAMPLE_ORIGIN = "http://localhost:8000"
# Table cell that contains only an error code.
CODE = re.compile(r"[A-Z][A-Z_]{3,40}")

Resolve = Callable[[str], str | None]


class Chunk(Struct, frozen=True):
    """A heading and the text up to the next heading.

    `section` is the second-level heading above it.
    """

    level: int
    title: str
    section: str
    text: str

    @property
    def anchor(self) -> str:
        return anchor_of(self.title)


class Heading(Struct, frozen=True):
    """A heading in a rendered document, for its table of contents."""

    level: int
    title: str
    anchor: str


def anchor_of(title: str) -> str:
    """Return the anchor that GitHub generates for a heading."""
    return NOT_IN_ANCHORS.sub("", title.lower()).replace(" ", "-")


@functools.cache
def chunks(document: str) -> tuple[Chunk, ...]:
    """Return the chunks in a document, such as "api.md".

    The first chunk is the text below the title.
    """
    text = COMMENT.sub("", (settings.BASE_DIR / "docs" / document).read_text(encoding="utf-8"))
    return tuple(_chunks(with_markdown_images(text)))


def _chunks(text: str) -> Iterator[Chunk]:
    level, title, section = 1, "", ""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        if opened := FENCE.match(line):
            fence = "" if fence else opened[1]
        heading = None if fence else HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        if title:
            yield Chunk(level, title, section, "\n".join(lines))
        level, title, lines = len(heading[1]), heading[2], []
        section = title if level < 3 else section
    yield Chunk(level, title, section, "\n".join(lines))


def render(parts: Sequence[Chunk], resolve: Resolve) -> tuple[SafeString, tuple[Heading, ...]]:
    """Return these chunks as HTML, and their headings.

    `resolve` maps a link's target to a URL, or to None, which leaves only the link's text. The document's title is not
    rendered, because the page has its own title.
    """
    text = "\n".join(
        f"{'#' * chunk.level} {chunk.title}\n{chunk.text}" if chunk.level > 1 else chunk.text for chunk in parts
    )
    tokens = _markdown().parse(text.replace(EXAMPLE_ORIGIN, settings.BASE_URL))
    headings = tuple(_add_attributes(tokens, resolve))
    html = _markdown().renderer.render(tokens, _markdown().options, {})
    return SafeString(html), headings


def inline(text: str, resolve: Resolve) -> SafeString:
    """Render a line of Markdown with code, emphasis and links."""
    tokens = _markdown().parseInline(text)
    list(_add_attributes(tokens, resolve))
    return SafeString(_markdown().renderer.render(tokens, _markdown().options, {}))


def _add_attributes(tokens: list[Token], resolve: Resolve) -> Iterator[Heading]:
    """Add anchors, link URLs and table attributes to the tokens in place.

    Yield the headings.
    """
    ids: set[str] = set()
    heads: list[str] = []
    column = blocks = 0
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else token
        if token.type == "heading_open":
            title = "".join(child.content for child in following.children or ())
            anchor = anchor_of(title)
            token.attrSet("id", anchor)
            ids.add(anchor)
            yield Heading(int(token.tag[1]), title, anchor)
        elif token.type == "fence":
            blocks += 1
            token.meta["id"] = f"code-{blocks}"
        elif token.type == "table_open":
            heads = []
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            heads.append("".join(child.content for child in following.children or ()))
            if following.content:
                token.attrSet("scope", "col")
            else:
                # A header cell without text becomes a normal cell.
                token.tag = tokens[index + 2].tag = "td"
        elif token.type == "td_open":
            # The label is the column's header, for narrow screens, where each cell is on a separate line.
            if column and len(heads) > 2:
                token.attrSet("data-label", heads[column])
            column += 1
            code = following.content.strip("`")
            if following.content != code and CODE.fullmatch(code) and code not in ids:
                token.attrSet("id", code)
                ids.add(code)
        if token.children:
            token.children = list(_resolve_links(token.children, resolve))


def _resolve_links(children: Sequence[Token], resolve: Resolve) -> Iterator[Token]:
    is_removed = False
    for child in children:
        if child.type == "link_open":
            target = resolve(str(child.attrGet("href")))
            is_removed = target is None
            if is_removed:
                continue
            child.attrSet("href", str(target))
            if str(target).startswith("http"):
                child.attrSet("rel", "noopener noreferrer")
        elif child.type == "link_close" and is_removed:
            is_removed = False
            continue
        yield child


@functools.cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", lambda *_: '<table class="rows">\n')
    parser.add_render_rule("image", _image)
    return parser


def _fence(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    return code_block(tokens[index].content, str(tokens[index].meta["id"]))


def _image(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    return picture(str(tokens[index].attrGet("src")), tokens[index].content)


def code_block(text: str, id: str) -> SafeString:
    """Return a code block with a copy button, which works through static/js/site.js."""
    return SafeString(
        f'<div class="code"><button class="copy" type="button" data-copy="{escape(id)}">Copy</button>'
        f'<pre class="terminal" tabindex="0"><code id="{escape(id)}">{escape(text.rstrip())}</code></pre></div>\n'
    )
