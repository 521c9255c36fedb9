"""Program that inserts pending webhook deliveries.

It writes to the service's database and wakes the dispatcher.

Reads lines of `COUNT URL…` from standard input: every URL gets COUNT deliveries. Answers each line with the line
`pending`.
"""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

import django
from django.db import transaction


def insert_deliveries(count: int, urls: list[str]) -> None:
    from django.utils import timezone

    from accounts.services import ensure_organization
    from infrastructure import encryption
    from webhooks.delivery.signing import new_secret
    from webhooks.events import wake_dispatcher
    from webhooks.examples import example
    from webhooks.models import Delivery, Event, EventKind, Webhook

    kind = EventKind.SCAN_COMPLETED
    organization = ensure_organization(name="Receivers")
    with transaction.atomic():
        for url in urls:
            webhook = Webhook.objects.create(
                organization=organization,
                url=url,
                receiver=urlsplit(url).netloc,
                events=[kind],
                encrypted_secret=encryption.encrypt(new_secret()),
            )
            body = example(kind, timezone.now())
            events = Event.objects.bulk_create(
                Event(organization=organization, kind=kind, body=body) for _ in range(count)
            )
            Delivery.objects.bulk_create(Delivery(webhook=webhook, event=event) for event in events)
        wake_dispatcher(webhook.id)


if __name__ == "__main__":
    django.setup()
    for line in sys.stdin:
        number, *receivers = line.split()
        insert_deliveries(int(number), receivers)
        sys.stdout.write("pending\n")
        sys.stdout.flush()
