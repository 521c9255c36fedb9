"""From templates to the text and the HTML of an e-mail, and to a subject of one line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from accounts.mailing import topics
from accounts.models import Organization, User

FORMS = ("txt", "html")
SUBJECT_CHARACTERS = 200
# Line ends and other commands, and what turns the direction of all that follows.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# What PostgreSQL's text and UTF-8 cannot hold.
UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Rendered:
    """Both forms of an e-mail."""

    text: str
    html: str


def render(
    template: str,
    subject: str,
    person: User,
    topic: str,
    organization: Organization | None,
    context: Mapping[str, Any],
) -> Rendered:
    """`emails/<template>.txt` and `.html` for one person.

    Besides `context` they see `base_url`, `email`, `subject`, `organization`, `topic_words` and `unsubscribe_url`,
    which is empty where nobody can unsubscribe.
    """
    seen = {
        "base_url": settings.BASE_URL,
        "email": person.email,
        "subject": one_line(subject),
        "organization": organization,
        "topic_words": topics.words(topic, organization),
        "unsubscribe_url": "" if topic in topics.ALWAYS else topics.address(person, topic),
        **context,
    }
    text, html = (UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", _rendered(template, form, seen)) for form in FORMS)
    return Rendered(text, html)


def one_line(subject: str) -> str:
    """A subject whatever names in it hold: one line of printable text, at most 200 characters."""
    line = " ".join(CONTROL.sub(" ", UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", subject)).split())
    return line if len(line) <= SUBJECT_CHARACTERS else f"{line[: SUBJECT_CHARACTERS - 1].rstrip()}…"


def _rendered(template: str, form: str, context: Mapping[str, Any]) -> str:
    return render_to_string(f"emails/{template}.{form}", dict(context))
