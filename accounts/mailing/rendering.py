"""Render e-mails from text and HTML templates, with one-line subjects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from msgspec import Struct

from accounts.mailing import topics
from accounts.models import Organization, User
from infrastructure.web.time_zones import reading_in
from website_scan.messages import UNWRITABLE, cut, plain

FORMATS = ("txt", "html")
MAX_SUBJECT_LENGTH = 200
# Regular expression for control characters such as line breaks, and for bidirectional controls, which reorder text.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class RenderedMail(Struct, frozen=True):
    """An e-mail's rendered body, as plain text and as HTML."""

    text: str
    html: str


def render(
    template: str,
    subject: str,
    person: User,
    topic: str,
    organization: Organization | None,
    context: Mapping[str, Any],
) -> RenderedMail:
    """Render the templates `emails/<template>.txt` and `.html` for one recipient.

    Besides `context`, the templates get `base_url`, `email`, `subject`, `organization`, `topic_words` and
    `unsubscribe_url`, which is empty for topics that nobody can unsubscribe from. The filter `minute`
    shows times in the recipient's time zone.
    """
    variables = {
        "base_url": settings.BASE_URL,
        "email": person.email,
        "subject": one_line(subject),
        "organization": organization,
        "topic_words": topics.words(topic, organization),
        "unsubscribe_url": "" if topic in topics.ALWAYS else topics.unsubscribe_url(person, topic),
        **context,
    }
    with reading_in(person.time_zone):
        text, html = (plain(_render_template(template, extension, variables)) for extension in FORMATS)
    return RenderedMail(text, html)


def one_line(subject: str) -> str:
    """Return the subject as one line of at most 200 characters.

    Removes control characters, which names may contain.
    """
    line = " ".join(CONTROL.sub(" ", UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", subject)).split())
    return cut(line, MAX_SUBJECT_LENGTH)


def _render_template(template: str, extension: str, context: Mapping[str, Any]) -> str:
    return render_to_string(f"emails/{template}.{extension}", dict(context))
