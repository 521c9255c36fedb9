"""Rendering of docs/*.md to HTML. Raw HTML is escaped, and only addresses from the resolver become links."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from django.conf import settings
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token

HEADING = re.compile(r"^(#{1,3}) (.+)$")
FENCE = re.compile(r"^(```+)")
COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)
# Characters that GitHub leaves out of a heading's anchor. With the same anchors, links between the documents work here.
NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")
# The documents' placeholder for the reader's own installation.
EXAMPLE_ORIGIN = "http://localhost:8000"
# A table cell with nothing but an error code.
CODE = re.compile(r"[A-Z][A-Z_]{3,40}")

Resolve = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A heading of a document with the text up to the next heading. `section` is the second-level heading above it."""

    level: int
    title: str
    section: str
    text: str

    @property
    def anchor(self) -> str:
        return anchor_of(self.title)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a rendered document, for its table of contents."""

    level: int
    title: str
    anchor: str


def anchor_of(title: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return NOT_IN_ANCHORS.sub("", title.lower()).replace(" ", "-")


@functools.cache
def chunks(document: str) -> tuple[Chunk, ...]:
    """Return the chunks of a document of docs/, such as "api.md". The first one is the text below its title."""
    text = COMMENT.sub("", (settings.BASE_DIR / "docs" / document).read_text(encoding="utf-8"))
    return tuple(_chunks(text))


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
    """Return the HTML of these chunks, and their headings.

    `resolve` maps a link's target to an address, or to None: then only the link's text stays. The document's title is
    left out, because the page has its own.
    """
    text = "\n".join(f"{'#' * each.level} {each.title}\n{each.text}" if each.level > 1 else each.text for each in parts)
    tokens = _markdown().parse(text.replace(EXAMPLE_ORIGIN, settings.BASE_URL))
    headings = tuple(_prepared(tokens, resolve))
    html = _markdown().renderer.render(tokens, _markdown().options, {})
    return SafeString(html), headings


def inline(text: str, resolve: Resolve) -> SafeString:
    """Render a line of Markdown with code, emphasis and links."""
    tokens = _markdown().parseInline(text)
    list(_prepared(tokens, resolve))
    return SafeString(_markdown().renderer.render(tokens, _markdown().options, {}))


def _prepared(tokens: list[Token], resolve: Resolve) -> Iterator[Heading]:
    """Add anchors, links and table heads to the tokens in place. Yields the headings."""
    taken: set[str] = set()
    heads: list[str] = []
    column = blocks = 0
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else token
        if token.type == "heading_open":
            title = "".join(each.content for each in following.children or ())
            anchor = anchor_of(title)
            token.attrSet("id", anchor)
            taken.add(anchor)
            yield Heading(int(token.tag[1]), title, anchor)
        elif token.type == "fence":
            blocks += 1
            token.meta["id"] = f"code-{blocks}"
        elif token.type == "table_open":
            heads = []
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            heads.append("".join(each.content for each in following.children or ()))
            if following.content:
                token.attrSet("scope", "col")
            else:
                # A table head without text must not be a heading.
                token.tag = tokens[index + 2].tag = "td"
        elif token.type == "td_open":
            # The head of its column, for narrow screens, where each cell has a line of its own.
            if column and len(heads) > 2:
                token.attrSet("data-label", heads[column])
            column += 1
            code = following.content.strip("`")
            if following.content != code and CODE.fullmatch(code) and code not in taken:
                token.attrSet("id", code)
                taken.add(code)
        if token.children:
            token.children = list(_linked(token.children, resolve))


def _linked(children: Sequence[Token], resolve: Resolve) -> Iterator[Token]:
    dropped = False
    for child in children:
        if child.type == "link_open":
            target = resolve(str(child.attrGet("href")))
            dropped = target is None
            if dropped:
                continue
            child.attrSet("href", str(target))
            if str(target).startswith("http"):
                child.attrSet("rel", "noopener noreferrer")
        elif child.type == "link_close" and dropped:
            dropped = False
            continue
        yield child


@functools.cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.add_render_rule("fence", _fence)
    made.add_render_rule("table_open", lambda *_: '<table class="rows">\n')
    return made


def _fence(_renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    return code_block(tokens[index].content, str(tokens[index].meta["id"]))


def code_block(text: str, id: str) -> SafeString:
    """Return a code block with a copy button, which works through static/js/site.js."""
    return SafeString(
        f'<div class="code"><button class="copy" type="button" data-copy="{escape(id)}">Copy</button>'
        f'<pre class="terminal" tabindex="0"><code id="{escape(id)}">{escape(text.rstrip())}</code></pre></div>\n'
    )
