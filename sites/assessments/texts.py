"""Changes of an assessment's texts by several people at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db import transaction

from accounts.access import Lock
from accounts.authentication import Caller
from sites.assessments.requests import AssessmentFieldsSerializer
from sites.assessments.services import change_assessment
from sites.models import Assessment
from sites.resources import ASSESSMENT


def change_texts(*, caller: Caller, assessment_id: str, changes_of: Callable[[Assessment], Mapping[str, str]]) -> None:
    """Store the texts that `changes_of` returns for the stored assessment, which nobody else can change meanwhile.

    Raises NotFound, AssessmentFinished, and InvalidParams for an invalid text.
    """
    with transaction.atomic():
        changes = changes_of(ASSESSMENT.find(caller.organization_id, assessment_id, lock=Lock.CHANGE))
        if changes:
            values = AssessmentFieldsSerializer.judged(changes)
            change_assessment(caller=caller, assessment_id=assessment_id, values=values)
