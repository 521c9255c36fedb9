"""A journey and one of its runs, created with the service's functions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sites.models import Audit, JourneyStep
from tests.factories import Member
from tests.populated_audits import make_audit
from tests.sites.journeys.cast import make_journey
from website_scan.journeys.words import step_in_words


def populate_journeys(home: Member, now: datetime) -> dict[str, Any]:
    """Create a journey whose run has failed in its last step, and return the ID of the journey."""
    journey = make_journey(home, name="Log-in of members")
    run = make_audit(
        home,
        kind=Audit.Kind.JOURNEY,
        journey=journey,
        url=journey.start_url,
        types=["accessibility"],
        status="failed",
        completed_at=now,
        error_code="JOURNEY_FAILED",
        error_message="Step 4: No button is named “Sign in”.",
    )
    steps = journey.steps.steps
    JourneyStep.objects.bulk_create(
        JourneyStep(
            audit=run,
            position=position,
            text=step_in_words(step),
            status="done" if position < 3 else "failed" if position == 3 else "not_reached",
            problem="No button is named “Sign in”." if position == 3 else "",
            near_matches=["Sign up"] if position == 3 else [],
        )
        for position, step in enumerate(steps)
    )
    return {"journey_id": journey.id, "journey_run_id": run.id}
