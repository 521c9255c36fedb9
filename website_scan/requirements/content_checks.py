"""Functions of checks for own requirements about a page's headers, text, elements, links and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from website_scan.accessibility.verdicts import places
from website_scan.accessibility.wcag import BEST_PRACTICE
from website_scan.crawl.robots import pattern_matches
from website_scan.outcomes import Fail, Pass, Verdict, Warn, set_values
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live, resolve
from website_scan.places import Header
from website_scan.requirements.files import OwnFiles
from website_scan.requirements.model import ElementRule, FileRule, HeaderRule, LinkRule, TextRule
from website_scan.requirements.seen_page import SeenPage, SeenText
from website_scan.requirements.selection import select
from website_scan.requirements.selectors import parse_selector
from website_scan.values import Address, Code, Count, Excerpt, Value

# The value of a cookie may be a secret of the visit.
COOKIE_VALUE = re.compile(r"^([^=;]*=)[^;]*")
MAX_QUOTED_CHARACTERS = 120


class Texts(NamedTuple):
    """Summary and fix of a finding: templates with the same values."""

    summary: str
    fix: str


def header_check(rule: HeaderRule) -> Callable[..., Verdict]:
    def judge(page: Page) -> Verdict:
        sent = page.headers.all(rule.header)
        shown = [_without_cookie_value(rule.header, value) for value in sent]
        matching = [text for text, value in zip(shown, sent, strict=True) if _is_expected(rule, value)]
        if not matching and sent and _is_expected(rule, ", ".join(sent)):
            matching = shown
        name, expected = Code(rule.header), Code(rule.equals or rule.matches or "", MAX_QUOTED_CHARACTERS)
        if rule.absent:
            return _judge_absent_header(name, matching, has_value=bool(expected.value))
        if matching:
            value = Code(matching[0], MAX_QUOTED_CHARACTERS)
            return Pass("The page sends the header {header}: {value}.", header=name, value=value)
        values: dict[str, Value] = {"header": name}
        fix = "Send the header `{header}`."
        if expected.value:
            fix = "Send the header `{header}: {expected}`."
            values["expected"] = expected
        if rule.matches:
            fix = "Send the header `{header}` with a value like `{expected}`, where `*` stands for any characters."
        if not shown:
            return set_values(Fail("missing", "The page sends no header {header}.", fix=fix), values)
        summary = "The header {header} is {value}, but should be {expected}."
        found = Fail("different", summary, places=Header.of(rule.header, shown), fix=fix)
        return set_values(found, values | {"value": Code(shown[0], MAX_QUOTED_CHARACTERS)})

    return judge


def _judge_absent_header(header: Code, values: Sequence[str], *, has_value: bool) -> Verdict:
    suffix = " with this value" if has_value else ""
    if not values:
        return Pass(f"The page sends no header {{header}}{suffix}.", header=header)
    return Fail(
        "present",
        "The page sends the header {header}: {value}.",
        places=Header.of(header.value, values),
        fix=f"Do not send the header `{{header}}`{suffix}.",
        header=header,
        value=Code(values[0], MAX_QUOTED_CHARACTERS),
    )


def _is_expected(rule: HeaderRule, value: str) -> bool:
    """Return True if the value is as in the rule. Case and white space around it do not matter."""
    text = value.strip().casefold()
    if rule.equals is not None:
        return text == rule.equals.casefold()
    return rule.matches is None or matches(rule.matches.casefold(), text)


def _without_cookie_value(header: str, value: str) -> str:
    """Return the value of a header without the secret of a cookie."""
    return COOKIE_VALUE.sub(r"\1…", value) if header.lower() == "set-cookie" else value


def text_check(rule: TextRule) -> Callable[..., Verdict]:
    pattern = _plain_text(f"*{rule.text}*")

    def judge(seen: SeenText) -> Verdict:
        quoted = Excerpt(rule.text, MAX_QUOTED_CHARACTERS)
        is_there = matches(pattern, _plain_text(seen.text))
        if is_there and rule.absent:
            return Fail("present", "The page shows “{text}”.", fix="Remove this text from the page.", text=quoted)
        if is_there or rule.absent:
            return Pass(f"The page {'shows' if is_there else 'does not show'} “{{text}}”.", text=quoted)
        texts = Texts("The page does not show “{text}”", "Show this text on the page.")
        return _missing(seen.page, texts, text=quoted)

    return judge


def _plain_text(text: str) -> str:
    return re.sub(r"\s+", " ", text).casefold()


def element_check(rule: ElementRule) -> Callable[..., Verdict]:
    selectors = parse_selector(rule.element)

    def judge(seen: SeenPage) -> Verdict:
        elements = select(seen.document.tree, selectors)
        selector = Code(rule.element, MAX_QUOTED_CHARACTERS)
        count = Count(len(elements), "element")
        if rule.absent and elements:
            return Fail(
                "present",
                "The page has {elements} that {elements:matches|match} {selector}.",
                places=places(elements, BEST_PRACTICE),
                total=len(elements),
                fix="Remove what matches `{selector}`.",
                elements=count,
                selector=selector,
            )
        if rule.absent:
            return Pass("No element of the page matches {selector}.", selector=selector)
        if elements:
            summary = "The page has {elements} that {elements:matches|match} {selector}."
            return Pass(summary, elements=count, selector=selector)
        texts = Texts("No element of the page matches {selector}", "Add an element that matches `{selector}`.")
        return _missing(seen, texts, selector=selector)

    return judge


def link_check(rule: LinkRule) -> Callable[..., Verdict]:
    def judge(page: Page, seen: SeenPage) -> Verdict:
        links = [node for node in _links(seen.document) if _leads_to(rule.link, node, seen.document, page)]
        address = Address(rule.link, MAX_QUOTED_CHARACTERS)
        if rule.absent and links:
            return Fail(
                "present",
                "The page has {links} to {address}.",
                places=places(links, BEST_PRACTICE),
                total=len(links),
                fix="Remove the links to this address.",
                links=Count(len(links), "link"),
                address=address,
            )
        if rule.absent or links:
            return Pass(f"The page {'links' if links else 'does not link'} to {{address}}.", address=address)
        texts = Texts("The page does not link to {address}", "Link to this address, for example in the footer.")
        return _missing(seen, texts, address=address)

    return judge


def _links(document: Document) -> Iterator[LexborNode]:
    yield from live(document, "a[href]")
    yield from live(document, "area[href]")


def _leads_to(pattern: str, node: LexborNode, document: Document, page: Page) -> bool:
    return any(matches(pattern, address) for address in _addresses(node, document, page))


def _addresses(node: LexborNode, document: Document, page: Page) -> Iterable[str]:
    """Return the forms of a link's address that a rule may have: as written, whole, and on the site its path."""
    written = (attribute(node, "href") or "").strip()
    url = resolve(document, written)
    if url is None:
        return [written]
    addresses = [written, url.href, url.without_fragment]
    if url.is_http and url.origin == page.target.origin:
        addresses += [url.path_and_query, url.href.removeprefix(url.origin)]
    return addresses


def file_check(rule: FileRule) -> Callable[..., Verdict]:
    def judge(files: OwnFiles) -> Verdict:
        answer = files.answers[rule]
        if answer.refusal is not None:
            raise answer.refusal
        path = Address(rule.file, MAX_QUOTED_CHARACTERS)
        if answer.exists:
            if rule.absent:
                fix = "Remove the file, or let the server answer with status 404."
                return Fail("present", "The file {path} is on the site.", fix=fix, path=path)
            return Pass("The file {path} is on the site.", path=path)
        if rule.absent:
            return Pass("The file {path} is not on the site.", path=path)
        fix = "Publish the file at this path."
        if answer.leads_to:
            summary = "The path {path} redirects to another site, {address}."
            address = Address(answer.leads_to, MAX_QUOTED_CHARACTERS)
            return Fail("missing", summary, fix=fix, path=path, address=address)
        if answer.is_soft_404:
            return Fail(
                "missing", "For {path}, the site answers as for a page that does not exist.", fix=fix, path=path
            )
        status = Count(answer.status or 0)
        return Fail("missing", "For {path}, the site answers with status {status}.", fix=fix, path=path, status=status)

    return judge


def matches(pattern: str, text: str) -> bool:
    """Return True if the pattern with `*` matches the whole text. Its time is linear in the text's length."""
    return pattern_matches(f"{pattern}$", text)


def _missing(seen: SeenPage, texts: Texts, **values: Value) -> Fail | Warn:
    """Return the finding that something is missing.

    It is a warning if scripts may add it, and no browser has run them.
    """
    if seen.may_lack_content:
        summary = f"{texts.summary} before its scripts run; no browser has looked whether they add it."
        return set_values(Warn("missing", summary, fix=texts.fix), values)
    return set_values(Fail("missing", f"{texts.summary}.", fix=texts.fix), values)
