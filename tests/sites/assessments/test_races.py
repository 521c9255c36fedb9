"""Tests that concurrent writers and killed workers lose nothing.

The tests use real threads, processes and PostgreSQL.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.models import Tier
from reports.models import Mute
from sites.assessments import refreshing, services
from sites.models import Assessment, AssessmentEvent, AssessmentFinding, AssessmentResult
from tests.accounts.test_command_create_api_key import database_url
from tests.factories import Api, Member, member_of
from tests.sites.assessments.cast import assess, caller_of, museum_audit, result_of
from tests.sites.assessments.storing import counts_of, counts_of_results
from tests.threads import close_connections

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

# A worker that the kernel kills after the first of three pages.
KILLED_WORKER = """
import os, signal, sys
import django
django.setup()
from sites.assessments import refreshing
copy_page = refreshing._copy_page
def copy_one_page(*args):
    copy_page(*args)
    os.kill(os.getpid(), signal.SIGKILL)
refreshing._copy_page = copy_one_page
refreshing.copy_results(sys.argv[1])
"""


@pytest.fixture
def crowd(transactional_db: None) -> Member:
    Tier.objects.filter(name="business").update(requests_per_minute=100_000)
    return member_of("Crowd", "business")


def call_together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Call functions in threads that start together, and return their results."""
    barrier = Barrier(len(calls))

    def call_in_thread(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        finally:
            close_connections()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(call_in_thread, calls))


def put(member: Member, path: str, body: dict[str, Any]) -> Callable[[], Any]:
    return lambda: Api(member.plaintext).put(path, body)


def test_one_of_many_writers_of_a_result_wins(crowd: Member) -> None:
    museum = assess(crowd, museum_audit(crowd))
    path = f"/v1/assessments/{museum.id}/pages/1/results/2.4.3"
    for version in range(3):
        notes = [f"Round {version}, writer {number}" for number in range(8)]
        responses = call_together(
            [put(crowd, path, {"version": version, "result": "failed", "note": note}) for note in notes]
        )
        assert Counter(response.status_code for response in responses) == {200: 1, 409: 7}
        stored = result_of(museum, 1, "2.4.3")
        (winner,) = [response.json() for response in responses if response.status_code == 200]
        assert (winner["note"], winner["version"]) == (stored.note, version + 1)
        for refusal in (response.json() for response in responses if response.status_code == 409):
            assert (refusal["code"], refusal["current"]) == ("RESULT_CHANGED", winner)
    assert AssessmentEvent.objects.filter(action="result").count() == 3


def test_writers_of_different_results_all_win(crowd: Member) -> None:
    museum = assess(crowd, museum_audit(crowd))
    paths = [f"/v1/assessments/{museum.id}/pages/{page}/results/{criterion}"
             for page in (1, 2, 3) for criterion in ("2.4.3", "2.1.1", "1.2.2")]  # fmt: skip
    responses = call_together([put(crowd, path, {"version": 0, "result": "passed"}) for path in paths])
    assert [response.status_code for response in responses] == [200] * 9
    assert AssessmentResult.objects.filter(result="passed", version=1).count() == 9
    assert counts_of(museum) == counts_of_results(museum)


def test_concurrent_changes_of_one_assessment_do_not_deadlock(crowd: Member) -> None:
    museum = assess(crowd, museum_audit(crowd))
    later = museum_audit(crowd)
    path = f"/v1/assessments/{museum.id}"
    finding = AssessmentFinding.objects.get(has_failed=True).id

    def api() -> Api:
        return Api(crowd.plaintext)

    services.refresh_assessment(caller=caller_of(crowd), assessment_id=museum.id, audit_id=later.id)
    calls: list[Callable[[], Any]] = [
        lambda: refreshing.copy_results(museum.id),
        lambda: refreshing.copy_results(museum.id),
        *(lambda: api().put(f"{path}/findings/{finding}/dispute", {"reason": "Decoration."}) for _ in range(2)),
        *(lambda: api().post(f"{path}/criteria/2.4.3", {"result": "passed"}) for _ in range(2)),
        lambda: api().patch(path, {"scope": "All."}),
        lambda: api().post(f"{path}/pages", {"url": "https://example.com/", "name": "Cart", "is_state": True}),
        lambda: api().delete(f"{path}/pages/3"),
    ]
    responses = [response for response in call_together(calls) if response is not None]
    assert {response.status_code for response in responses} <= {200, 201, 204}
    museum.refresh_from_db()
    assert (museum.is_refreshing, museum.audit_id) == (False, later.id)
    assert AssessmentFinding.objects.get(id=finding).is_disputed
    assert Mute.objects.filter(ended_at=None).count() == 2
    assert not AssessmentResult.objects.exclude(criterion="1.1.1").filter(open_failures__gt=0).exists()
    assert counts_of(museum) == counts_of_results(museum)


def test_another_worker_finishes_the_refresh_of_a_killed_one(crowd: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    museum = assess(crowd, museum_audit(crowd))
    later = museum_audit(crowd)
    sent: list[str] = []
    monkeypatch.setattr("infrastructure.queue.enqueue", lambda _task, row_id: sent.append(row_id))
    services.refresh_assessment(caller=caller_of(crowd), assessment_id=museum.id, audit_id=later.id)
    assert sent == [museum.id]
    database = database_url(connection.settings_dict["NAME"])
    worker = subprocess.run(
        [sys.executable, "-c", KILLED_WORKER, museum.id],
        env=os.environ | {"DATABASE_URL": database, "PYTHONPATH": str(settings.BASE_DIR)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert worker.returncode == -signal.SIGKILL, worker.stderr
    pages = museum.pages.order_by("number")
    assert [page.copied_audit_id == later.id for page in pages] == [True, False, False]

    refreshing.copy_results(museum.id)
    assert Assessment.objects.get(id=museum.id).is_refreshing, "the lease of the killed worker holds"
    expired = timezone.now() - timedelta(minutes=3)
    Assessment.objects.filter(id=museum.id).update(lease_expires_at=expired, enqueued_at=expired)
    refreshing.enqueue_lost_refreshes()
    refreshing.enqueue_lost_refreshes()
    assert sent == [museum.id] * 2, "the second sweep sends nothing"
    refreshing.copy_results(museum.id)

    museum.refresh_from_db()
    assert (museum.is_refreshing, museum.audit_id, museum.claim_token) == (False, later.id, None)
    assert [page.copied_audit_id for page in pages.all()] == [later.id] * 3
    assert AssessmentFinding.objects.filter(assessment=museum, page__number=2).count() == 2
    assert museum.events.filter(action="results_copied").count() == 2
