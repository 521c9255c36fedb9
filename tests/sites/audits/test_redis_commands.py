"""Tests for the number of Redis commands that pages of an audit cause with a browser."""

from __future__ import annotations

import pytest

from accounts.models import Tier
from tests.factories import member_of
from tests.redis_commands import counted_redis_commands
from tests.sites.audits.cast import run_all_work
from tests.sites.journeys.runs import worker_with_browser
from tests.targets.templated import templated_site

PAGES = 6
# The first page stores the evidence of the origin. Messages are not received here: a worker needs about ten more
# commands for each.
MAX_COMMANDS_PER_AUDIT, MAX_COMMANDS_PER_PAGE = 150, 25

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


def test_page_with_a_browser_needs_few_redis_commands() -> None:
    owner = member_of("Owner", "business")
    Tier.objects.update(pages_per_audit=1000, concurrent_scans=4, scans_per_month=100_000)
    with templated_site(PAGES) as site, worker_with_browser(), counted_redis_commands() as commands:
        body = {"site": f"{site.url_as('localhost')}/", "max_pages": PAGES}
        audit = run_all_work(owner.api.post("/v1/audits", body).json()["id"])
    assert (audit.pages_done, audit.scans_done) == (PAGES, 4 * PAGES), audit.error_message
    assert commands.total() <= MAX_COMMANDS_PER_AUDIT + MAX_COMMANDS_PER_PAGE * PAGES, commands
