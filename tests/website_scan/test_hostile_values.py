"""Test that hostile values cannot change message structure.

The same applies to documents.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree, html
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.jinja_templates import macro
from tests.results import stored
from tests.website_scan.command.reports import judged_report
from tests.website_scan.command.test_hostile_documents import render_format
from website_scan.catalogue import Declaration
from website_scan.check_results import check_result
from website_scan.command.formats import WRITERS
from website_scan.findings import HIGH, Server
from website_scan.messages import DIRECTIONS, UNWRITABLE
from website_scan.outcomes import Fail, Fix
from website_scan.places import Element, Header, Resource
from website_scan.report.cards import card_of
from website_scan.report.spreadsheets import FORMULA_STARTS
from website_scan.result import CheckResult
from website_scan.security.checks.csp import PolicyRow
from website_scan.values import Address, Clause, Code, Count, Excerpt, Reason, Values
from website_scan.wording import fix, message

HARMLESS = "harmless"
CHECK = Declaration(
    "quoted",
    name="Nothing is quoted",
    outcomes={"found": "The page says {text}"},
    severity=HIGH,
    why="Readers believe it.",
    fix=Fix("Remove `{code}` from {address}, then wait.", {Server.NGINX: "return 404;"}),
    references=("CWE-116",),
)
# Syntax of templates, browsers, Markdown, terminals, spreadsheets or XML.
PIECES = st.sampled_from(
    [
        *("{text}", "{files:one|many}", "{", "}", "{{", "{0}", "{text.__class__}", "%s", "%(text)s", "${text}"),
        *(
            "`",
            "``",
            "```\n",
            "<script>alert(1)</script>",
            "<!--",
            "-->",
            "]]>",
            "<![CDATA[",
            "</td></table>",
            "'\"><b>",
        ),
        *(
            "&lt;",
            "&#x202e;",
            "\u202e",
            "\u2066",
            "\u200f",
            "\x00",
            "\x1b[31m",
            "\x9b",
            "\r\n",
            "\n\n# ",
            "\u2028",
            "\x85",
        ),
        *("**", "__", "~~", "|", "\\", "- ", "1. ", "> ", "[x](javascript:alert(1))", "![x](//evil.example)", "@admin"),
        *(
            "https://evil.example",
            "www.evil.example",
            "javascript:alert(1)",
            "#1",
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t",
        ),
        *("; ", " · ", "nginx: ", ". ", "…", "”.", "“", " and 3 more", "Fix: ", "token=abc", " ", "\ud83d", "😀"),
    ]
)
HOSTILE = st.lists(PIECES | st.text(max_size=8), max_size=8).map(lambda pieces: "".join(pieces)[:100])


def result_with_value(value: str) -> CheckResult:
    """Return a result that quotes the value in each type of text.

    It has places of several kinds.
    """
    numbered = f"1{value}", f"2{value}"
    finding = Fail(
        "found",
        "The header says “{text}” in {code}, at {address}: {reason} ({listed}; {parts}), in {files} {files:one|many}.",
        text=Excerpt(value),
        code=Code(value),
        address=Address(value),
        reason=Reason(value),
        listed=Values([Excerpt(value), Code(value)]),
        parts=Values([Clause.of("{name} is missing", name=Excerpt(value))]),
        files=Count(2),
        places=[
            *(Element(text, f"<p>{text}", why=text) for text in numbered),
            *(Header(f"X-{text}", text) for text in numbered),
            *(Resource(f"https://example.com/{text}") for text in numbered),
        ],
        details=[PolicyRow(text) for text in numbered],
    )
    return check_result(CHECK, finding, None)


def pieces_around(sentence: str) -> list[str]:
    return [piece.strip() for piece in sentence.split(HARMLESS)]


def has_pieces(sentence: str, pieces: list[str]) -> bool:
    """Return True if the sentence contains the pieces in order."""
    return re.fullmatch(".*?".join(map(re.escape, pieces)), sentence, re.DOTALL) is not None


@settings(max_examples=200, deadline=None)
@given(HOSTILE)
@example("{files}{files:file|files}")
@example("")
def test_hostile_values_cannot_change_messages(value: str) -> None:
    hostile, harmless = result_with_value(value), result_with_value(HARMLESS)
    assert hostile.how_to_fix is not None
    assert harmless.how_to_fix is not None
    for sentence, usual in (
        (hostile.title, harmless.title),
        (hostile.summary, harmless.summary),
        (message(hostile), message(harmless)),
        (fix(hostile.how_to_fix), fix(harmless.how_to_fix)),
    ):
        assert has_pieces(sentence, pieces_around(usual)), sentence
        assert not DIRECTIONS.search(sentence)
        assert not UNWRITABLE.search(sentence)
        assert "\n" not in sentence
    assert Excerpt(value).text in hostile.summary  # The template field in the value remains unfilled.
    assert hostile.how_to_fix.text.count("`") == 2
    assert {name: each["kind"] for name, each in hostile.values.items()} == {
        name: each["kind"] for name, each in harmless.values.items()
    }


def html_structure(document: str) -> list[Any]:
    """Return the elements, and the URLs of all links.

    Elements have their attributes and classes.

    Left out are the elements that break an address in a cell: they depend on its length.
    """
    tree: Any = html.document_fromstring(document)
    elements = [
        (element.tag, sorted(element.keys()), element.get("class"))
        for element in tree.xpath("//*[not(self::span[ancestor::td or ancestor::dd])]")
    ]
    return [*elements, *tree.xpath("//@href | //@src")]


def markdown_structure(document: str) -> list[str]:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return list(_types(parser.parse(document)))


def _types(tokens: list[Token]) -> Iterator[str]:
    """Yield the token types, with consecutive texts merged.

    An escaped character is a separate text token.
    """
    before = ""
    for token in tokens:
        kind = "text" if token.type == "text_special" else token.type
        if (kind, before) != ("text", "text"):
            yield f"{kind} {token.attrGet('href') or ''}"
        before = kind
        yield from _types(token.children or [])


def json_structure(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: json_structure(each) for name, each in value.items()}
    return list(map(json_structure, value)) if isinstance(value, list) else type(value)


def sarif_structure(document: str) -> list[object]:
    """Return the structure of a SARIF log.

    It includes the links in messages and the tokens of the help.
    """
    log = json.loads(document)
    (run,) = log["runs"]
    texts = [result["message"]["text"] for result in run["results"]]
    helps = [markdown_structure(rule["help"]["markdown"]) for rule in run["tool"]["driver"]["rules"]]
    return [json_structure(log), [re.findall(r"(?<!\\)\]\(([^)]*)\)", text) for text in texts], helps]


def csv_structure(document: str) -> list[int]:
    rows = list(csv.reader(io.StringIO(document, newline=""), strict=True))
    assert not [cell for row in rows for cell in row if cell.startswith(FORMULA_STARTS)]
    return [len(row) for row in rows]


def xml_structure(document: str) -> list[tuple[str, list[str]]]:
    return [
        (str(element.tag), sorted(map(str, element.keys()))) for element in etree.fromstring(document.encode()).iter()
    ]


def text_structure(document: str) -> list[int]:
    """Return the indentation of the lines of a text."""
    return [len(line) - len(line.lstrip(" ")) for line in document.splitlines()]


STRUCTURES: Mapping[str, Callable[[str], object]] = {
    "text": text_structure,
    "json": lambda document: json_structure(json.loads(document)),
    "full": lambda document: json_structure(json.loads(document)),
    "sarif": sarif_structure,
    "csv": csv_structure,
    "junit": xml_structure,
    "codequality": lambda document: json_structure(json.loads(document)),
    "markdown": markdown_structure,
    "html": html_structure,
    "conformance": text_structure,
    "earl": lambda document: json_structure(json.loads(document)),
}


def test_every_format_is_tested() -> None:
    assert STRUCTURES.keys() == {"text", *WRITERS}


@cache
def usual_structure(name: str) -> object:
    return STRUCTURES[name](render_format(name, judged_report(result_with_value(HARMLESS))))


@pytest.mark.parametrize("name", sorted(STRUCTURES.keys() - {"html"}))
@settings(max_examples=30, deadline=None)
@given(value=HOSTILE)
@example(value="")
@example(value="\u202e`{text}` <b>|\n# [x](javascript:alert(1))")
def test_hostile_values_cannot_change_documents(name: str, value: str) -> None:
    assert_usual(name, value)


@pytest.mark.parametrize(
    "value", ["", "\u202e`{text}` <b>|\n# [x](javascript:alert(1))", "</td></table><script>'\"><b x=&lt;"]
)
def test_hostile_values_cannot_change_pages(value: str) -> None:
    assert_usual("html", value)


def assert_usual(name: str, value: str) -> None:
    document = render_format(name, judged_report(result_with_value(value)))
    assert STRUCTURES[name](document) == usual_structure(name)
    assert not DIRECTIONS.search(document)
    assert not UNWRITABLE.search(document)


def card_of_value(value: str) -> list[Any]:
    return html_structure(macro("report/card.html", "card")(card_of(stored(result_with_value(value)))))


@settings(max_examples=100, deadline=None)
@given(HOSTILE)
@example("")
def test_hostile_values_cannot_change_cards(value: str) -> None:
    assert card_of_value(value) == card_of_value(HARMLESS)
