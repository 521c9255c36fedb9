"""CSS cascade of the page's own rules for display and visibility (CSS Cascade 5)."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from website_scan.accessibility.styles.rules import DisplayRule, inline_style
from website_scan.accessibility.styles.selectors import SelectorMatcher
from website_scan.page.markup import attribute

# Limit of rules with the same key, because every element with the key is matched against all of them.
MAX_RULES_OF_A_KEY = 50
# Limit of elements matched by selectors that need the tree, for all rules together.
MAX_MATCHES = 200_000
HIDING_KEYWORDS = {"display": frozenset({"none"}), "visibility": frozenset({"hidden", "collapse"})}


class Cascade:
    """Cascade of the display rules for the elements of one tree."""

    def __init__(self, tree: LexborHTMLParser, rules: tuple[DisplayRule, ...]) -> None:
        self._by_key: dict[str, list[DisplayRule]] = {}  # an index, because an element matches few keys
        self._matched: dict[int, list[DisplayRule]] = {}  # by element: rules with selectors that need the tree
        self._uncertain: set[DisplayRule] = set()
        finder: SelectorMatcher | None = None
        matches = 0
        for rule in rules:
            key_rules = self._by_key.setdefault(rule.key, [])
            if rule.is_simple:
                key_rules.append(rule)
                continue
            finder = finder or SelectorMatcher(tree)
            nodes = finder.find(rule.selector) if matches < MAX_MATCHES else None
            if nodes is None:
                self._uncertain.add(rule)
                key_rules.append(rule)
                continue
            matches += len(nodes)
            for node in nodes:
                self._matched.setdefault(node.mem_id, []).append(rule)
        for key, key_rules in self._by_key.items():
            self._by_key[key] = key_rules[-MAX_RULES_OF_A_KEY:]

    def keywords_of(self, node: LexborNode) -> tuple[dict[str, str], bool]:
        """Return the display and visibility keywords that rules and the style attribute set for the element.

        The second value is True if a rule that may not apply would hide the element.
        """
        classes = frozenset((attribute(node, "class") or "").split())
        names = (node.tag or "", attribute(node, "id") or "", classes)
        keys = ("*", names[0], f"#{names[1]}", *(f".{name}" for name in classes))
        matching = [rule for key in keys for rule in self._by_key.get(key, ()) if rule.compound.may_match(*names)]
        matching += self._matched.get(node.mem_id, ())
        inline = inline_style(node)
        if not matching:
            return inline, False
        matching.sort(key=lambda rule: rule.rank)
        keywords: dict[str, str] = {}
        may_hide: dict[str, bool] = {}
        for rule in matching:
            if rule.name in inline and not rule.is_important:
                continue
            hides = rule.keyword in HIDING_KEYWORDS[rule.name]
            if rule.is_certain and rule not in self._uncertain:
                keywords[rule.name] = rule.keyword
                may_hide[rule.name] = False
            elif hides or rule.keyword == "var":
                may_hide[rule.name] = True
        return {**inline, **keywords}, any(may_hide.values())
