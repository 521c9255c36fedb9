"""Read files of Lighthouse: budget.json and lighthouserc.json."""

from __future__ import annotations

import json
from collections.abc import Mapping

from website_scan.requirements.lighthouse.assertions import add_assertions
from website_scan.requirements.lighthouse.budgets import add_budgets
from website_scan.requirements.lighthouse.translation import Translation, TranslationBuilder, UnreadableFile

# Sections of a lighthouserc.json that may have the assertions.
SECTIONS = ("ci", "lhci")


def translate(text: str) -> Translation:
    """Translate the text of a budget.json or a lighthouserc.json. Raises UnreadableFile."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = f" ({error})" if isinstance(error, ValueError) else ""
        raise UnreadableFile(f"It is not JSON{reason}. Files in JavaScript and YAML can't be read.") from None
    builder = TranslationBuilder()
    if isinstance(data, list):
        add_budgets(data, builder)
        return builder.build()
    section = next((data[name] for name in SECTIONS if name in data), None) if isinstance(data, Mapping) else None
    if not isinstance(section, Mapping):
        raise UnreadableFile("It is neither a list of budgets nor a configuration with “ci”.")
    if section.get("extends"):
        builder.add_note("“extends”", "it is another file; translate it, too")
    asserted = section.get("assert", {})
    if not isinstance(asserted, Mapping):
        raise UnreadableFile("“assert” is not an object.")
    add_assertions(asserted, builder)
    collect = section.get("collect")
    settings = collect.get("settings") if isinstance(collect, Mapping) else None
    if isinstance(settings, Mapping):
        if "desktop" in (settings.get("preset"), settings.get("formFactor"), settings.get("emulatedFormFactor")):
            builder.add_remark("the settings measure a desktop computer, but the command measures as on a phone")
        if isinstance(budgets := settings.get("budgets"), list):
            add_budgets(budgets, builder)
    return builder.build()
