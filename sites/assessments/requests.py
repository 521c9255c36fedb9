"""Validation of requests about assessments, from the API and from forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infrastructure.api.inputs import Address, Choice, Flag, Input, Lines, Pattern, Whole
from sites.inputs import name_field
from sites.models import AssessmentResult
from website_scan.accessibility.standards import LABELS, LEVELS, Standard

AUDIT_ID = r"^aud_[0-9A-Za-z]{22}$"
MAX_SAMPLE, DEFAULT_SAMPLE = 1_000, 20
MAX_TEXT_LENGTH, MAX_REASON_LENGTH, MAX_PAGE_NAME_LENGTH = 10_000, 500, 200
# Fields of an assessment with a text of several lines.
LONG_TEXTS = ("scope", "evaluators", "method", "burden", "exempt_content", "alternatives", "enforcement")


def _text(length: int, help_text: str = "", **options: Any) -> Lines:
    return Lines(
        max_length=length,
        help_text=help_text,
        says=f"{{name}} must be a text of at most {length:,} characters, without control characters.",
        **options,
    )


def _optional_text(length: int = MAX_TEXT_LENGTH, help_text: str = "") -> Lines:
    return _text(length, help_text, required=False, allow_blank=True)


class TextsSerializer(Input):
    """Texts that the evaluators write."""

    scope = _optional_text(help_text="What belongs to the site, and what does not.")
    evaluators = _optional_text(help_text="One person per line.")
    method = _optional_text()
    owner_name = _optional_text(200, "Who is responsible for the site.")
    contact_email = Pattern(
        r"^(?:[^@\s\x00-\x1f\x7f]{1,64}@[^@\s\x00-\x1f\x7f]{1,189})?$",
        required=False,
        allow_blank=True,
        says="contact_email must be an e-mail address.",
    )
    contact_url = Pattern(
        r"^(?:https?://[^\s\x00-\x1f\x7f<>\x22\x27]{1,490})?$",
        required=False,
        allow_blank=True,
        says="contact_url must be an address that begins with https:// or http://.",
    )
    contact_phone = _optional_text(60)
    burden = _optional_text(help_text="Content whose repair is a disproportionate burden, and why.")
    exempt_content = _optional_text(help_text="Content outside the law's scope.")
    alternatives = _optional_text(help_text="Accessible alternatives to failing content.")
    enforcement = _optional_text(help_text="Where people can complain if they get no answer.")


class AssessmentRequestSerializer(TextsSerializer):
    """Body of POST /v1/assessments."""

    audit = Pattern(
        AUDIT_ID,
        help_text="An audit that has ended, with the type accessibility.",
        says="audit must be the ID of an audit.",
    )
    name = name_field()
    standard = Choice(
        [(standard.value, label) for standard, label in LABELS.items()],
        default=Standard.WCAG_22,
        says=f"standard must be one of {', '.join(LABELS)}.",
    )
    level = Choice(
        [(level, level) for level in LEVELS], default="AA", says=f"level must be one of {', '.join(LEVELS)}."
    )
    sample_size = Whole(
        min_value=1,
        max_value=MAX_SAMPLE,
        default=DEFAULT_SAMPLE,
        help_text="Number of pages that are chosen from the audit.",
        says=f"sample_size must be a whole number from 1 to {MAX_SAMPLE:,}.",
    )


class AssessmentFieldsSerializer(TextsSerializer):
    """Body of PATCH /v1/assessments/:id. Fields that are missing do not change."""

    name = name_field(required=False)
    status = Choice(
        [("open", "Open"), ("finished", "Finished")], required=False, says="status must be open or finished."
    )
    shared = Flag(required=False, help_text="True: anyone with the link can read the report and the statement.")


class RefreshSerializer(Input):
    """Body of POST /v1/assessments/:id/refresh."""

    class Meta:
        ref_name = "AssessmentRefresh"

    audit = Pattern(
        AUDIT_ID,
        help_text="A later audit of the same site that has ended.",
        says="audit must be the ID of an audit.",
    )


class PageSerializer(Input):
    """Body of POST /v1/assessments/:id/pages."""

    class Meta:
        ref_name = "AssessmentPageRequest"

    url = Address(help_text="Address of the page.")
    name = _optional_text(MAX_PAGE_NAME_LENGTH, "Such as: Cart with one item.")
    is_state = Flag(
        default=False, help_text="True: a state that only a person can reach. It gets no automatic results."
    )


class PageNameSerializer(Input):
    """Body of PATCH /v1/assessments/:id/pages/:number."""

    class Meta:
        ref_name = "AssessmentPageName"

    name = _text(MAX_PAGE_NAME_LENGTH, allow_blank=True)


def _result_field(choices: Sequence[tuple[str, str]] = AssessmentResult.Result.choices, **options: Any) -> Choice:
    return Choice(choices, says=f"result must be one of {', '.join(value for value, _ in choices)}.", **options)


class ResultSerializer(Input):
    """Body of PUT /v1/assessments/:id/pages/:number/results/:criterion. Fields that are missing do not change."""

    class Meta:
        ref_name = "AssessmentResultRequest"

    version = Whole(
        min_value=0,
        help_text="The version that you read. If somebody has changed the result since, the response is 409.",
        says="version must be the version of the result that you read.",
    )
    result = _result_field(required=False)
    note = _optional_text(help_text="What you saw.")
    remedy = _optional_text(help_text="What to do.")


class RemainingSerializer(Input):
    """Body of POST /v1/assessments/:id/criteria/:criterion."""

    class Meta:
        ref_name = "RemainingResults"

    result = _result_field(
        [choice for choice in AssessmentResult.Result.choices if choice[0] != AssessmentResult.Result.UNTESTED],
        help_text="For all pages on which the criterion is untested.",
    )
    note = _optional_text()


class DisputeSerializer(Input):
    """Body of PUT /v1/assessments/:id/findings/:finding/dispute."""

    class Meta:
        ref_name = "AssessmentDispute"

    reason = _text(MAX_REASON_LENGTH, "Why it is not a failure. Members read it in reports, too.")
