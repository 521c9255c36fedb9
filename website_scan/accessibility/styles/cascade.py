"""CSS cascade of the page's rules for display and visibility.

CSS Cascade 5.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from website_scan.accessibility.styles.rules import DisplayRule, inline_style
from website_scan.accessibility.styles.selectors import SelectorMatcher
from website_scan.page.markup import attribute

# Each element with a key is matched against all rules with the key.
MAX_RULES_PER_KEY = 50
# Selectors that need the document tree may match this many elements.
MAX_MATCHED_ELEMENTS = 200_000
HIDING_KEYWORDS = {"display": frozenset({"none"}), "visibility": frozenset({"hidden", "collapse"})}


class Cascade:
    """CSS cascade of one document tree for display and visibility."""

    def __init__(self, tree: LexborHTMLParser, rules: tuple[DisplayRule, ...]) -> None:
        self._rules_by_key: dict[str, list[DisplayRule]] = {}
        self._rules_by_element: dict[int, list[DisplayRule]] = {}
        self._uncertain_rules: set[DisplayRule] = set()
        finder: SelectorMatcher | None = None
        matches = 0
        for rule in rules:
            rules_with_key = self._rules_by_key.setdefault(rule.key, [])
            if rule.is_simple_selector:
                rules_with_key.append(rule)
                continue
            finder = finder or SelectorMatcher(tree)
            nodes = finder.find(rule.selector) if matches < MAX_MATCHED_ELEMENTS else None
            if nodes is None:
                self._uncertain_rules.add(rule)
                rules_with_key.append(rule)
                continue
            matches += len(nodes)
            for node in nodes:
                self._rules_by_element.setdefault(node.mem_id, []).append(rule)
        for key, rules_with_key in self._rules_by_key.items():
            self._rules_by_key[key] = rules_with_key[-MAX_RULES_PER_KEY:]

    def display_keywords(self, node: LexborNode) -> tuple[dict[str, str], bool]:
        """Return the keywords that CSS sets for the element.

        CSS rules and the style attribute set display and visibility. The second value is True if a rule that may not
        apply would hide the element.
        """
        classes = frozenset((attribute(node, "class") or "").split())
        names = (node.tag or "", attribute(node, "id") or "", classes)
        keys = ("*", names[0], f"#{names[1]}", *(f".{name}" for name in classes))
        matching = [rule for key in keys for rule in self._rules_by_key.get(key, ()) if rule.compound.may_match(*names)]
        matching += self._rules_by_element.get(node.mem_id, ())
        inline = inline_style(node)
        if not matching:
            return inline, False
        matching.sort(key=lambda rule: rule.rank)
        keywords: dict[str, str] = {}
        hides_by_property: dict[str, bool] = {}
        for rule in matching:
            if rule.name in inline and not rule.is_important:
                continue
            hides = rule.keyword in HIDING_KEYWORDS[rule.name]
            if rule.is_certain and rule not in self._uncertain_rules:
                keywords[rule.name] = rule.keyword
                hides_by_property[rule.name] = False
            elif hides or rule.keyword == "var":
                hides_by_property[rule.name] = True
        return {**inline, **keywords}, any(hides_by_property.values())
