"""For the templates of e-mails: text that somebody else wrote, and colours."""

from __future__ import annotations

import re

from django import template
from django.template.defaultfilters import stringfilter

register = template.Library()

# Where mail programs see an address in plain text, and make a link of it: "evil.example", "http://evil", "a@evil".
ADDRESS_MARK = re.compile(r"(?<=\S)([.:@])(?=\S)")
WORD_JOINER = "\N{WORD JOINER}"


@register.filter
@stringfilter
def unlinked(text: str) -> str:
    """The text, in which no mail program finds an address to make a link of.

    Names and findings quote what strangers wrote; nothing of theirs is to be clicked on in a mail of ours.
    """
    return ADDRESS_MARK.sub(rf"\1{WORD_JOINER}", text)
