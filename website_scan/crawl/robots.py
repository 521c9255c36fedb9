"""Parse robots.txt as leniently as Google does.

RFC 9309 permits this. Every rule has the number and text of its line, so that a report can quote the deciding rule.
"""

from __future__ import annotations

import difflib
import re
import string
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from website_scan.messages import KIB, excerpt

MAX_BYTES = 500 * KIB  # Crawlers may ignore the rest of a longer robots.txt (RFC 9309, section 2.5).

ROBOTS_PATH = "/robots.txt"  # Crawlers may always fetch this path.
GOOGLEBOT = "googlebot"
# Product tokens in robots.txt for crawlers of search engines other than Google.
OTHER_SEARCH_ENGINES = {
    "Bingbot": "bingbot",
    "DuckDuckBot": "duckduckbot",
    "YandexBot": "yandexbot",
    "Baiduspider": "baiduspider",
}
# Field names of robots.txt, including the misspellings that crawlers accept.
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
# A `$` within a path was probably meant to mark the end, unless it begins a name (OData's /$metadata, ?$filter=).
MISPLACED_END_ANCHOR = re.compile(rb"\$(?!$)(?<![/?&=]\$(?=[A-Za-z{]))")
KEY = re.compile(r"[a-z][a-z0-9_ -]*", re.IGNORECASE)
ABSOLUTE = re.compile(rb"https?://[^/\s]", re.IGNORECASE)
PRODUCT_TOKEN = re.compile(r"[a-z_-]+", re.IGNORECASE)
CRAWL_DELAY = re.compile(rb"\d{1,6}(?:\.\d{1,6})?")
INDEX_PAGE_PATTERN = re.compile(r"(.*/)index\.htm[^/]*", re.DOTALL)
PLAIN_PATH = re.compile(r"[A-Za-z0-9._~/?=&-]*")  # Normalization does not change paths that match this pattern.
ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
# URIs contain these characters besides letters, digits, `*` and `$`.
URI_CHARACTERS = "%!&'()+,/:;=?@[]-._~"


class RobotsRule(Struct, frozen=True):
    """Allow or disallow rule of robots.txt.

    `text` is the original line, `line` its number (from 1).
    """

    allows: bool
    pattern: str
    line: int
    text: str


class Group(Struct, frozen=True):
    """Group of robots.txt rules.

    `agents` are product tokens of crawlers in lower case, or `*`. `crawl_delay_s` is the requested delay between two
    requests, which is not part of RFC 9309.
    """

    agents: frozenset[str]
    rules: tuple[RobotsRule, ...]
    crawl_delay_s: float = 0.0


class Fault(Struct, frozen=True):
    """Line of robots.txt that crawlers ignore or misunderstand."""

    line: int
    text: str
    reason: str


class Robots(Struct, frozen=True):
    """Parsed robots.txt.

    An empty robots.txt allows everything.
    """

    groups: tuple[Group, ...] = ()
    sitemaps: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


class Decision(Struct, frozen=True):
    """Whether robots.txt allows a path.

    `rule` is None if no rule applies. `agent` is the crawler that the deciding group names.
    """

    allowed: bool
    rule: RobotsRule | None = None
    agent: str = "*"

    @property
    def quoted(self) -> str:
        """Return a quotation of the deciding rule.

        An example is “Disallow: /private” (line 3, for all crawlers).
        """
        if self.rule is None:
            return "no line applies"
        crawlers = "all crawlers" if self.agent == "*" else self.agent
        return f"“{excerpt(self.rule.text)}” (line {self.rule.line}, for {crawlers})"


def parse_robots(content: bytes) -> Robots:  # noqa: C901 -- one branch for each kind of line
    """Parse a robots.txt.

    Never fails, for any content. Ignores everything beyond 500 KiB.
    """
    if len(content) > MAX_BYTES:
        # A truncated path would disallow more than the whole path.
        content = content[:MAX_BYTES]
        content = content[: max(content.rfind(b"\n"), content.rfind(b"\r")) + 1]
    groups: list[Group] = []
    sitemaps: list[str] = []
    faults: list[Fault] = []
    agents: set[str] = set()
    rules: list[RobotsRule] = []
    crawl_delay_s = 0.0
    is_inside_rules = False
    for number, line in enumerate(re.split(rb"\r\n|\r|\n", _remove_bom(content)), 1):
        text = line.decode("utf-8", "replace").strip()
        pair = _parse_line(line)
        if pair is None:
            continue
        key, value = pair
        match KEYS.get(key):
            case "user-agent":
                if is_inside_rules:
                    groups.append(Group(frozenset(agents), tuple(rules), crawl_delay_s))
                    agents, rules, crawl_delay_s, is_inside_rules = set(), [], 0.0, False
                if (agent := _parse_agent(value)) is not None:
                    agents.add(agent)
                else:
                    agents.add("")  # The user agent is invalid, so the group's rules apply to no crawler.
                    faults.append(Fault(number, text, "names no crawler"))
            case "allow" | "disallow" as directive:
                if not agents:
                    faults.append(Fault(number, text, "is before the first User-agent line"))
                    continue
                is_inside_rules = True
                if not value:
                    continue  # A rule with an empty pattern matches no path.
                if value[:1] not in (b"/", b"*"):
                    faults.append(Fault(number, text, "is not a path, which starts with / or *"))
                    continue
                if MISPLACED_END_ANCHOR.search(value):
                    faults.append(Fault(number, text, "has a $ that is not at its end, where it has no meaning"))
                rules.append(RobotsRule(directive == "allow", normalised_pattern(value), number, text))
            case "sitemap":
                if value:
                    sitemaps.append(value.decode("utf-8", "replace"))
                if not ABSOLUTE.match(value):
                    faults.append(Fault(number, text, "is not a URL with scheme and host"))
            case None if key == "crawl-delay":
                if agents and CRAWL_DELAY.fullmatch(value):
                    crawl_delay_s = max(crawl_delay_s, float(value))
            case None if not key:
                faults.append(Fault(number, text, "has no field name followed by a colon"))
            case None if key in ("http", "https") and value.startswith(b"//"):
                faults.append(Fault(number, text, "is a URL without a field name"))
            case None if alike := difflib.get_close_matches(key, KEYS, 1, ALIKE):
                faults.append(Fault(number, text, f"is not understood; {KEYS[alike[0]].capitalize()} was meant"))
            case _:
                pass  # Other records do not end a group (RFC 9309, section 2.2.4).
    if agents:
        groups.append(Group(frozenset(agents), tuple(rules), crawl_delay_s))
    return Robots(tuple(groups), tuple(sitemaps), tuple(faults))


def decide(robots: Robots, agent: str, path: str) -> Decision:
    """Decide whether a crawler may fetch a path with its query.

    The crawler has this product token. The groups that name the crawler are combined and replace those of `*` (section
    2.2.1). The longest matching pattern decides; if an allow and a disallow have the same length, the allow decides
    (section 2.2.2).
    """
    name, groups = _find_groups(robots, agent)
    rules = _find_rules(groups, agent)
    address = normalised_path(path)
    if address.partition("?")[0] == ROBOTS_PATH:
        return Decision(True, None, name)
    matching = [rule for rule in rules if pattern_matches(rule.pattern, address)]
    rule = max(matching, key=lambda rule: (len(rule.pattern), rule.allows), default=None)
    return Decision(rule is None or rule.allows, rule, name)


class CrawlerRules:
    """robots.txt rules for one crawler, compiled to match many paths.

    Returns the same results as `decide`, but faster. `crawl_delay_s` is the longest delay that the crawler's groups
    request.
    """

    def __init__(self, robots: Robots, agent: str) -> None:
        _, groups = _find_groups(robots, agent)
        rules = _find_rules(groups, agent)
        # Rules are sorted so that the first matching rule decides.
        self._rules = sorted(rules, key=lambda rule: (len(rule.pattern), rule.allows), reverse=True)
        self._disallowed_prefixes = tuple({_literal_prefix(rule.pattern) for rule in rules if not rule.allows})
        self.crawl_delay_s = max((group.crawl_delay_s for group in groups), default=0.0)

    def allows(self, path: str) -> bool:
        """Return True if the crawler may fetch a path.

        The path includes the query, and must be normalised by `normalised_path`.
        """
        # Most paths do not begin like any disallow rule, so return early.
        if not path.startswith(self._disallowed_prefixes) or path.partition("?")[0] == ROBOTS_PATH:
            return True
        return next((rule.allows for rule in self._rules if pattern_matches(rule.pattern, path)), True)


def product_token(user_agent: str) -> str:
    """Return a crawler's product token for robots.txt.

    It is the beginning of its User-Agent (RFC 9309, section 2.2.1).
    """
    match = PRODUCT_TOKEN.match(user_agent)
    return match[0] if match else "*"


def blocked_search_engines(robots: Robots, path: str) -> dict[str, Decision]:
    """Return decisions that block other search engines than Google.

    The keys are the names of crawlers.
    """
    decisions = {name: decide(robots, token, path) for name, token in OTHER_SEARCH_ENGINES.items()}
    return {name: decision for name, decision in decisions.items() if not decision.allowed}


def normalised_pattern(value: bytes) -> str:
    """Normalise the percent escapes of a rule's pattern.

    `*` and a final `$` remain special characters.
    """
    pattern = _normalise_escapes(quote(value, safe=URI_CHARACTERS + "*$"))
    return pattern[:-1].replace("$", "%24") + pattern[-1:]


def normalised_path(path: str) -> str:
    """Normalise a path's percent escapes for patterns.

    Unreserved characters are decoded.
    """
    if PLAIN_PATH.fullmatch(path):
        return path
    # `*` and `$` are literal in paths.
    return _normalise_escapes(quote(path, safe=URI_CHARACTERS))


def _find_groups(robots: Robots, agent: str) -> tuple[str, list[Group]]:
    name = agent.lower()
    if not any(name in group.agents for group in robots.groups):
        name = "*"
    return name, [group for group in robots.groups if name in group.agents]


def _find_rules(groups: list[Group], agent: str) -> list[RobotsRule]:
    """Return the rules of robots.txt groups.

    For Google, allowing /index.html also allows its directory.
    """
    rules = [rule for group in groups for rule in group.rules]
    if agent.lower() != GOOGLEBOT:
        return rules
    index_pages = ((rule, INDEX_PAGE_PATTERN.fullmatch(rule.pattern)) for rule in rules if rule.allows)
    return rules + [replace(rule, pattern=f"{match[1]}$") for rule, match in index_pages if match is not None]


def _literal_prefix(pattern: str) -> str:
    return pattern.removesuffix("$").partition("*")[0]


def _remove_bom(content: bytes) -> bytes:
    """Return the content without a byte order mark.

    The mark may be incomplete. Google's parser does the same.
    """
    length = next(length for length in (3, 2, 1, 0) if content.startswith(BOM[:length]))
    return content[length:]


def _normalise_escapes(text: str) -> str:
    def normalise_escape(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character in UNRESERVED else match[0].upper()

    return ESCAPED.sub(normalise_escape, text)


def pattern_matches(pattern: str, path: str) -> bool:
    """Return True if a robots.txt pattern matches a path.

    Both must be normalised. Wildcards match greedily from left to right, so the time is linear in the path's length,
    for any number of wildcards.
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


def _parse_line(line: bytes) -> tuple[str, bytes] | None:
    """Return a line's field name in lower case and its value.

    Returns None for an empty line, and an empty name for an invalid line.
    """
    content = line.partition(b"#")[0].strip()
    if not content:
        return None
    name, colon, value = content.partition(b":")
    if not colon:
        # “Disallow /path” is accepted without its colon.
        name, _, value = content.replace(b"\t", b" ").partition(b" ")
        if KEYS.get(name.decode("latin-1").lower()) is None or b" " in value.strip():
            return "", content
    key = name.decode("latin-1").strip().lower()
    return (key if KEY.fullmatch(key) else ""), value.strip()


def _parse_agent(value: bytes) -> str | None:
    text = value.decode("latin-1")
    if text.split()[:1] == ["*"]:
        return "*"
    match = PRODUCT_TOKEN.match(text)
    return match[0].lower() if match else None
