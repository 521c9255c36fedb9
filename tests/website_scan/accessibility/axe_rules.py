"""Read the properties of all axe-core rules from its source."""

from __future__ import annotations

import re

from website_scan.accessibility.axe import BEST_PRACTICE
from website_scan.browser.axe import axe_source

# Beginning of a rule: {id:"aria-text",impact:"serious",selector:"[role=text]",tags:["cat.aria","best-practice"],…
RULE = re.compile(r'\{id:"([\w-]+)",(?:(?!\{id:").){0,200}?impact:"(\w+)"(?:(?!\{id:").){0,1000}?tags:\[([^\]]*)\]')
RULES = {id: (impact, BEST_PRACTICE in tags) for id, impact, tags in RULE.findall(axe_source())}
