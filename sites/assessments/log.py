"""Log of an assessment: who changed what."""

from __future__ import annotations

from collections.abc import Mapping

from accounts.authentication import Caller
from sites.models import Assessment, AssessmentEvent, AssessmentPage

# Texts of earlier values are shortened, because the log is for reading.
MAX_VALUE_LENGTH = 2_000


def record(
    caller: Caller | None,
    assessment: Assessment,
    action: str,
    *,
    page: AssessmentPage | None = None,
    criterion: str = "",
    before: Mapping[str, str] | None = None,
    after: Mapping[str, str] | None = None,
) -> None:
    """Write an action of a member or an API key to the log, or of the service itself if `caller` is None."""
    AssessmentEvent.objects.create(
        assessment=assessment,
        actor_name=name_of(caller) if caller else "",
        api_key_id=caller.key_id if caller else None,
        action=action,
        page_number=page.number if page else None,
        page_title=page.title[:300] if page else "",
        criterion=criterion,
        before=_shortened(before),
        after=_shortened(after),
    )


def name_of(caller: Caller) -> str:
    """Return the name of a member, or of an API key."""
    if caller.member is None:
        return f"API key {caller.key_name}"[:254]
    return (caller.member.user.get_full_name() or caller.member.user.email)[:254]


def _shortened(values: Mapping[str, str] | None) -> dict[str, str]:
    return {name: str(value)[:MAX_VALUE_LENGTH] for name, value in (values or {}).items()}
