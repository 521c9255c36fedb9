"""Helper for e-mails: read the newest one and follow its link."""

from __future__ import annotations

import re

from django.conf import settings
from django.core import mail


def link_in_mail(to: str) -> str:
    """Return the path of our first link in the newest e-mail, which must have gone to this address."""
    message = mail.outbox[-1]
    assert message.to == [to]
    found = re.search(rf"^\s*{re.escape(settings.BASE_URL)}(/\S+)$", str(message.body), re.MULTILINE)
    assert found, message.body
    return found[1]
