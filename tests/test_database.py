"""Tests for the state of the database between tests."""

from __future__ import annotations

import pytest
from django.contrib.contenttypes.models import ContentType
from django.test import TransactionTestCase

from accounts.models import Organization, Tier
from tests.factories import member_of


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("serialized_rollback", [True, False])
def test_rows_of_migrations_are_restored_after_a_test_that_empties_the_database(
    serialized_rollback: bool,
) -> None:
    tiers, content_types = set(Tier.objects.values_list("pk")), set(ContentType.objects.values_list("pk"))
    assert tiers
    member_of("Home")
    case = TransactionTestCase()
    case.serialized_rollback = serialized_rollback
    case._fixture_teardown()  # type: ignore[attr-defined]
    assert not Organization.objects.exists()
    assert set(Tier.objects.values_list("pk")) == tiers
    assert set(ContentType.objects.values_list("pk")) == content_types
