"""Write options of website-scan.toml as text."""

from __future__ import annotations

import json
from collections.abc import Iterable

from website_scan.requirements.lighthouse.translation import Translation
from website_scan.requirements.model import Requirements

# Longer lists have an item a line.
MAX_LINE = 100


def translation_toml(translation: Translation) -> str:
    """Return a translated file of Lighthouse as a part of website-scan.toml."""
    parts = []
    if translation.outcomes:
        parts.append(_list("fail-on-outcome", translation.outcomes))
    if translation.under:
        scores = "".join(f"{name} = {score}\n" for name, score in translation.under.items())
        parts.append(f"[fail-under]\n{scores}")
    if translation.requirements.rules:
        parts.append(requirements_toml(translation.requirements))
    return "\n".join(parts)


def requirements_toml(requirements: Requirements) -> str:
    """Return the table `[requirements]`."""
    parts = [f"[requirements]\nweight = {requirements.weight}\n"]
    for rule in requirements.json()["rules"]:
        lines = "".join(
            _list(name, value) if isinstance(value, list) else f"{name} = {_value(value)}\n"
            for name, value in rule.items()
        )
        parts.append(f"[[requirements.rules]]\n{lines}")
    return "\n".join(parts)


def _list(name: str, values: Iterable[str]) -> str:
    items = [_value(value) for value in values]
    line = f"{name} = [{', '.join(items)}]\n"
    if len(line) <= MAX_LINE:
        return line
    return f"{name} = [\n{''.join(f'    {item},{chr(10)}' for item in items)}]\n"


def _value(value: object) -> str:
    # Strings, numbers and booleans are written as in JSON.
    return json.dumps(value, ensure_ascii=False)
