"""Steps of a journey's run, as they were executed, and their JSON."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from django.conf import settings
from django.db.models import QuerySet

from sites.models import Audit, JourneyStep
from website_scan.json_types import Count, Keywords, Link, component, values

Positive = Annotated[int, Keywords(minimum=1)]


@component("JourneyStepError")
class StepErrorJson(TypedDict):
    """Why a step failed."""

    message: str
    near_matches: Annotated[list[str], "Elements of the page that resemble the one that was not there."]


@component("JourneyStepPicture")
class StepPictureJson(TypedDict):
    """Picture of the screen after a step, in which fields with a secret are masked."""

    url: Annotated[Link, "Requires the same key as the list of steps."]
    width: Positive
    height: Positive


@component("JourneyStep")
class StepJson(TypedDict):
    """Step of a journey's run."""

    number: Annotated[int, Keywords(minimum=1), "From 1, as in the messages of errors."]
    text: Annotated[str, "The step in words, with secrets by name only."]
    status: Annotated[str, values(JourneyStep.Status.choices)]
    duration_ms: Count
    url: Annotated[str | None, "Address of the page after the step."]
    error: Annotated[StepErrorJson | None, "Of a `failed` step."]
    prevented: Annotated[list[str], "What the scanner prevented, such as a new window."]
    state: NotRequired[
        Annotated[str, "Name of the state that was judged after the step, or that a dry run did not judge."]
    ]
    picture: StepPictureJson | None


class StepList(TypedDict):
    """Response of GET /v1/audits/:id/steps."""

    steps: list[StepJson]


def steps_of(audit: Audit) -> QuerySet[JourneyStep]:
    """Return the steps of a run in order, without their pictures. Empty before its end, and for other audits."""
    return JourneyStep.objects.filter(audit=audit).defer("picture").order_by("position")


def picture_of_step(audit: Audit, position: int) -> bytes | memoryview | None:
    """Return the picture of the screen after a step, or None if there is none. Positions begin at 0."""
    steps = JourneyStep.objects.filter(audit=audit, position=position)
    return steps.values_list("picture", flat=True).first()


def step_json_of(step: JourneyStep) -> StepJson:
    number = step.position + 1
    picture: StepPictureJson | None = None
    # Only steps with a picture have its size.
    if step.width and step.height:
        url = f"{settings.BASE_URL}/v1/audits/{step.audit_id}/steps/{number}/picture"
        picture = {"url": url, "width": step.width, "height": step.height}
    is_failed = step.status == JourneyStep.Status.FAILED
    response: StepJson = {
        "number": number,
        "text": step.text,
        "status": step.status,
        "duration_ms": step.duration_ms,
        "url": step.url or None,
        "error": {"message": step.problem, "near_matches": step.near_matches} if is_failed else None,
        "prevented": step.notes,
        "picture": picture,
    }
    if step.state:
        response["state"] = step.state
    return response
