"""What a person does with an e-mail: read it, follow its link."""

from __future__ import annotations

import re

from django.conf import settings
from django.core import mail


def link_in_mail(to: str) -> str:
    """The path of the first link of ours in the newest e-mail, which went to this address."""
    message = mail.outbox[-1]
    assert message.to == [to]
    found = re.search(rf"^\s*{re.escape(settings.BASE_URL)}(/\S+)$", message.body, re.MULTILINE)
    assert found, message.body
    return found[1]
