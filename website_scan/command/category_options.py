"""Option `--categories`, which limits security to some categories of checks."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from typing import Any

from website_scan.command.argument_parser import reader
from website_scan.command.errors import WrongUsage
from website_scan.findings import ScanType
from website_scan.security_categories import Categories, SecurityCategory, parse_categories

KNOWN = frozenset(SecurityCategory)


def add_category_option(group: argparse._ActionsContainer) -> None:
    """Add the option to the parser."""
    about = "only these of security: mail,names, …"
    group.add_argument("--categories", type=reader(category_names), metavar="NAMES", help=about)


def category_names(value: object) -> list[str]:
    """Parse a list of categories, or a text with commas between them. Raises ValueError."""
    names = [name.strip() for name in value.split(",")] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name in KNOWN for name in names):
        raise ValueError(f"must be some of {', '.join(SecurityCategory)}")
    return names


def chosen_categories(typed: Mapping[str, Any], chosen: Mapping[str, Any], types: Collection[str]) -> Categories | None:
    """Return the chosen categories, or None for all. Raises WrongUsage.

    `typed` are the options on the command line, which may choose types without the security that the file limits.
    """
    names: list[str] | None = chosen.get("categories")
    if names is None or ("categories" not in typed and ScanType.SECURITY not in types):
        return None
    for option in ("journey", "journeys", "write_baseline"):
        if chosen.get(option):
            raise WrongUsage(f"--categories and --{option.replace('_', '-')} exclude each other.")
    try:
        return parse_categories(names, types)
    except ValueError:
        raise WrongUsage("--categories needs --type security.") from None
