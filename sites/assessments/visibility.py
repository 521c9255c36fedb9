"""Access control for the reports of assessments.

Members of the organization, and anyone with the link of a shared assessment, may read them.
"""

from __future__ import annotations

from django.http import HttpRequest
from msgspec import Struct

from accounts import access, roles
from accounts.identity import requirements
from accounts.models import Membership
from sites.models import Assessment
from website_scan.ids import is_id


class VisibleAssessment(Struct, frozen=True):
    """Assessment whose report the reader may read.

    `membership` is None for readers who only have the link of a shared assessment.
    """

    assessment: Assessment
    membership: Membership | None


def find_visible_assessment(request: HttpRequest, assessment_id: str) -> VisibleAssessment | None:
    """Return the assessment if the user may read its report, else None.

    Raises `UnmetLoginRequirement` for members whose log-in does not meet the organization's requirements.
    """
    if not is_id("asm", assessment_id):
        return None
    unmet = None
    assessment = access.rows_of_member(Assessment, request.user).filter(id=assessment_id).first()
    if assessment is not None:
        membership = roles.membership_in(request, assessment.organization_id)
        # The membership may have ended since the previous query. Then the user is not a member.
        unmet = requirements.missing(request.user, membership.organization) if membership else None
        if membership is not None and unmet is None:
            return VisibleAssessment(assessment, membership)
    shared = access.shared_rows(Assessment).filter(id=assessment_id).first()
    if shared is not None:
        return VisibleAssessment(shared, None)
    if unmet is not None:
        raise unmet
    return None
