"""JSON schemas of journeys, and functions that create this JSON from models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from scans.schemas import ColorSchemeName, Widths, requirements_json_of, timestamp_or_none
from sites.audits.schemas import JourneyId
from sites.journeys.proof import FILE_PATH, NAME, ProofCheck, dns_value
from sites.journeys.requests import STATE_RULES
from sites.models import Journey
from website_scan.journeys.planned import planned_states
from website_scan.journeys.recordings import recording_of
from website_scan.journeys.words import step_in_words
from website_scan.json_types import Count, Keywords, Timestamp, TypeName, component, values
from website_scan.requirements.model import RequirementsJson
from website_scan.timestamps import timestamp
from website_scan.urls import Url

Positive = Annotated[int, Keywords(minimum=1)]
PROOF_METHODS = [(method.value, str(method.label)) for method in Journey.Proof]


class DnsProof(TypedDict):
    """DNS record that proves control of a site. It can also be a record of the start's host."""

    name: str
    type: Annotated[str, values(["TXT"])]
    value: str


class FileProof(TypedDict):
    """File that proves control of its host."""

    url: str
    content: str


class ProofOptions(TypedDict):
    """The three ways to prove control, of which one is enough."""

    dns_record: DnsProof
    file: FileProof
    meta_element: Annotated[str, "For the head of the start page of the host."]


class JourneyProof(TypedDict):
    """Proof that the organization controls the site."""

    is_proven: bool
    method: Annotated[str, values(PROOF_METHODS)] | None
    host: Annotated[str | None, "The journey may act on this host and the hosts below it."]
    proven_at: Annotated[Timestamp | None, "When the latest check of control succeeded."]
    options: ProofOptions


@component("JourneyProofCheck")
class ProofCheckJson(JourneyProof):
    """Response of POST /v1/journeys/:id/proof."""

    problems: Annotated[list[str], "Why no method has proven control; empty if one has."]


class JourneySummary(TypedDict):
    """Journey as an item of a list, without its steps."""

    id: JourneyId
    name: str
    start_url: str
    site: Annotated[str, "The registrable domain of the start, or its host if it has none."]
    types: list[TypeName]
    widths: NotRequired[Widths]
    color_scheme: NotRequired[ColorSchemeName]
    is_proven: bool
    created_at: Timestamp


@component("Journey")
class JourneyJson(JourneySummary):
    """Response of POST /v1/journeys and GET /v1/journeys/:id."""

    recording: Annotated[dict[str, Any], "In the format of Chrome DevTools' Recorder."]
    steps: Annotated[list[str], "The steps in words."]
    judge: Annotated[str, values(STATE_RULES)]
    states_planned: Annotated[Positive, "The most states of a run, for which it reserves scans."]
    log_in_hosts: Annotated[list[str], "Hosts to which a log-in may lead."]
    secrets: Annotated[list[str], "Names of the secrets in the steps."]
    missing_secrets: Annotated[list[str], "Those of them without a value."]
    proof: JourneyProof
    requirements: NotRequired[RequirementsJson]
    notes: NotRequired[Annotated[list[str], "What was changed when the steps were read; only after that."]]


class JourneyList(TypedDict):
    """Response of GET /v1/journeys."""

    journeys: list[JourneySummary]
    total: Count
    limit: Positive
    offset: Count


def journey_summary_of(journey: Journey) -> JourneySummary:
    summary: JourneySummary = {
        "id": journey.id,
        "name": journey.name,
        "start_url": journey.start_url,
        "site": journey.site,
        "types": journey.types,
        "is_proven": journey.proven_at is not None,
        "created_at": timestamp(journey.created_at),
    }
    if journey.viewing is not None:
        summary["widths"], summary["color_scheme"] = journey.viewing["widths"], journey.viewing["color_scheme"]
    return summary


def journey_json_of(journey: Journey, notes: Sequence[str] | None = None) -> JourneyJson:
    steps = journey.steps
    response: JourneyJson = {
        **journey_summary_of(journey),  # type: ignore[typeddict-item]  # The summary never has `notes`.
        "recording": recording_of(steps),
        "steps": [step_in_words(step) for step in steps.steps],
        "judge": str(steps.rule),
        "states_planned": planned_states(steps),
        "log_in_hosts": list(steps.identity_providers),
        "secrets": list(steps.secret_names),
        "missing_secrets": journey.missing_secrets,
        "proof": proof_of(journey),
    }
    if journey.requirements is not None:
        response["requirements"] = requirements_json_of(journey.requirements)
    if notes is not None:
        response["notes"] = list(notes)
    return response


def proof_of(journey: Journey) -> JourneyProof:
    start = Url.of(journey.start_url)
    return {
        "is_proven": journey.proven_at is not None,
        "method": journey.proof_method or None,
        "host": journey.proven_scope or None,
        "proven_at": timestamp_or_none(journey.proven_at),
        "options": {
            "dns_record": {"name": journey.site, "type": "TXT", "value": dns_value(journey.proof_token)},
            "file": {"url": f"{start.origin}{FILE_PATH}", "content": journey.proof_token},
            "meta_element": f'<meta name="{NAME}" content="{journey.proof_token}">',
        },
    }


def proof_check_of(journey: Journey, check: ProofCheck) -> ProofCheckJson:
    return {**proof_of(journey), "is_proven": check.proof is not None, "problems": list(check.problems)}
