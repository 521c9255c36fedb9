"""Schema extensions for openapi.yaml. They add authentication, scopes, shared errors and shared headers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar, cast

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers

from infrastructure.api.idempotency import MAX_KEY_LENGTH
from infrastructure.api.names import Names
from infrastructure.api.pagination import DEFAULT_PAGE_SIZE, MAX_OFFSET, MAX_PAGE_SIZE
from infrastructure.api.scopes import Scope
from infrastructure.api.typed import returned_by

if TYPE_CHECKING:
    from drf_spectacular.generators import SchemaGenerator

    from infrastructure.api.views import ApiView

Method = TypeVar("Method", bound=Callable[..., Any])


class BearerScheme(OpenApiAuthenticationExtension):
    """The API's security scheme in openapi.yaml.

    Separate from the module of `BearerAuthentication`, because importing drf-spectacular takes 0.2 seconds and only web
    processes need it.
    """

    target_class = "accounts.authentication.BearerAuthentication"
    name = "ApiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        scopes = (
            "`read`: GET everywhere. `scan`: also start scans, audits and runs of lists, and cancel audits and runs. "
            "`manage`: everything. "
            "Each operation names the scope that it requires; a key with less gets a 403 `INSUFFICIENT_SCOPE`."
        )
        return {
            "type": "http",
            "scheme": "bearer",
            "description": f"An API key of your organization. Its scope: {scopes}",
        }


class ScopedSchema(AutoSchema):
    """OpenAPI schema for a view. Adds the required API key scope to every operation's description."""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation: dict[str, Any] | None = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        scope = cast("ApiView", self.view).scope_of(self.method)
        operation["description"] = f"{operation.get('description', '')}\n\nScope: `{scope}`.".lstrip()
        for status, response in operation["responses"].items():
            response["description"] = response["description"] or f"{HTTPStatus(int(status)).phrase}."
        if scope != Scope.READ:
            refused = operation["responses"].setdefault("403", dict(operation["responses"]["401"], description=""))
            insufficient = f"`INSUFFICIENT_SCOPE`: the key's scope is less than `{scope}`."
            refused["description"] = f"{refused['description']} {insufficient}".lstrip()
        return operation


class ErrorBody(TypedDict):
    """Every error of the API."""

    code: Annotated[str, "Stable and meant for programs."]
    error: Annotated[str, "A sentence for people."]


# Errors that every endpoint may return.
COMMON = {
    400: "`INVALID_PARAMS`: a parameter or a field is unknown.",
    401: "`UNAUTHORIZED`: the key is missing, invalid or expired. `KEY_REVOKED`: it was revoked.",
    405: "`METHOD_NOT_ALLOWED`.",
    429: "`RATE_LIMITED`: too many requests in this minute.",
    500: "`INTERNAL_ERROR`.",
    503: "`SERVICE_UNAVAILABLE`: maintenance, overload, or a part of the service does not answer.",
}


# Placeholder in `operation(responses=…)` for the type `Document` of a method that returns Answer[Document].
RETURNED = object()


def responses(answers: dict[Any, Any], **errors: str) -> dict[Any, Any]:
    """Return an endpoint's responses, including the ones in COMMON.

    `answers` maps a status, or a status and media type, to a response. `errors` has texts by name, such as `e400="…"`.
    """
    described = COMMON | {int(name.removeprefix("e")): text for name, text in errors.items()}
    documented: dict[Any, Any] = {status: OpenApiResponse(ErrorBody, text) for status, text in described.items()}
    return documented | answers


def headers(statuses: Sequence[int] | bool, **names: tuple[type, str]) -> list[OpenApiParameter]:
    """Describe response headers, such as `headers([200], ETag=(str, "…"))`. True means all statuses.

    Underscores in header names become hyphens.
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
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": DEFAULT_PAGE_SIZE}
    ),
    OpenApiParameter("offset", {"type": "integer", "minimum": 0, "maximum": MAX_OFFSET, "default": 0}),
]
# Response headers that every operation may send.
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
# Headers that the API reference describes once for all operations. Some operations describe Retry-After differently.
COMMON_HEADERS = {header.name for header in EVERYWHERE} - {"Retry-After"}


# The query parameter `format` is left out of openapi.yaml: client generators support only one response format for each
# operation. Other formats have paths of their own.
FORMAT = OpenApiParameter("format", str, exclude=True)


def file_response(media_type: str) -> dict[tuple[int, str], OpenApiTypes]:
    """Return the successful response for an endpoint that serves a file, as an argument for `responses`."""
    plain = media_type.partition(";")[0]
    if plain.endswith("json") or plain.startswith("text/"):
        return {(200, plain): OpenApiTypes.OBJECT if plain.endswith("json") else OpenApiTypes.STR}
    # This is the only type of binary file that client generators know.
    return {(200, plain): OpenApiTypes.BINARY, (200, "application/octet-stream"): OpenApiTypes.BINARY}


def operation(
    *,
    parameters: Sequence[OpenApiParameter] = (),
    request: type[serializers.Serializer[Any]] | None = None,
    responses: Mapping[Any, Any] = MappingProxyType({}),
    body_optional: bool = False,
    **described: Any,
) -> Callable[[Method], Method]:
    """Decorate an ApiView method with `extend_schema`, and refuse parameters and fields that are not listed here.

    With `body_optional`, requests without a body are valid.
    """
    fields = request().fields if request else {}
    names = Names(
        tuple(parameter.name for parameter in parameters if parameter.location == OpenApiParameter.QUERY),
        tuple(map(str, fields)),
        frozenset(str(name) for name, field in fields.items() if field.required),
    )
    # drf-spectacular marks a body as required, except for bodies listed by media type.
    body = {"application/json": request} if body_optional else request

    def decorate(method: Method) -> Method:
        method.names = names  # type: ignore[attr-defined]  # ApiView.initial reads this attribute.
        documented = {
            status: returned_by(method) if response is RETURNED else response for status, response in responses.items()
        }
        return extend_schema(
            parameters=[*parameters, *EVERYWHERE], request=body, responses=documented or None, **described
        )(method)

    return decorate


def id_parameter(name: str, prefix: str) -> OpenApiParameter:
    """Describe a path parameter for an ID with this prefix. Other strings get a 404."""
    return OpenApiParameter(
        name=name, type=str, location=OpenApiParameter.PATH, description=f"An ID such as `{prefix}_…`."
    )


def add_event_schemas(result: dict[str, Any], generator: SchemaGenerator, **_: object) -> dict[str, Any]:
    """Add webhook event schemas to `components`. Hook for drf-spectacular, which collects schemas too early."""
    result["components"] = generator.registry.build({})
    return result


def write_null_as_type(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Replace drf-spectacular's component `Null` for enumerations by `{"type": "null"}`. Hook for drf-spectacular."""
    null = {"$ref": "#/components/schemas/Null"}
    for schema in result["components"]["schemas"].values():
        for described in schema.get("properties", {}).values():
            if null in described.get("oneOf", ()):
                described["oneOf"] = [{"type": "null"} if option == null else option for option in described["oneOf"]]
    result["components"]["schemas"].pop("Null", None)
    return result


def forbid_unknown_fields(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Forbid unknown fields in JSON bodies, and require at least one field in updates. Hook for drf-spectacular."""
    schemas = result["components"]["schemas"]
    for operation in _operations(result):
        content = operation.get("requestBody", {}).get("content", {})
        for other in content.keys() - {"application/json"}:
            del content[other]  # Client generators support only one media type for a body.
        if body := content.get("application/json"):
            schema = schemas[body["schema"]["$ref"].rpartition("/")[2]]
            schema["additionalProperties"] = False
            if operation["operationId"].startswith("update_"):
                schema["minProperties"] = 1
                operation["requestBody"]["required"] = True
    return result


def _operations(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in description["paths"].values():
        yield from methods.values()


def creation_parameters(status: int, noun: str) -> list[OpenApiParameter]:
    """Describe the headers for an operation that creates only one object per Idempotency-Key."""
    return [
        OpenApiParameter(
            "Idempotency-Key",
            {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
            OpenApiParameter.HEADER,
            description="1 to 255 characters. For 24 hours, the same key and body return the first response.",
        ),
        *headers(
            [status],
            Location=(str, f"The address of the {noun}."),
            Idempotent_Replayed=(str, "`true` when the answer is the first one again."),
        ),
    ]
