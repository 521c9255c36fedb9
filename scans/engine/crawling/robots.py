"""robots.txt as RFC 9309 reads it, with the leniency of Google's parser where the RFC leaves it open.

Every rule keeps the line that it stands on, so that a report can quote what decided.
"""

from __future__ import annotations

import difflib
import re
import string
from dataclasses import dataclass
from urllib.parse import quote

from scans.engine.messages import KIB, excerpt

MAX_BYTES = 500 * KIB  # RFC 9309, section 2.5: what is beyond need not be read

GOOGLEBOT = "googlebot"
# The crawlers of other search engines, and the product tokens that robots.txt names them by.
OTHER_ENGINES = {
    "Bingbot": "bingbot",
    "DuckDuckBot": "duckduckbot",
    "YandexBot": "yandexbot",
    "Baiduspider": "baiduspider",
}
# How the keys are misspelt and still understood.
KEYS = {
    "user-agent": "user-agent",
    "useragent": "user-agent",
    "user agent": "user-agent",
    "allow": "allow",
    "disallow": "disallow",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "sitemap": "sitemap",
    "site-map": "sitemap",
}
ALIKE = 0.8
BOM = b"\xef\xbb\xbf"
# In the middle of a path, unless it begins a name (OData's /$metadata, ?$filter=) it was meant as the end.
MISPLACED_END = re.compile(rb"\$(?!$)(?<![/?&=]\$(?=[A-Za-z{]))")
KEY = re.compile(r"[a-z][a-z0-9_ -]*", re.IGNORECASE)
ABSOLUTE = re.compile(rb"https?://[^/\s]", re.IGNORECASE)
PRODUCT_TOKEN = re.compile(r"[a-z_-]+", re.IGNORECASE)
ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
URI_CHARACTERS = "%!&'()+,/:;=?@[]-._~"  # beside letters and digits, and `*`, `$`, which are rules' own


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """One allow or disallow line. `pattern` is normalised, `text` what the file says on `line` (from 1)."""

    allows: bool
    pattern: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Rules with the product tokens (lower case, or `*`) that they are for."""

    agents: frozenset[str]
    rules: tuple[RobotsRule, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that means nothing to a crawler."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Robots:
    """A parsed robots.txt. An empty one restricts nothing."""

    groups: tuple[Group, ...] = ()
    sitemaps: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a crawler may fetch a path, the rule that says so (None: no rule does), and whose it is."""

    allowed: bool
    rule: RobotsRule | None = None
    agent: str = "*"

    @property
    def quoted(self) -> str:
        """The deciding line in words: “Disallow: /private” (line 3, for all crawlers)."""
        if self.rule is None:
            return "no line applies"
        whom = "all crawlers" if self.agent == "*" else self.agent
        return f"“{excerpt(self.rule.text)}” (line {self.rule.line}, for {whom})"


def parse_robots(content: bytes) -> Robots:
    """Read a robots.txt; never fails, whatever it holds. What is beyond 500 KiB is ignored."""
    if len(content) > MAX_BYTES:
        # The last line may be cut in two, and half a path forbids more than the whole.
        content = content[:MAX_BYTES]
        content = content[: max(content.rfind(b"\n"), content.rfind(b"\r")) + 1]
    groups: list[Group] = []
    sitemaps: list[str] = []
    faults: list[Fault] = []
    agents: set[str] = set()
    rules: list[RobotsRule] = []
    in_rules = False
    for number, line in enumerate(re.split(rb"\r\n|\r|\n", _without_bom(content)), 1):
        text = line.decode("utf-8", "replace").strip()
        pair = _pair(line)
        if pair is None:
            continue
        key, value = pair
        match KEYS.get(key):
            case "user-agent":
                if in_rules:
                    groups.append(Group(frozenset(agents), tuple(rules)))
                    agents, rules, in_rules = set(), [], False
                if (agent := _agent(value)) is not None:
                    agents.add(agent)
                else:
                    agents.add("")  # its rules are nobody's, not the group's before
                    faults.append(Fault(number, text, "names no crawler"))
            case "allow" | "disallow" as directive:
                if not agents:
                    faults.append(Fault(number, text, "is before the first User-agent line"))
                    continue
                in_rules = True
                if not value:
                    continue  # an empty pattern matches nothing
                if value[:1] not in (b"/", b"*"):
                    faults.append(Fault(number, text, "is not a path, which starts with / or *"))
                    continue
                if MISPLACED_END.search(value):
                    faults.append(Fault(number, text, "has a $ that is not at its end, where it has no meaning"))
                rules.append(RobotsRule(directive == "allow", normalised_pattern(value), number, text))
            case "sitemap":
                if value:
                    sitemaps.append(value.decode("utf-8", "replace"))
                if not ABSOLUTE.match(value):
                    faults.append(Fault(number, text, "is not a URL with scheme and host"))
            case None if not key:
                faults.append(Fault(number, text, "has no field name followed by a colon"))
            case None if key in ("http", "https") and value.startswith(b"//"):
                faults.append(Fault(number, text, "is a URL without a field name"))
            case None if alike := difflib.get_close_matches(key, KEYS, 1, ALIKE):
                faults.append(Fault(number, text, f"is not understood; {KEYS[alike[0]].capitalize()} was meant"))
            case _:
                pass  # other records, such as Crawl-delay, end no group (RFC 9309, section 2.2.4)
    if agents:
        groups.append(Group(frozenset(agents), tuple(rules)))
    return Robots(tuple(groups), tuple(sitemaps), tuple(faults))


def decide(robots: Robots, agent: str, path: str) -> Decision:
    """Whether the crawler with this product token may fetch a path (with its query).

    The groups that name the crawler are joined and replace those of `*` (section 2.2.1). The longest pattern
    decides, and of an allow and a disallow of one length the allow (section 2.2.2).
    """
    name = agent.lower()
    if not any(name in group.agents for group in robots.groups):
        name = "*"
    address = normalised_path(path)
    if address.partition("?")[0] == "/robots.txt":
        return Decision(True, None, name)
    matching = [
        rule
        for group in robots.groups
        if name in group.agents
        for rule in group.rules
        if _matches(rule.pattern, address)
    ]
    rule = max(matching, key=lambda each: (len(each.pattern), each.allows), default=None)
    return Decision(rule is None or rule.allows, rule, name)


def blocked_engines(robots: Robots, path: str) -> dict[str, Decision]:
    """The search engines beside Google that may not fetch a path, by their names."""
    decisions = {name: decide(robots, token, path) for name, token in OTHER_ENGINES.items()}
    return {name: decision for name, decision in decisions.items() if not decision.allowed}


def normalised_pattern(value: bytes) -> str:
    """A rule's pattern in the form that paths are compared in: `*` and a last `$` keep their meaning."""
    pattern = _normalised(quote(value, safe=URI_CHARACTERS + "*$"))
    return pattern[:-1].replace("$", "%24") + pattern[-1:]


def normalised_path(path: str) -> str:
    """A path in the form that patterns are compared in (section 2.2.2): escapes of plain letters undone."""
    # The specials of patterns are escaped, as they are literal here.
    return _normalised(quote(path, safe=URI_CHARACTERS))


def _without_bom(content: bytes) -> bytes:
    """Without a byte order mark or the beginning of one, as Google's parser."""
    length = next(length for length in (3, 2, 1, 0) if content.startswith(BOM[:length]))
    return content[length:]


def _normalised(text: str) -> str:
    def escape(found: re.Match[str]) -> str:
        character = chr(int(found[1], 16))
        return character if character in UNRESERVED else found[0].upper()

    return ESCAPED.sub(escape, text)


def _matches(pattern: str, path: str) -> bool:
    """Greedily from left to right, so the time is linear in the path however many wildcards there are."""
    is_anchored = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not others:
        return not is_anchored or path == first
    position = len(first)
    *middle, last = others
    for part in middle:
        found = path.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    if is_anchored:
        return len(path) - len(last) >= position and path.endswith(last)
    return path.find(last, position) >= 0


def _pair(line: bytes) -> tuple[str, bytes] | None:
    """A line's key in lower case and its value; None where it is empty, no key where it is none."""
    content = line.partition(b"#")[0].strip()
    if not content:
        return None
    name, colon, value = content.partition(b":")
    if not colon:
        # “Disallow /path” is understood, other lines without a colon are not.
        name, _, value = content.replace(b"\t", b" ").partition(b" ")
        if KEYS.get(name.decode("latin-1").lower()) is None or b" " in value.strip():
            return "", content
    key = name.decode("latin-1").strip().lower()
    return (key if KEY.fullmatch(key) else ""), value.strip()


def _agent(value: bytes) -> str | None:
    text = value.decode("latin-1")
    if text.split()[:1] == ["*"]:
        return "*"
    found = PRODUCT_TOKEN.match(text)
    return found[0].lower() if found else None
