"""The base of every API view, and the answer to unknown paths."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.api.errors import InvalidParams, NotFound, refuse_in_maintenance


class ApiView(APIView):
    """Puts the rate headers on every answer to a valid key."""

    http_method_names = ["get", "post", "patch", "delete", "head"]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        """This API answers in its own formats, whatever Accept says."""
        renderer = JSONRenderer()
        return renderer, renderer.media_type

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, permit, throttle; then nothing else during maintenance."""
        super().initial(request, *args, **kwargs)
        refuse_in_maintenance()

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        rate = getattr(getattr(request, "_request", request), "rate", None)
        if rate is not None:
            for name, value in rate.headers().items():
                response[name] = value
        return response


def json_body(request: Request) -> dict[str, Any]:
    """The JSON object in the body; raises InvalidParams when there is no body at all, and the parser's refusals."""
    if not int(request.META.get("CONTENT_LENGTH") or 0):
        raise InvalidParams("The body is empty; send a JSON object.")
    body = request.data
    assert isinstance(body, dict)  # the parser takes nothing else
    return body


def optional_json_body(request: Request) -> dict[str, Any]:
    """The same where a body may be left out: then an empty object."""
    return json_body(request) if int(request.META.get("CONTENT_LENGTH") or 0) else {}


@extend_schema(exclude=True)
class UnknownPath(ApiView):
    """Everything under /v1 and /api that is not an endpoint: 404 `NOT_FOUND`, whatever the method."""

    permission_classes = [AllowAny]
    default_response_headers: ClassVar[dict[str, str]] = {}  # no Allow: there is nothing that a method could be used on
    http_method_names = [*ApiView.http_method_names, "put", "options", "trace"]

    def answer(self, request: object, *args: object, **kwargs: object) -> Response:
        raise NotFound("There is nothing at this address.")

    get = post = patch = delete = head = put = options = trace = answer
