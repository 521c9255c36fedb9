"""Parser of robots.txt by RFC 9309, as lenient as Google's parser where the RFC permits it.

Every rule has the number and text of its line, so that a report can quote the deciding rule.
"""

from __future__ import annotations

import difflib
import re
import string
from dataclasses import dataclass, replace
from urllib.parse import quote

from website_scan.messages import KIB, excerpt

MAX_BYTES = 500 * KIB  # RFC 9309, section 2.5: crawlers may ignore the rest

ROBOTS_PATH = "/robots.txt"  # always allowed
GOOGLEBOT = "googlebot"
# Crawlers of search engines other than Google, and their product tokens in robots.txt.
OTHER_ENGINES = {
    "Bingbot": "bingbot",
    "DuckDuckBot": "duckduckbot",
    "YandexBot": "yandexbot",
    "Baiduspider": "baiduspider",
}
# Keys, and misspellings of keys that crawlers accept.
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
# A `$` within a path that was probably meant as its end. It may also begin a name (OData's /$metadata, ?$filter=).
MISPLACED_END = re.compile(rb"\$(?!$)(?<![/?&=]\$(?=[A-Za-z{]))")
KEY = re.compile(r"[a-z][a-z0-9_ -]*", re.IGNORECASE)
ABSOLUTE = re.compile(rb"https?://[^/\s]", re.IGNORECASE)
PRODUCT_TOKEN = re.compile(r"[a-z_-]+", re.IGNORECASE)
CRAWL_DELAY = re.compile(rb"\d{1,6}(?:\.\d{1,6})?")
INDEX_PAGE = re.compile(r"(.*/)index\.htm[^/]*", re.DOTALL)
PLAIN_PATH = re.compile(r"[A-Za-z0-9._~/?=&-]*")  # unchanged by normalization
ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
URI_CHARACTERS = "%!&'()+,/:;=?@[]-._~"  # besides letters, digits, and `*` and `$`, which have a meaning in rules


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """Allow or disallow line. `pattern` is normalised; `text` is the original text of `line` (from 1)."""

    allows: bool
    pattern: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Group of rules, with the product tokens (lower case, or `*`) of the crawlers to which they apply.

    `crawl_delay_s` is the requested pause between two requests, which is not in the RFC.
    """

    agents: frozenset[str]
    rules: tuple[RobotsRule, ...]
    crawl_delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Fault:
    """Line of a robots.txt that crawlers ignore or misunderstand."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Robots:
    """Parsed robots.txt. An empty file restricts nothing."""

    groups: tuple[Group, ...] = ()
    sitemaps: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """Permission of a crawler to fetch a path, with the deciding rule (None: no rule applies) and its group's agent."""

    allowed: bool
    rule: RobotsRule | None = None
    agent: str = "*"

    @property
    def quoted(self) -> str:
        """Return the deciding line in words: “Disallow: /private” (line 3, for all crawlers)."""
        if self.rule is None:
            return "no line applies"
        crawlers = "all crawlers" if self.agent == "*" else self.agent
        return f"“{excerpt(self.rule.text)}” (line {self.rule.line}, for {crawlers})"


def parse_robots(content: bytes) -> Robots:  # noqa: C901 -- one branch for each kind of line
    """Return the rules of a robots.txt. Never fails, for any content. Ignores everything beyond 500 KiB."""
    if len(content) > MAX_BYTES:
        # Drop the last line, which may be cut: a shorter path would forbid more than the whole path.
        content = content[:MAX_BYTES]
        content = content[: max(content.rfind(b"\n"), content.rfind(b"\r")) + 1]
    groups: list[Group] = []
    sitemaps: list[str] = []
    faults: list[Fault] = []
    agents: set[str] = set()
    rules: list[RobotsRule] = []
    delay_s = 0.0
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
                    groups.append(Group(frozenset(agents), tuple(rules), delay_s))
                    agents, rules, delay_s, in_rules = set(), [], 0.0, False
                if (agent := _agent(value)) is not None:
                    agents.add(agent)
                else:
                    agents.add("")  # its rules apply to no crawler
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
            case None if key == "crawl-delay":
                if agents and CRAWL_DELAY.fullmatch(value):
                    delay_s = max(delay_s, float(value))
            case None if not key:
                faults.append(Fault(number, text, "has no field name followed by a colon"))
            case None if key in ("http", "https") and value.startswith(b"//"):
                faults.append(Fault(number, text, "is a URL without a field name"))
            case None if alike := difflib.get_close_matches(key, KEYS, 1, ALIKE):
                faults.append(Fault(number, text, f"is not understood; {KEYS[alike[0]].capitalize()} was meant"))
            case _:
                pass  # other records do not end a group (RFC 9309, section 2.2.4)
    if agents:
        groups.append(Group(frozenset(agents), tuple(rules), delay_s))
    return Robots(tuple(groups), tuple(sitemaps), tuple(faults))


def decide(robots: Robots, agent: str, path: str) -> Decision:
    """Return whether the crawler with this product token may fetch a path (with its query).

    The groups that name the crawler are combined and replace those of `*` (section 2.2.1). The longest matching pattern
    decides; if an allow and a disallow have the same length, the allow decides (section 2.2.2).
    """
    name, groups = _groups_for(robots, agent)
    rules = _rules_for(groups, agent)
    address = normalised_path(path)
    if address.partition("?")[0] == ROBOTS_PATH:
        return Decision(True, None, name)
    matching = [rule for rule in rules if matches(rule.pattern, address)]
    rule = max(matching, key=lambda rule: (len(rule.pattern), rule.allows), default=None)
    return Decision(rule is None or rule.allows, rule, name)


class CrawlerRules:
    """Rules for one crawler, prepared for checking many paths: same results as `decide`, faster.

    `crawl_delay_s` is the longest delay that the crawler's groups request.
    """

    def __init__(self, robots: Robots, agent: str) -> None:
        _, groups = _groups_for(robots, agent)
        rules = _rules_for(groups, agent)
        # Sorted, so that the first matching rule decides.
        self._rules = sorted(rules, key=lambda rule: (len(rule.pattern), rule.allows), reverse=True)
        self._beginnings = tuple({_beginning(rule.pattern) for rule in rules if not rule.allows})
        self.crawl_delay_s = max((group.crawl_delay_s for group in groups), default=0.0)

    def allows(self, path: str) -> bool:
        """Return True if the crawler may fetch a path (with its query), in the form of `normalised_path`."""
        # Fast path: most paths do not begin like any disallow rule.
        if not path.startswith(self._beginnings) or path.partition("?")[0] == ROBOTS_PATH:
            return True
        return next((rule.allows for rule in self._rules if matches(rule.pattern, path)), True)


def product_token(user_agent: str) -> str:
    """Return a crawler's product token for robots.txt: the beginning of its User-Agent (RFC 9309, section 2.2.1)."""
    match = PRODUCT_TOKEN.match(user_agent)
    return match[0] if match else "*"


def blocked_engines(robots: Robots, path: str) -> dict[str, Decision]:
    """Return the search engines other than Google that may not fetch a path, by crawler name."""
    decisions = {name: decide(robots, token, path) for name, token in OTHER_ENGINES.items()}
    return {name: decision for name, decision in decisions.items() if not decision.allowed}


def normalised_pattern(value: bytes) -> str:
    """Return a rule's pattern in the form in which paths are compared. `*` and a final `$` remain special."""
    pattern = _normalised(quote(value, safe=URI_CHARACTERS + "*$"))
    return pattern[:-1].replace("$", "%24") + pattern[-1:]


def normalised_path(path: str) -> str:
    """Return a path in the form in which patterns are compared: with escapes of unreserved letters undone."""
    if PLAIN_PATH.fullmatch(path):
        return path
    # Escape the special characters of patterns, because they are literal here.
    return _normalised(quote(path, safe=URI_CHARACTERS))


def _groups_for(robots: Robots, agent: str) -> tuple[str, list[Group]]:
    name = agent.lower()
    if not any(name in group.agents for group in robots.groups):
        name = "*"
    return name, [group for group in robots.groups if name in group.agents]


def _rules_for(groups: list[Group], agent: str) -> list[RobotsRule]:
    """Return the rules of the groups. For Google, an allowed index.html also allows its directory."""
    rules = [rule for group in groups for rule in group.rules]
    if agent.lower() != GOOGLEBOT:
        return rules
    index_pages = ((rule, INDEX_PAGE.fullmatch(rule.pattern)) for rule in rules if rule.allows)
    return rules + [replace(rule, pattern=f"{match[1]}$") for rule, match in index_pages if match is not None]


def _beginning(pattern: str) -> str:
    return pattern.removesuffix("$").partition("*")[0]


def _without_bom(content: bytes) -> bytes:
    """Return the content without its byte order mark, or a prefix of one, as Google's parser does."""
    length = next(length for length in (3, 2, 1, 0) if content.startswith(BOM[:length]))
    return content[length:]


def _normalised(text: str) -> str:
    def escape(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character in UNRESERVED else match[0].upper()

    return ESCAPED.sub(escape, text)


def matches(pattern: str, path: str) -> bool:
    """Return True if a pattern matches a path, both normalised.

    Wildcards match greedily from left to right, so the time is linear in the path's length, for any number of
    wildcards.
    """
    is_anchored = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not others:
        return not is_anchored or path == first
    position = len(first)
    *middle, last = others
    for part in middle:
        start = path.find(part, position)
        if start < 0:
            return False
        position = start + len(part)
    if is_anchored:
        return len(path) - len(last) >= position and path.endswith(last)
    return path.find(last, position) >= 0


def _pair(line: bytes) -> tuple[str, bytes] | None:
    """Return a line's key in lower case and its value; None for an empty line, an empty key for an invalid one."""
    content = line.partition(b"#")[0].strip()
    if not content:
        return None
    name, colon, value = content.partition(b":")
    if not colon:
        # “Disallow /path” is accepted, other lines without a colon are not.
        name, _, value = content.replace(b"\t", b" ").partition(b" ")
        if KEYS.get(name.decode("latin-1").lower()) is None or b" " in value.strip():
            return "", content
    key = name.decode("latin-1").strip().lower()
    return (key if KEY.fullmatch(key) else ""), value.strip()


def _agent(value: bytes) -> str | None:
    text = value.decode("latin-1")
    if text.split()[:1] == ["*"]:
        return "*"
    match = PRODUCT_TOKEN.match(text)
    return match[0].lower() if match else None
