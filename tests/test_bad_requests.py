"""Tests that invalid API requests change no rows.

They get the responses in bad_requests.json.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from pytest_django import DjangoDbBlocker

from tests.bad_requests import GROUPS, RESPONSES_FILE, Cast, make_cast, rows, send
from tests.generated import description

EXPECTED: dict[str, dict[str, Any]] = json.loads(RESPONSES_FILE.read_text(encoding="utf-8"))
NAMES = [bad_request.name for group in GROUPS.values() for bad_request in group]


@pytest.fixture(scope="module")
def cast(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Cast]:
    """Cast that all tests share.

    Refused requests change nothing.
    """
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch, transaction.atomic():
        # Log lines for refusals would hide the differences.
        patch.setattr(logging.root.manager, "disable", logging.INFO)
        yield make_cast(patch)
        transaction.set_rollback(True)


@pytest.mark.django_db
@pytest.mark.parametrize("group", GROUPS)
def test_invalid_requests_change_no_rows(group: str, cast: Cast) -> None:
    cache.clear()
    before = rows()
    responses = {bad_request.name: send(bad_request, cast) for bad_request in GROUPS[group]}
    changed = [model for model, stored in rows().items() if stored != before[model]]
    assert not changed, "refused requests have changed rows"
    accepted_requests = {name: response for name, response in responses.items() if not 400 <= response["status"] < 500}
    assert not accepted_requests, "these are no refusals"
    if os.environ.get("RECORD"):
        record(responses)
    elif differing := "\n".join(differences(responses)):
        pytest.fail(differing, pytrace=False)


def test_recorded_response_has_an_invalid_request() -> None:
    assert [name for name, count in Counter(NAMES).items() if count > 1] == []
    assert set(EXPECTED) - set(NAMES) == set(), "responses without a request: record again"


def test_every_operation_has_an_invalid_request() -> None:
    """Compare method and path, the first two words of a request's name.

    Parameters lose their suffix `_id`.
    """
    described = description()["paths"]
    operations = {f"{method.upper()} {path.replace('_id}', '}')}" for path in described for method in described[path]}
    assert operations - {" ".join(name.partition("?")[0].split()[:2]) for name in NAMES} == set()


def differences(responses: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield a message for every changed response."""
    for name, response in responses.items():
        if response != (expected := EXPECTED.get(name)):
            yield f"{name}\n    was {line(expected)}\n    now {line(response)}"


def record(responses: dict[str, dict[str, Any]]) -> None:
    """Save the responses, sorted and one per line.

    Delete the responses to removed requests.
    """
    EXPECTED.update(responses)
    for name in EXPECTED.keys() - set(NAMES):
        del EXPECTED[name]
    lines = [f"{json.dumps(name)}: {line(EXPECTED[name])}" for name in sorted(EXPECTED)]
    RESPONSES_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def line(response: dict[str, Any] | None) -> str:
    return json.dumps(response)
