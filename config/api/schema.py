"""What openapi.yaml says of every endpoint: the errors and headers that all of them share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from config.api.idempotency import MAX_KEY_LENGTH
from config.api.pagination import MAX_OFFSET, MAX_PAGE, USUAL_PAGE
from config.api.scopes import Scope

if TYPE_CHECKING:
    from config.api.views import ApiView


class BearerScheme(OpenApiAuthenticationExtension):
    """How the scheme stands in openapi.yaml. Not beside what it describes: only the web needs drf-spectacular, which
    takes a fifth of a second to load."""

    target_class = "accounts.authentication.BearerAuthentication"
    name = "ApiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        scopes = (
            "`read`: GET everywhere. `scan`: also start scans and audits, and cancel audits. `manage`: everything. "
            "Each operation says which it takes; a key whose scope is not enough gets a 403 `INSUFFICIENT_SCOPE`."
        )
        return {
            "type": "http",
            "scheme": "bearer",
            "description": f"An API key of your organization. Its scope: {scopes}",
        }


class ScopedSchema(AutoSchema):
    """Says of each operation which scope a key needs for it, as its view does."""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        scope = cast("ApiView", self.view).scope_of(self.method)
        operation["description"] = f"{operation.get('description', '')}\n\nScope: `{scope}`.".lstrip()
        if scope != Scope.READ:
            refused = operation["responses"].setdefault("403", dict(operation["responses"]["401"], description=""))
            insufficient = f"`INSUFFICIENT_SCOPE`: the key's scope is less than `{scope}`."
            refused["description"] = f"{refused['description']} {insufficient}".lstrip()
        return operation


class ErrorBody(serializers.Serializer):
    """Every error of the API."""

    code = serializers.CharField(help_text="Stable and meant for programs.")
    error = serializers.CharField(help_text="A sentence for people.")


# What any endpoint may answer, whatever it does.
COMMON = {
    401: "`UNAUTHORIZED`: the key is missing, invalid or expired. `KEY_REVOKED`: it was revoked.",
    405: "`METHOD_NOT_ALLOWED`.",
    429: "`RATE_LIMITED`: too many requests in this minute.",
    500: "`INTERNAL_ERROR`.",
    503: "`SERVICE_UNAVAILABLE`: maintenance, overload, or a part of the service does not answer.",
}


def responses(answers: dict[Any, Any], **errors: str) -> dict[Any, Any]:
    """The responses of an endpoint: `answers` by status (and media type), errors as `e400="…"`, and the common ones."""
    described = COMMON | {int(name.removeprefix("e")): text for name, text in errors.items()}
    documented = {status: OpenApiResponse(ErrorBody, text) for status, text in described.items()}
    return documented | answers


def headers(statuses: Iterable[int], **names: tuple[type | OpenApiTypes, str]) -> list[OpenApiParameter]:
    """Response headers: `headers([200], ETag=(str, "…"))`; underscores stand for hyphens."""
    return [
        OpenApiParameter(
            name=name.replace("_", "-"),
            type=kind,
            location=OpenApiParameter.HEADER,
            description=description,
            response=list(statuses),
        )
        for name, (kind, description) in names.items()
    ]


PAGE_PARAMETERS = [
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": USUAL_PAGE}),
    OpenApiParameter("offset", {"type": "integer", "minimum": 0, "maximum": MAX_OFFSET, "default": 0}),
]
RATE_HEADERS = [
    OpenApiParameter(
        name=f"X-RateLimit-{name}",
        type=int,
        location=OpenApiParameter.HEADER,
        description=description,
        response=True,
    )
    for name, description in (
        ("Limit", "Requests allowed in the window."),
        ("Remaining", "Requests left in the window."),
        ("Reset", "Unix time in seconds at which the window resets."),
    )
]


def id_parameter(name: str, prefix: str) -> OpenApiParameter:
    """A path parameter that takes an ID of this kind; any other string is answered with a 404."""
    return OpenApiParameter(
        name=name, type=str, location=OpenApiParameter.PATH, description=f"An ID such as `{prefix}_…`."
    )


def require_a_change(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """A hook of drf-spectacular: a PATCH changes something."""
    for name, schema in result["components"]["schemas"].items():
        if name.startswith("Patched"):
            schema["minProperties"] = 1
    return result


def creation_parameters(status: int, noun: str) -> list[OpenApiParameter]:
    """The headers of a request that makes something once for each Idempotency-Key, and of its answer."""
    return [
        OpenApiParameter(
            "Idempotency-Key",
            {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
            OpenApiParameter.HEADER,
            description="1 to 255 characters. The same key and body within 24 hours get the first answer again.",
        ),
        *RATE_HEADERS,
        *headers(
            [status],
            Location=(str, f"The address of the {noun}."),
            Idempotent_Replayed=(str, "`true` when the answer is the first one again."),
        ),
    ]
