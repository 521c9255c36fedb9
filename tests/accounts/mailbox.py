"""Test helper that reads the link in the newest e-mail."""

from __future__ import annotations

import re

from django.conf import settings
from django.core import mail


def link_in_mail(to: str) -> str:
    """Return the path of the first service link in the newest e-mail, which must be sent to `to`."""
    message = mail.outbox[-1]
    assert message.to == [to]
    link = re.search(rf"^\s*{re.escape(settings.BASE_URL)}(/\S+)$", str(message.body), re.MULTILINE)
    assert link, message.body
    return link[1]
