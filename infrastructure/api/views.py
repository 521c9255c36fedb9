"""Base class for API views, and the view for unknown paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, cast

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import SAFE_METHODS, AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from infrastructure.api.errors import InvalidParams, NotFound, refuse_in_maintenance
from infrastructure.api.names import Names
from infrastructure.api.parsing import Upload
from infrastructure.api.scopes import InsufficientScope, Scope


class ScopedCaller(Protocol):
    """Protocol for an API caller, with its key's scope."""

    @property
    def scope(self) -> Scope: ...


class ApiView(APIView):
    """Base class for API views. Checks the key's scope, and adds rate limit headers for valid keys."""

    # Scope that each HTTP method requires. By default, safe methods require `read` and all others `manage`.
    scopes: ClassVar[Mapping[str, Scope]] = {}
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        """Return the JSON renderer, because the API ignores the Accept header."""
        renderer = JSONRenderer()
        return renderer, renderer.media_type

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check authentication, permissions, rate and scope. Refuse unknown names, and requests in maintenance."""
        super().initial(request, *args, **kwargs)
        self._refuse_below_scope(request)
        refuse_in_maintenance()
        self._refuse_unknown(request)

    @classmethod
    def scope_of(cls, method: str) -> Scope:
        """Return the lowest scope that permits the HTTP method."""
        return cls.scopes.get(method, Scope.READ if method in SAFE_METHODS else Scope.MANAGE)

    def _refuse_below_scope(self, request: Request) -> None:
        method = request.method or ""
        if request.auth is None or method.lower() not in self.http_method_names or not hasattr(self, method.lower()):
            return  # An unsupported method gets a 405 or 404, whatever the scope.
        scope = cast("ScopedCaller", request.auth).scope
        if not scope.holds(required := self.scope_of(method)):
            raise InsufficientScope(scope, required)

    def _refuse_unknown(self, request: Request) -> None:
        """Raise InvalidParams for unknown query parameters and body fields, such as misspelt names."""
        names: Names | None = getattr(getattr(self, (request.method or "").lower(), None), "names", None)
        if names is None:
            return  # The method has no `@operation`, so the response is a 404 or 405.
        names.refuse_other_parameters(request.query_params)
        has_fields = request.method not in (*SAFE_METHODS, "DELETE") and _has_body(request)
        if has_fields and not isinstance(request.data, Upload):
            names.refuse_other_fields(json_body(request))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        finalized: Response = super().finalize_response(request, response, *args, **kwargs)
        rate = getattr(getattr(request, "_request", request), "rate", None)
        if rate is not None:
            for name, value in rate.headers().items():
                finalized[name] = value
        return finalized


def json_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the request body. Raises InvalidParams for an empty body, or a parser's refusal."""
    if not _has_body(request):
        raise InvalidParams("The body is empty; send a JSON object.")
    body = request.data
    assert isinstance(body, dict)  # StrictJSONParser refuses anything but JSON objects.
    return body


def optional_json_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the request body, or an empty dictionary without a body."""
    return json_body(request) if _has_body(request) else {}


def upload_of(request: Request) -> Upload:
    """Return the raw request body. Raises InvalidParams for an empty body, or a parser's refusal."""
    if not _has_body(request):
        raise InvalidParams("The body is empty.")
    upload = request.data
    assert isinstance(upload, Upload)  # The view has only parsers that return uploads.
    return upload


def _has_body(request: Request) -> bool:
    return bool(int(request.META.get("CONTENT_LENGTH") or 0))


@extend_schema(exclude=True)
class UnknownPath(ApiView):
    """View for unknown paths under /v1 and /api. Returns a 404 with `NOT_FOUND` for every method."""

    permission_classes = [AllowAny]
    scopes = dict.fromkeys(("POST", "PATCH", "DELETE", "PUT", "TRACE"), Scope.READ)
    default_response_headers: ClassVar[dict[str, str]] = {}  # A path without a resource has no Allow header.
    http_method_names = [*ApiView.http_method_names, "options", "trace"]

    def answer(self, request: object, *args: object, **kwargs: object) -> Response:
        raise NotFound("There is nothing at this address.")

    get = post = patch = delete = head = put = options = trace = answer
