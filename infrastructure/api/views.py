"""Base class of every API view, and the view for unknown paths."""

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


class Scoped(Protocol):
    """Protocol: the attribute of a caller that the views read."""

    @property
    def scope(self) -> Scope: ...


class ApiView(APIView):
    """Base view: checks the key's scope, and puts the rate limit headers on every response to a valid key."""

    # The scope that each HTTP method requires. By default, safe methods require `read` and all others `manage`.
    scopes: ClassVar[Mapping[str, Scope]] = {}
    http_method_names = ["get", "post", "put", "patch", "delete", "head"]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        """Return the JSON renderer: the API ignores Accept."""
        renderer = JSONRenderer()
        return renderer, renderer.media_type

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, check permissions and rate, then the scope; refuse in maintenance, and refuse unknown names."""
        super().initial(request, *args, **kwargs)
        self._refuse_below_scope(request)
        refuse_in_maintenance()
        self._refuse_unknown(request)

    @classmethod
    def scope_of(cls, method: str) -> Scope:
        """Return the least scope that the method requires."""
        return cls.scopes.get(method, Scope.READ if method in SAFE_METHODS else Scope.MANAGE)

    def _refuse_below_scope(self, request: Request) -> None:
        method = request.method or ""
        if request.auth is None or method.lower() not in self.http_method_names or not hasattr(self, method.lower()):
            return  # an unknown method is a 405 or a 404 for every key
        scope = cast("Scoped", request.auth).scope
        if not scope.holds(needed := self.scope_of(method)):
            raise InsufficientScope(scope, needed)

    def _refuse_unknown(self, request: Request) -> None:
        """Raise InvalidParams for unknown parameters and fields, so that a misspelt name is not ignored silently."""
        names: Names | None = getattr(getattr(self, (request.method or "").lower(), None), "names", None)
        if names is None:
            return  # no operation: a 404 or a 405
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
    """Return the JSON object in the body. Raises InvalidParams if there is no body, and the parser's refusals."""
    if not _has_body(request):
        raise InvalidParams("The body is empty; send a JSON object.")
    body = request.data
    assert isinstance(body, dict)  # the parser accepts nothing else
    return body


def optional_json_body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body, or an empty one if there is no body."""
    return json_body(request) if _has_body(request) else {}


def upload_of(request: Request) -> Upload:
    """Return the body as it was sent. Raises InvalidParams if there is none, and the parser's refusals."""
    if not _has_body(request):
        raise InvalidParams("The body is empty.")
    upload = request.data
    assert isinstance(upload, Upload)  # of the view's parsers
    return upload


def _has_body(request: Request) -> bool:
    return bool(int(request.META.get("CONTENT_LENGTH") or 0))


@extend_schema(exclude=True)
class UnknownPath(ApiView):
    """View for all paths under /v1 and /api that are no endpoint: 404 `NOT_FOUND` for every method."""

    permission_classes = [AllowAny]
    scopes = dict.fromkeys(("POST", "PATCH", "DELETE", "PUT", "TRACE"), Scope.READ)
    default_response_headers: ClassVar[dict[str, str]] = {}  # no Allow, as there is no resource
    http_method_names = [*ApiView.http_method_names, "options", "trace"]

    def answer(self, request: object, *args: object, **kwargs: object) -> Response:
        raise NotFound("There is nothing at this address.")

    get = post = patch = delete = head = put = options = trace = answer
