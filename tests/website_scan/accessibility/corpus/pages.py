"""Builders of the corpus: a page as its authors intended it, and variants with the faults that occur in practice."""

from __future__ import annotations

from collections.abc import Sequence

Change = tuple[str, str]


MANY = 3  # variants; a family with so many gets one more with all faults


def family(name: str, page: str, **broken: Sequence[Change]) -> dict[str, str]:
    """Return a page and its variants by name. Each variant replaces some of the markup everywhere in the page."""
    found = {name: page}
    neglected = page
    for variant, changes in broken.items():
        markup = page
        for before, after in changes:
            assert before in markup, f"{name}-{variant}: no {before!r}"
            markup = markup.replace(before, after)
            neglected = neglected.replace(before, after)
        found[f"{name}-{variant.replace('_', '-')}"] = markup
    if len(broken) >= MANY:
        found[f"{name}-neglected"] = neglected
    return found


def document(title: str, body: str, *, head: str = "", lang: str = "en") -> str:
    """Return a modern HTML page with the usual head."""
    return f"""<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{head}
</head>
<body>
{body}
</body>
</html>"""
