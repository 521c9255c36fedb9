"""Expressions of recordings that a journey can wait for without executing a script of its author."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from website_scan.journeys.journey import ElementTarget, Step, WaitForAddress, WaitForElement, WaitForTitle
from website_scan.journeys.rules import UNPRINTABLE, check_address, check_text
from website_scan.journeys.selectors import css, css_string, target_of

MAX_EXPRESSION_CHARACTERS = 2000
EXAMPLES = 'location.pathname === "/account", document.title === "…" and document.querySelector("#menu")'
# String literal of JavaScript whose only escapes are those of quotes and backslashes.
STRING = r"""(?P<string>"(?:[^"\\\n]|\\["'\\/])*"|'(?:[^'\\\n]|\\["'\\/])*')"""
ESCAPE = re.compile(r"\\(.)")
ADDRESS = r"(?:(?:window|document)\.)?location(?:\.(?P<part>href|pathname|search))?"
ADDRESS_IS = re.compile(rf"{ADDRESS}\s*===?\s*{STRING}")
ADDRESS_BEGINS = re.compile(rf"{ADDRESS}\.startsWith\(\s*{STRING}\s*\)")
TITLE_IS = re.compile(rf"document\.title\s*===?\s*{STRING}")
ELEMENT = re.compile(
    rf"(?P<not>!{{1,2}})?\s*document\.(?P<method>querySelector|getElementById)\(\s*{STRING}\s*\)"
    r"(?P<visible>\??\.(?:offsetParent|checkVisibility\(\)))?(?:\s*(?P<comparison>[!=]==?)\s*null)?"
)
PAUSE = re.compile(
    r"new\s+Promise\(\s*\(?(?P<name>[A-Za-z_]+)\)?\s*=>\s*setTimeout\(\s*"
    r"(?:\(\)\s*=>\s*(?P=name)\((?:true|1)?\)|(?P=name))\s*,\s*[0-9_]+\s*\)\s*\);?"
)
COUNT = re.compile(
    rf"document\.querySelectorAll\(\s*{STRING}\s*\)\.length\s*(?P<operator>===?|[<>]=?)\s*(?P<count>[0-9]{{1,4}})"
)


def is_pause(expression: object) -> bool:
    """Return True if the expression only waits for a time, as in the documentation of the Recorder."""
    return (
        isinstance(expression, str)
        and len(expression) <= MAX_EXPRESSION_CHARACTERS
        and PAUSE.fullmatch(expression.strip()) is not None
    )


def step_of_expression(expression: str, frame: tuple[int, ...], line: int, timeout_s: float) -> Step:
    """Return the step that waits until the expression is true.

    Raises ValueError, whose message is a sentence, for an expression that would need a script.
    """
    text = expression.strip().removesuffix(";").rstrip()
    if len(text) <= MAX_EXPRESSION_CHARACTERS and not UNPRINTABLE.search(text):
        check_text(text, MAX_EXPRESSION_CHARACTERS, "The expression")
        for pattern, read in READERS.items():
            if match := pattern.fullmatch(text):
                step = read(match, frame, line, timeout_s)
                if step is not None:
                    return step
    raise ValueError(f"The expression would need a script, which is not executed. Possible are {EXAMPLES}.")


def expression_of(step: WaitForAddress | WaitForTitle) -> str:
    """Write the expression that is true when the step has nothing more to wait for."""
    if isinstance(step, WaitForTitle):
        return f"document.title === {_quoted(step.title)}"
    part = {"/": "pathname", "?": "search"}.get(step.url[:1], "href")
    comparison = f".startsWith({_quoted(step.url)})" if step.is_prefix else f" === {_quoted(step.url)}"
    return f"location.{part}{comparison}"


def _address(match: re.Match[str], frame: tuple[int, ...], line: int, timeout_s: float) -> Step | None:
    url, part = _unquoted(match), match["part"] or "href"
    first = {"pathname": "/", "search": "?"}.get(part)
    is_prefix = match.re is ADDRESS_BEGINS
    if frame or (is_prefix and not match["part"]) or (first and not url.startswith(first)):
        return None
    if not first:
        check_address(url)
    return WaitForAddress(url=url, is_prefix=is_prefix, line=line, timeout_s=timeout_s)


def _title(match: re.Match[str], frame: tuple[int, ...], line: int, timeout_s: float) -> Step | None:
    title = _unquoted(match)
    return None if frame or not title else WaitForTitle(title=title, line=line, timeout_s=timeout_s)


def _element(match: re.Match[str], frame: tuple[int, ...], line: int, timeout_s: float) -> Step | None:
    negation, comparison, text = match["not"] or "", match["comparison"] or "", _unquoted(match)
    if not text or (negation and comparison):
        return None
    is_absent = negation == "!" or comparison.startswith("=")
    selector = css(f"[id={css_string(text)}]" if match["method"] == "getElementById" else text)
    return WaitForElement(
        target=ElementTarget(target_of(selector).selectors, frame),
        operator="==" if is_absent else ">=",
        count=0 if is_absent else 1,
        is_visible=True if match["visible"] else None,
        line=line,
        timeout_s=timeout_s,
    )


def _count(match: re.Match[str], frame: tuple[int, ...], line: int, timeout_s: float) -> Step | None:
    count, text = int(match["count"]), _unquoted(match)
    # The steps have no operators for more and fewer.
    operator, change = {">": (">=", 1), "<": ("<=", -1), "===": ("==", 0)}.get(
        match["operator"], (match["operator"], 0)
    )
    if not text or count + change < 0:
        return None
    return WaitForElement(
        target=ElementTarget((css(text),), frame),
        operator=operator,
        count=count + change,
        is_visible=None,
        line=line,
        timeout_s=timeout_s,
    )


def _unquoted(match: re.Match[str]) -> str:
    return ESCAPE.sub(r"\1", match["string"][1:-1])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


READERS: dict[re.Pattern[str], Callable[[re.Match[str], tuple[int, ...], int, float], Step | None]] = {
    ADDRESS_IS: _address,
    ADDRESS_BEGINS: _address,
    TITLE_IS: _title,
    ELEMENT: _element,
    COUNT: _count,
}
