"""What openapi.yaml says of every endpoint: the errors and headers that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from infrastructure.api.idempotency import MAX_KEY_LENGTH
from infrastructure.api.names import Names
from infrastructure.api.pagination import MAX_OFFSET, MAX_PAGE, USUAL_PAGE
from infrastructure.api.scopes import Scope

if TYPE_CHECKING:
    from infrastructure.api.views import ApiView

Method = TypeVar("Method", bound=Callable[..., Any])


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
    400: "`INVALID_PARAMS`: a parameter or a field is not known.",
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


def headers(statuses: Sequence[int] | bool, **names: tuple[type, str]) -> list[OpenApiParameter]:
    """Headers of responses with these statuses, or of all (True): `headers([200], ETag=(str, "…"))`.

    Underscores stand for hyphens.
    """
    return [
        OpenApiParameter(
            name=name.replace("_", "-"),
            type=kind,
            location=OpenApiParameter.HEADER,
            description=description,
            response=statuses,
        )
        for name, (kind, description) in names.items()
    ]


PAGE_PARAMETERS = [
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": USUAL_PAGE}),
    OpenApiParameter("offset", {"type": "integer", "minimum": 0, "maximum": MAX_OFFSET, "default": 0}),
]
# On what any operation answers.
EVERYWHERE = [
    *headers(True, X_Request_ID=(str, "The ID of the request in the service's log: yours, if you have sent one.")),
    *headers(
        True,
        X_RateLimit_Limit=(int, "Requests allowed in the window."),
        X_RateLimit_Remaining=(int, "Requests left in the window."),
        X_RateLimit_Reset=(int, "Unix time in seconds at which the window resets."),
    ),
    *headers([401], WWW_Authenticate=(str, "`Bearer`.")),
    *headers([405], Allow=(str, "The allowed methods, separated by commas.")),
    *headers([429, 503], Retry_After=(int, "Seconds to wait before the next try, at least 1.")),
]
# The others are on some answers only, where their text may be another.
NAMED_ONCE = {each.name for each in EVERYWHERE} - {"Retry-After"}


# An operation has one kind of answer: generators of clients read no other. Other formats have their own addresses.
FORMAT = OpenApiParameter("format", str, exclude=True)


def operation(
    *,
    parameters: Sequence[OpenApiParameter] = (),
    request: type[serializers.Serializer] | None = None,
    body_optional: bool = False,
    **described: Any,
) -> Callable[[Method], Method]:
    """`extend_schema` for a method of an ApiView, which then takes what is described here and nothing else.

    `body_optional` says that the body may be left out.
    """
    fields = request().fields if request else {}
    names = Names(
        tuple(each.name for each in parameters if each.location == OpenApiParameter.QUERY),
        tuple(map(str, fields)),
        frozenset(str(name) for name, field in fields.items() if field.required),
    )
    # drf-spectacular calls a body required unless it comes by media type.
    body = {"application/json": request} if body_optional else request

    def decorate(method: Method) -> Method:
        method.names = names  # type: ignore[attr-defined]  # read by ApiView.initial
        return extend_schema(parameters=[*parameters, *EVERYWHERE], request=body, **described)(method)

    return decorate


def id_parameter(name: str, prefix: str) -> OpenApiParameter:
    """A path parameter that takes an ID of this kind; any other string is answered with a 404."""
    return OpenApiParameter(
        name=name, type=str, location=OpenApiParameter.PATH, description=f"An ID such as `{prefix}_…`."
    )


def as_strict_as_the_api(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """A hook of drf-spectacular: a PATCH changes something, and bodies hold nothing that is not known."""
    schemas = result["components"]["schemas"]
    for operation in _operations(result):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body:
            schema = schemas[body["schema"]["$ref"].rpartition("/")[2]]
            schema["additionalProperties"] = False
            if operation["operationId"].startswith(("update_", "change_")):
                schema["minProperties"] = 1
                operation["requestBody"]["required"] = True
    return result


def name_headers_once(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """A hook of drf-spectacular: what stands on every answer is described in one place."""
    shared: dict[str, Any] = {}
    for operation in _operations(result):
        for response in operation["responses"].values():
            for name in NAMED_ONCE & response.get("headers", {}).keys():
                shared[name] = response["headers"][name]
                response["headers"][name] = {"$ref": f"#/components/headers/{name}"}
    result["components"]["headers"] = dict(sorted(shared.items()))
    return result


def _operations(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in description["paths"].values():
        yield from methods.values()


def creation_parameters(status: int, noun: str) -> list[OpenApiParameter]:
    """The headers of a request that makes something once for each Idempotency-Key, and of its answer."""
    return [
        OpenApiParameter(
            "Idempotency-Key",
            {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
            OpenApiParameter.HEADER,
            description="1 to 255 characters. The same key and body within 24 hours get the first answer again.",
        ),
        *headers(
            [status],
            Location=(str, f"The address of the {noun}."),
            Idempotent_Replayed=(str, "`true` when the answer is the first one again."),
        ),
    ]
