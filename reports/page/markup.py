"""HTML for what a report page has hundreds of, where Django's templates would take half a millisecond for each.

Safe by construction, as `format_html` is, and three times as fast: whatever is not SafeString already is escaped.
Formats are constants of the code, never text from outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from django.utils.safestring import SafeString

NOTHING = SafeString("")


def fill(template: str, *values: object) -> SafeString:
    """The template with the values in the places of its `{}`."""
    return SafeString(
        template.format(*[each if isinstance(each, SafeString) else escape(str(each)) for each in values])
    )


def fill_each(template: str, values: Iterable[object]) -> SafeString:
    """The template, with one place, for each of the values, one after the other."""
    return SafeString("".join([fill(template, each) for each in values]))
