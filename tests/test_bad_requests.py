"""Refusals of the API: their answers stay the same, word by word, and they change nothing in the database."""

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

from tests.bad_requests import ANSWERS, GROUPS, Cast, answer_to, make_cast, rows
from tests.generated import description

KNOWN: dict[str, dict[str, Any]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
NAMES = [bad.name for group in GROUPS.values() for bad in group]


@pytest.fixture(scope="module")
def cast(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Cast]:
    """Cast shared by all groups, because refused requests change nothing; rolled back at the end."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch, transaction.atomic():
        # Without logging, whose lines about each refusal would hide the differences.
        patch.setattr(logging.root.manager, "disable", logging.INFO)
        yield make_cast(patch)
        transaction.set_rollback(True)


@pytest.mark.django_db
@pytest.mark.parametrize("group", GROUPS)
def test_each_refusal_is_as_it_was_and_changes_nothing(group: str, cast: Cast) -> None:
    cache.clear()
    before = rows()
    answers = {bad.name: answer_to(bad, cast) for bad in GROUPS[group]}
    changed = [name for name, stored in rows().items() if stored != before[name]]
    assert not changed, "refused requests have changed something"
    odd = {name: answer for name, answer in answers.items() if not 400 <= answer["status"] < 500}
    assert not odd, "these are no refusals"
    if os.environ.get("RECORD"):
        record(answers)
    elif told := "\n".join(differences(answers)):
        pytest.fail(told, pytrace=False)


def test_the_corpus_and_its_answers_are_of_the_same_requests() -> None:
    assert [name for name, count in Counter(NAMES).items() if count > 1] == []
    assert set(KNOWN) - set(NAMES) == set(), "answers to nothing: record anew"


def test_every_operation_is_asked_something_bad() -> None:
    """Compares the first two words of names. `openapi.yaml` calls a parameter `scan_id` where the names have `scan`."""
    described = description()["paths"]
    operations = {f"{method.upper()} {path.replace('_id}', '}')}" for path in described for method in described[path]}
    assert operations - {" ".join(name.partition("?")[0].split()[:2]) for name in NAMES} == set()


def differences(answers: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield each request whose answer differs from the file, with both answers."""
    for name, answer in answers.items():
        if answer != (known := KNOWN.get(name)):
            yield f"{name}\n    was {line(known)}\n    now {line(answer)}"


def record(answers: dict[str, dict[str, Any]]) -> None:
    """Write the answers to the file, sorted, one per line, and remove those of requests that no longer exist."""
    KNOWN.update(answers)
    for name in KNOWN.keys() - set(NAMES):
        del KNOWN[name]
    lines = [f"{json.dumps(name)}: {line(KNOWN[name])}" for name in sorted(KNOWN)]
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def line(answer: dict[str, Any] | None) -> str:
    return json.dumps(answer)
