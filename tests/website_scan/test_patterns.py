"""Test that regular expressions match hostile text in linear time."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from re import _constants as constants  # type: ignore[attr-defined]  # the stages of compiling a pattern
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from msgspec import Struct

from tests.project import PACKAGES
from website_scan.json_types import identifier
from website_scan.security.checks.disclosure import LISTING_TITLE_BY_SERVER

METHODS = frozenset({"findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"})
CALL = re.compile(rf"\.(?:{'|'.join(METHODS)})\(")
LONG = 50_000
# Shorter times are ignored, because even the fastest quadratic pattern takes longer.
NEGLIGIBLE_S = 0.03
# With four times the text, a linear pattern takes 4 times as long, and a quadratic one 16 times.
MAX_GROWTH = 9.0
MATCH_TIMEOUT_S = 1.0
# A text of this length reveals any time worse than quadratic.
SURE = 1_000

# These patterns are applied only to texts up to a maximum length.
BOUNDED = {
    # The text is the value of a Server header.
    "website_scan.security.checks.disclosure.PRODUCT_VERSION.search": 1_000,
    # The text is a comment, whose length `comments()` limits.
    "website_scan.security.comments.UNFINISHED_WORK.search": 4_000,
    # The text is the end of a selector, of at most `MAX_NAME_CHARACTERS`.
    "website_scan.journeys.passwords.LAST_OF_CSS.search": 300,
    "website_scan.journeys.passwords.LAST_OF_XPATH.search": 300,
    "website_scan.page.fetch.TITLE.search": 8 * 1024,  # The text is the beginning of a page.
}
# Functions build these patterns from arguments with possible values.
LOCALS: dict[str, dict[str, object]] = {
    "infrastructure.api.examples": {"prefix": "scan", "pattern": "/v1/scan/[^/]+"},
    "website_scan.ids": {"prefix": "scan"},
    "website_scan.library.typed_json": {"keywords": identifier("scan")},
    "website_scan.report.tables": {"value": "/assets/app.js"},
    "website_scan.wording": {"label": "<p> at #a"},
    "website_scan.security.checks.disclosure": {
        "pattern": "|".join(title for _, title in LISTING_TITLE_BY_SERVER),
        "folder": "/a",
    },
    "website_scan.security.mta_sts": {"version": "STSv1"},
    "website_scan.security.probes.aliases": {"domain": "example.com"},
}
# These computed patterns are not in the tables above.
unknown: list[str] = []

EVIL = (
    " ", "\t", "\n", "\0", "a", "A", "0", "-", "_", ".", "/", "\\", "<", ">", "(", ")", "[", "{", "'", '"', "&", "#",
    "%", ":", ";", ",", "=", "@", "*", "+", "~", "é", "中", "a.", "a-", "a_", "a:", "a=", "a;", "a,", "a b ", "1.",
    "1,", "0x", "a@", "://", "//", "/*", "*/", "<!--", "-->", "<a ", "</", "&#", "%2", "a=b;", 'a="', "\\\"", "url(",
    "@import ", "<script", "<title", "sr-hide", "max-age=", ";charset=", "http://a:",
)  # fmt: skip
SEPARATORS = "- ./:"
ENDS = ("", "\0", "!", "\n")


class Use(Struct, frozen=True):
    """Regular expression, and the method that the code calls on it."""

    module: str
    name: str  # This is the name of the variable, or the beginning of the pattern.
    pattern: re.Pattern[Any]
    method: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}.{self.method}"

    def answer(self, text: str | bytes) -> None:
        match self.method:
            case "sub" | "subn":
                self.pattern.sub(text[:0], text)
            case "finditer":
                for _ in self.pattern.finditer(text):
                    pass
            case method:
                getattr(self.pattern, method)(text)


def modules() -> Iterator[types.ModuleType]:
    for package in PACKAGES:
        yield importlib.import_module(package)
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            is_server_module = ("config.wsgi", "config.gunicorn", "config.connections", "config.incoming")
            if ".migrations" not in info.name and info.name not in is_server_module:
                yield importlib.import_module(info.name)


def _source(module: types.ModuleType) -> str:
    return Path(module.__file__ or "").read_text(encoding="utf-8")


def uses() -> dict[str, Use]:
    """Return all uses of regular expressions in the code, by description."""
    uses: dict[str, Use] = {}
    # Python's cache decides whether equal patterns are one object.
    used: set[tuple[Any, int]] = set()
    named: dict[tuple[Any, int], tuple[str, str, re.Pattern[Any]]] = {}
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                named.setdefault((value.pattern, value.flags), (module.__name__, name, value))
        source = _source(module)
        # Most modules call none of the methods, and need not be parsed.
        for node in ast.walk(ast.parse(source if CALL.search(source) else "")):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
                continue
            for use in _use(module, node, node.func):
                used.add((use.pattern.pattern, use.pattern.flags))
                uses[str(use)] = use
    for key, (module_name, name, pattern) in named.items():
        if key not in used:  # Other code gets this pattern as an argument.
            for method in ("search", "fullmatch", "finditer"):
                uses[f"{module_name}.{name}.{method}"] = Use(module_name, name, pattern, method)
    return uses


def _use(module: types.ModuleType, call: ast.Call, function: ast.Attribute) -> Iterator[Use]:
    known = vars(module) | LOCALS.get(module.__name__, {})
    if isinstance(function.value, ast.Name) and known.get(function.value.id) is re:
        try:
            text = _value(call.args[0], known)
        except NameError:
            unknown.append(f"{module.__name__}: {ast.unparse(call)}")
            return
        flags = [
            argument for argument in call.args[2:] + [keyword.value for keyword in call.keywords] if _is_flag(argument)
        ]
        pattern = re.compile(text, _value(flags[0], known) if flags else 0)
        yield Use(module.__name__, repr(text)[:40], pattern, function.attr)
        return
    try:
        value = eval(ast.unparse(function.value), dict(known))
    except Exception:  # noqa: BLE001 -- not a pattern but something local
        return
    if isinstance(value, re.Pattern):
        yield Use(module.__name__, ast.unparse(function.value), value, function.attr)


def _value(expression: ast.expr, known: dict[str, Any]) -> Any:
    return eval(ast.unparse(expression), dict(known))


def _is_flag(expression: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr.isupper() for node in ast.walk(expression))


USES = uses()


def attacks(pattern: re.Pattern[Any]) -> dict[str, Callable[[int], str]]:
    """Return functions that build a text which the pattern rejects late.

    Their argument is the length of the text.
    """
    whole, loops = _shapes(pattern)
    attacks: dict[str, Callable[[int], str]] = {}

    def add(head: str, piece: str, end: str) -> None:
        if piece:
            attacks[f"{head!r} + {piece!r}… + {end!r}"] = lambda n: head + piece * (n // len(piece)) + end

    for head, piece in loops:
        for end in ENDS[:3]:
            add(head, piece, end)
        add("", head + piece, "\0")
        add("", head + piece * 3, "")
        add("", head, "\0")
        # The text begins with a space, so that `\b` matches.
        for separator in SEPARATORS:
            add("", head + separator, "\0")
    add("", whole, "\0")
    add("", whole[:-1], "\0")
    for piece in EVIL:
        add("", piece, "\0" if len(piece) > 1 else "!")
        if len(piece) == 1:
            add(whole[: len(whole) // 2], piece, "")
    return attacks


def _shapes(pattern: re.Pattern[Any]) -> tuple[str, list[tuple[str, str]]]:
    """Return a matching text and its repeats.

    A repeat is the text before it and the repeated text.
    """
    source = pattern.pattern
    if isinstance(source, bytes):
        source = source.decode("latin-1")
    loops: list[tuple[str, str]] = []
    whole = _sample(
        parser.parse(source, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else 0), "", loops
    )
    return whole, loops


def _sample(nodes: Any, before: str, loops: list[tuple[str, str]]) -> str:  # noqa: C901 -- one case for each operator
    made = ""
    for kind, argument in nodes:
        here = before + made
        match str(kind):
            case "LITERAL":
                made += chr(argument)
            case "NOT_LITERAL":
                made += "b" if chr(argument) == "a" else "a"
            case "ANY":
                made += "a"
            case "IN":
                made += _member(argument)
            case "SUBPATTERN":
                made += _sample(argument[-1], here, loops)
            case "ATOMIC_GROUP":
                made += _sample(argument, here, loops)
            case "BRANCH":
                options = [_sample(option, here, loops) for option in argument[1]]
                made += next(filter(None, options), "")
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, body = argument
                piece = _sample(body, here, loops)
                if most is constants.MAXREPEAT or most > 50:
                    loops.append((here, piece))
                made += piece * max(least, 1)
            case "ASSERT":
                _sample(argument[1], here, loops)
            case "ASSERT_NOT":
                _sample(argument[1], here, loops)
            case _:
                pass  # Anchors and references match no characters of the text.
    return made


def _member(options: Any) -> str:
    allowed = re.compile("[" + "".join(_class(option) for option in options) + "]", re.DOTALL)
    liked = (
        chr(code)
        for code in [
            *range(97, 123),
            *range(32, 127),
            9,
            10,
            13,
            *range(128, 0x4000),
            *range(9),
            *range(0xF900, 0xFB00),
        ]
    )
    return next(character for character in liked if allowed.match(character))


CATEGORIES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip


def _class(option: Any) -> str:
    kind, argument = option
    match str(kind):
        case "NEGATE":
            return "^"
        case "LITERAL":
            return re.escape(chr(argument))
        case "RANGE":
            return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
        case "CATEGORY":
            return CATEGORIES[str(argument)]
    raise AssertionError(kind)


class Hangs(Exception):
    """Raised when a match takes too long for the test to wait."""


def _hang(*_: object) -> None:
    raise Hangs


def cost_s(use: Use, text: str) -> float:
    """Return the CPU seconds of one match.

    Raises Hangs.
    """
    given = text.encode("latin-1", "replace") if isinstance(use.pattern.pattern, bytes) else text
    begin = time.thread_time()
    use.answer(given)
    return time.thread_time() - begin


def slowness(use: Use, length: int = LONG) -> str:
    """Describe the attack that takes too long.

    The result has its time, or is empty.
    """
    previous = signal.signal(signal.SIGVTALRM, _hang)
    try:
        for name, make in attacks(use.pattern).items():
            signal.setitimer(signal.ITIMER_VIRTUAL, MATCH_TIMEOUT_S)
            try:
                # The texts grow, so that slow patterns are detected before they take hours. The loop ends once even a
                # quadratic pattern would be fast on the whole text.
                for part in (25, 100, 1_000, length // 8, length):
                    taken = cost_s(use, make(part))
                    if taken > NEGLIGIBLE_S or (part >= SURE and taken * (length / part) ** 2 < NEGLIGIBLE_S):
                        break
                if taken <= NEGLIGIBLE_S:
                    continue
                least = min(cost_s(use, make(part)) for _ in range(3))
                shorter = min(cost_s(use, make(part // 4)) for _ in range(3))
            except Hangs:
                return f"{name} of {part} characters: no answer in {MATCH_TIMEOUT_S} s"
            if least > NEGLIGIBLE_S and least > shorter * MAX_GROWTH:
                times = least / shorter
                return f"{name} of {part} characters: {taken:.2f} s, {times:.0f} times as long as a quarter of it"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
    return ""


@pytest.mark.parametrize("name", USES)
def test_pattern_takes_linear_time(name: str) -> None:
    use = USES[name]
    assert not slowness(use, BOUNDED.get(name, LONG))


def test_computed_patterns_have_known_parts() -> None:
    assert unknown == []


def test_length_limits_belong_to_patterns() -> None:
    assert set(BOUNDED) <= set(USES)


def test_compiled_patterns_are_tested() -> None:
    """Count the compiled patterns in the code.

    This verifies that USES is complete.
    """
    compiled = sum(
        1
        for module in modules()
        for node in ast.walk(ast.parse(_source(module)))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
    )
    assert len({id(use.pattern) for use in USES.values()}) >= compiled > 40


@pytest.mark.parametrize(
    ("evil", "method"),
    [
        (r"(a+)+$", "match"),
        (r"(?:a|a)*b", "search"),
        (r"\s+$", "search"),
        (r"<title[^>]*>", "search"),
        (r"(x+x+)+y", "match"),
        (r"a.*b.*c", "search"),
        (r"^(\w+\s?)*$", "match"),
        (r"(?:[^/@\s:]+:)?[^/@\s]+@", "search"),
        (r"\d+(?:,\d+)*;", "findall"),
        (r"\beyJ[\w-]{8,}\.", "sub"),
    ],
)
def test_slow_patterns_are_detected(evil: str, method: str) -> None:
    assert slowness(Use("tests", "evil", re.compile(evil), method))
