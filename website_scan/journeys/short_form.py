"""Read journeys that people write as text, one step a line.

    open https://shop.example/login
    fill “E-mail” with {{user}}
    fill “Password” with {{password}}
    click button “Sign in”
    wait for “My account”
    judge “Account”

Empty lines and lines that begin with `#` are ignored. Names of elements are their accessible names, in straight or
curly quotation marks. Elements without a name can be selected by CSS in backticks: click `#menu .item`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

from msgspec.structs import replace

from website_scan.journeys import rules, targets
from website_scan.journeys.fields import did_you_mean
from website_scan.journeys.journey import (
    DEFAULT_STEP_TIMEOUT_S,
    MAX_STEP_TIMEOUT_S,
    Change,
    Click,
    ElementTarget,
    Hover,
    JourneyRefused,
    Judge,
    KeyDown,
    KeyUp,
    Navigate,
    Scroll,
    SetViewport,
    StateRule,
    Step,
    WaitForAddress,
    WaitForElement,
    WaitForTitle,
)
from website_scan.journeys.json_steps import MAX_RECORDING_BYTES
from website_scan.journeys.keys import MODIFIERS, key_name, similar_key_name
from website_scan.journeys.passwords import ReadJourney, without_passwords
from website_scan.journeys.selectors import selector_of
from website_scan.messages import excerpt

MAX_LINE_CHARACTERS = 6000
MAX_LINES = 1000
MAX_KEYS_AT_ONCE = 4
# A closing quotation mark of another kind is accepted only if the right one is missing.
QUOTED = re.compile(
    r"""“([^”]*)”|"([^"]*)"|„([^“”]*)[“”]|«([^»]*)»|\u2018([^\u2019]*)\u2019|'([^']*)'|[“”„"]([^“”„"]+)[“”"]"""
)
CODE = re.compile(r"`([^`]*)`")
BLANK = re.compile(r"\s*")
BULLET = re.compile(r"\s*(?:[-*•]\s+|[0-9]{1,3}[.)]\s+)?")
SECONDS = re.compile(r"(?<![0-9])[0-9]+ *(?:s|ms|sec|seconds?|minutes?)\b", re.IGNORECASE)
TIME_LIMIT = re.compile(r"(?<!\s)\s+(?:for\s+)?up to ([0-9]{1,3}) seconds?\s*$", re.IGNORECASE)
RELATIVE = re.compile(r"[/?#]|\.\.?/")
SIZE = re.compile(r"([0-9]{1,4})\s*[x\u00d7]\s*([0-9]{1,4})", re.IGNORECASE)
# The screens on which pages are judged (website_scan.browser.devices).
SCREENS = {
    "phone": SetViewport(width=412, height=823, scale=2, is_mobile=True, has_touch=True),
    "desktop": SetViewport(width=1440, height=900),
}


def read_short_form(text: str, *, title: str, base_url: str = "", rule: StateRule | None = None) -> ReadJourney:
    """Read a journey.

    Addresses may be relative to the journey's first one, which may be relative to `base_url`. Raises JourneyRefused,
    whose message names the line.
    """
    lines = text.splitlines()
    if len(text) > MAX_RECORDING_BYTES or len(lines) > MAX_LINES:
        raise JourneyRefused(f"The steps have more than {MAX_RECORDING_BYTES // 1024} KiB or {MAX_LINES} lines.")
    reader = _Reader(base_url)
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            reader.read(line, number)
    return without_passwords(rules.checked_journey(title, reader.steps, rule, reader.identity_providers))


def steps_of_line(text: str) -> list[Step]:
    """Read one line with whole addresses. Raises JourneyRefused."""
    reader = _Reader("")
    reader.read(text, 1)
    return reader.steps


class _Line:
    """Text of one step, which is read from left to right."""

    def __init__(self, text: str, number: int) -> None:
        self.number = number
        self.timeout_s = DEFAULT_STEP_TIMEOUT_S
        self._text = text
        start = BULLET.match(text)
        self._at = start.end() if start else 0

    def word(self, *phrases: str) -> str:
        """Read one of the phrases, and return it. Returns an empty string if the text continues otherwise."""
        for phrase in phrases:
            match = re.compile(rf"{re.escape(phrase).replace(chr(92) + ' ', r'[ ]+')}(?!\w)", re.IGNORECASE).match(
                self._text, self._at
            )
            if match:
                self._move(match.end())
                return phrase
        return ""

    def continues_with(self, pattern: re.Pattern[str]) -> bool:
        """Return True if the rest of the line begins with the pattern."""
        return pattern.match(self._text, self._at) is not None

    def quoted(self) -> str | None:
        """Read text in quotation marks."""
        match = QUOTED.match(self._text, self._at)
        if match is None:
            return None
        self._move(match.end())
        return next(group for group in match.groups() if group is not None).strip()

    def code(self) -> str | None:
        """Read text in backticks."""
        match = CODE.match(self._text, self._at)
        if match is None:
            return None
        self._move(match.end())
        return match[1].strip()

    def rest(self) -> str:
        """Read the rest of the line, without quotation marks around it."""
        rest = self._text[self._at :].strip()
        self._at = len(self._text)
        match = QUOTED.fullmatch(rest)
        return rest if match is None else next(group for group in match.groups() if group is not None)

    def time_limit(self) -> None:
        """Remove a time limit from the end of the line, and remember it."""
        if match := TIME_LIMIT.search(self._text, self._at):
            self.timeout_s = float(match[1])
            self._text = self._text[: match.start()]
            if not 1 <= self.timeout_s <= MAX_STEP_TIMEOUT_S:
                raise ValueError(f"A step can wait for 1 to {MAX_STEP_TIMEOUT_S:.0f} seconds.")

    def end(self) -> None:
        """Raise ValueError unless the whole line has been read."""
        if rest := self._text[self._at :].strip():
            raise ValueError(f"“{excerpt(rest, 40)}” is too much.")

    def text_for_people(self) -> str:
        """Return the line without the value of a field, which may be a password."""
        start = BULLET.match(self._text)
        text = self._text[start.end() if start else 0 :].strip()
        verb = text.partition(" ")[0]
        return f"{verb} …" if verb.lower() in VERBS_WITH_VALUE else excerpt(text, 80)

    def _move(self, position: int) -> None:
        match = BLANK.match(self._text, position)
        self._at = match.end() if match else position


class _Reader:
    """Reads the lines of one journey."""

    def __init__(self, base_url: str) -> None:
        self.steps: list[Step] = []
        self.identity_providers: list[str] = []
        self.base_url = base_url

    def read(self, text: str, number: int) -> None:
        """Read the next line."""
        line = _Line(text, number)
        if len(text) > MAX_LINE_CHARACTERS:
            raise JourneyRefused(f"Line {number} is longer than {MAX_LINE_CHARACTERS:,} characters.")
        verb = line.word(*VERBS)
        if not verb:
            self._refuse_verb(line)
        try:
            steps = VERBS[verb].read(self, line)
            line.end()
        except ValueError as error:
            raise JourneyRefused(
                f"Line {number}: “{line.text_for_people()}”: {error} Example: {VERBS[verb].example}"
            ) from None
        self.steps.extend(steps)

    def address(self, text: str) -> str:
        """Return a whole address. Raises ValueError."""
        if RELATIVE.match(text):
            if not self.base_url:
                raise ValueError("The first address must be whole.")
            return rules.check_address(text, self.base_url)
        return rules.check_address(text)

    def _refuse_verb(self, line: _Line) -> NoReturn:
        words = line.text_for_people().lower().split()
        first, two = " ".join(words[:1]), " ".join(words[:2])
        verb = SYNONYMS.get(two) or SYNONYMS.get(first)
        question = f" Did you mean “{verb}”?" if verb else did_you_mean(two, VERBS) or did_you_mean(first, VERBS)
        near = question.partition("“")[2].partition("”")[0]
        example = f" Example: {VERBS[near].example}" if near else f" Steps begin with {', '.join(VERBS)}."
        raise JourneyRefused(f"Line {line.number}: “{line.text_for_people()}” is not a step.{question}{example}")


def _open(reader: _Reader, line: _Line) -> list[Step]:
    url = reader.address(line.rest())
    if not any(isinstance(step, Navigate) for step in reader.steps):
        reader.base_url = url
    return [Navigate(url=url, line=line.number)]


def _fill(_: _Reader, line: _Line) -> list[Step]:
    field = _element(line, targets.field)
    if not line.word("with"):
        raise ValueError("The word “with” and the value are missing.")
    return [Change(target=field, value=rules.check_value(line.rest()), line=line.number)]


def _choose(_: _Reader, line: _Line) -> list[Step]:
    option = line.quoted()
    if not option or not line.word("in", "from"):
        raise ValueError(
            "The name of the choice in quotation marks, the word “in” and the name of the list are missing."
        )
    return [Change(target=_element(line, targets.choice), value=rules.check_value(option), line=line.number)]


def _check(_: _Reader, line: _Line) -> list[Step]:
    return [Change(target=_element(line, targets.check_box), value="true", line=line.number)]


def _uncheck(_: _Reader, line: _Line) -> list[Step]:
    return [Change(target=_element(line, targets.check_box), value="false", line=line.number)]


def _click(_: _Reader, line: _Line) -> list[Step]:
    return [Click(target=_element(line, targets.clickable), line=line.number)]


def _double_click(_: _Reader, line: _Line) -> list[Step]:
    return [Click(target=_element(line, targets.clickable), count=2, line=line.number)]


def _hover(_: _Reader, line: _Line) -> list[Step]:
    line.word("over")
    return [Hover(target=_element(line, targets.clickable), line=line.number)]


def _press(_: _Reader, line: _Line) -> list[Step]:
    # The key + is the last one, as in Ctrl++.
    texts = [text.strip() for text in re.split(r"\+(?=.)", line.rest())]
    keys: list[str] = []
    for text in texts[:MAX_KEYS_AT_ONCE]:
        key = key_name(text)
        if key is None:
            similar = similar_key_name(text)
            question = f" Did you mean {similar}?" if similar else ""
            raise ValueError(f"“{excerpt(text, 40)}” is not the name of a key.{question}")
        keys.append(key)
    *modifiers, last = keys
    if len(texts) > MAX_KEYS_AT_ONCE or any(key not in MODIFIERS for key in modifiers):
        raise ValueError(f"Only {', '.join(MODIFIERS)} can be held while another key is pressed.")
    if modifiers and len(last) == 1:
        last = last.upper() if "Shift" in modifiers else last.lower()
    pressed = [*modifiers, last]
    return [
        *(KeyDown(key=key, line=line.number) for key in pressed),
        *(KeyUp(key=key, line=line.number) for key in reversed(pressed)),
    ]


def _scroll(_: _Reader, line: _Line) -> list[Step]:
    if edge := line.word("the bottom", "bottom", "the top", "top"):
        return [Scroll(x=0, y=rules.MAX_SCROLL_PIXELS if edge.endswith("bottom") else 0, line=line.number)]
    return [Scroll(x=0, y=0, target=_element(line, targets.content), line=line.number)]


def _wait_for(reader: _Reader, line: _Line) -> list[Step]:
    line.time_limit()
    if line.word("address"):
        is_prefix = bool(line.word("beginning with"))
        url = line.rest()
        # A path is compared on any host. Everything more exact needs a whole address.
        if not url.startswith("/") or url.startswith("//") or re.search("[?#]", url):
            url = reader.address(url)
        rules.check_text(url, rules.MAX_URL_CHARACTERS, "The address")
        return [WaitForAddress(url=url, is_prefix=is_prefix, line=line.number, timeout_s=line.timeout_s)]
    if line.word("title"):
        title = rules.check_text(" ".join(line.rest().split()), rules.MAX_URL_CHARACTERS, "The title")
        if not title:
            raise ValueError("The title is missing.")
        return [WaitForTitle(title=title, line=line.number, timeout_s=line.timeout_s)]
    if line.continues_with(SECONDS):
        raise ValueError("Steps wait for something that appears or disappears, not for a time.")
    target = _element(line, targets.content)
    return [WaitForElement(target=target, is_visible=True, line=line.number, timeout_s=line.timeout_s)]


def _wait_until(_: _Reader, line: _Line) -> list[Step]:
    line.time_limit()
    target = _element(line, targets.content)
    if not line.word("is gone", "disappears", "has gone"):
        raise ValueError("The words “is gone” are missing.")
    return [
        WaitForElement(
            target=target, operator="==", count=0, is_visible=True, line=line.number, timeout_s=line.timeout_s
        )
    ]


def _judge(_: _Reader, line: _Line) -> list[Step]:
    return [Judge(name=rules.check_state_name(line.rest()), line=line.number)]


def _screen(_: _Reader, line: _Line) -> list[Step]:
    text = line.rest().lower()
    if screen := SCREENS.get(text):
        return [replace(screen, line=line.number)]
    size = SIZE.fullmatch(text)
    if size is None or not all(1 <= int(pixels) <= rules.MAX_PIXELS for pixels in size.groups()):
        raise ValueError(f"The size is none of phone, desktop and width x height up to {rules.MAX_PIXELS:,} pixels.")
    return [SetViewport(width=int(size[1]), height=int(size[2]), line=line.number)]


def _allow(reader: _Reader, line: _Line) -> list[Step]:
    reader.identity_providers += [rules.check_host(host) for host in line.rest().split(",")]
    return []


def _element(line: _Line, named: Callable[[str, str], ElementTarget]) -> ElementTarget:
    """Read an element: an optional role and a name in quotation marks, or CSS in backticks."""
    if css := line.code():
        return ElementTarget((selector_of(rules.check_text(css, rules.MAX_URL_CHARACTERS, "The selector")),))
    line.word("the")
    role = line.word(*targets.ROLES)
    name = line.quoted()
    if not name:
        raise ValueError("The name of the element in quotation marks is missing.")
    return named(rules.check_text(name, rules.MAX_URL_CHARACTERS, "The name"), targets.ROLES.get(role, ""))


class Verb(NamedTuple):
    """First words of a step."""

    read: Callable[[_Reader, _Line], list[Step]]
    example: str


VERBS: Mapping[str, Verb] = {
    "open": Verb(_open, "open https://shop.example/login"),
    "fill": Verb(_fill, "fill “E-mail” with {{user}}"),
    "choose": Verb(_choose, "choose “Large” in “Size”"),
    "check": Verb(_check, "check “Remember me”"),
    "uncheck": Verb(_uncheck, "uncheck “Newsletter”"),
    "click": Verb(_click, "click button “Sign in”"),
    "double-click": Verb(_double_click, "double-click “Photo”"),
    "double click": Verb(_double_click, "double click “Photo”"),
    "hover": Verb(_hover, "hover over “Products”"),
    "press": Verb(_press, "press Enter, or press Ctrl+K"),
    "scroll to": Verb(_scroll, "scroll to “Reviews”, or scroll to the bottom"),
    "wait for": Verb(_wait_for, "wait for “My account”, wait for button “Pay”, or wait for address /account"),
    "wait until": Verb(_wait_until, "wait until “Loading” is gone"),
    "judge": Verb(_judge, "judge “Account”"),
    "screen": Verb(_screen, "screen phone, or screen 1280x800"),
    "allow log-in at": Verb(_allow, "allow log-in at login.example.com"),
    "allow login at": Verb(_allow, "allow log-in at login.example.com"),
}
SYNONYMS = {
    "go to": "open", "goto": "open", "visit": "open", "navigate": "open", "type": "fill", "enter": "fill",
    "write": "fill", "input": "fill", "set": "fill", "tap": "click", "push": "click", "submit": "click",
    "select": "choose", "pick": "choose", "tick": "check", "untick": "uncheck", "mouse over": "hover",
    "scroll": "scroll to", "sleep": "wait for", "pause": "wait for", "wait": "wait for", "expect": "wait for",
    "assert": "wait for", "see": "wait for", "test": "judge", "scan": "judge", "audit": "judge", "viewport": "screen",
    "resize": "screen", "device": "screen",
}  # fmt: skip
VERBS_WITH_VALUE = frozenset({"fill", *(word for word, verb in SYNONYMS.items() if verb == "fill")})
