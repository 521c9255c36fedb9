"""Jinja2 environment for pages and e-mails.

It extends the report's environment.

Only the admin's templates (`templates/django/`) use Django's template language.
"""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.template.backends.utils import csrf_input
from django.template.defaultfilters import filesizeformat, floatformat, linebreaksbr
from django.templatetags.static import static
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.text import capfirst
from jinja2 import Environment

from accounts.mailing import filters as mails
from accounts.roles import page_of
from infrastructure.web import time_zones
from infrastructure.web.cards.previews import brand_preview
from infrastructure.web.mail import is_mail_logged
from infrastructure.web.relative_times import relative
from scans.check_catalogue import check_name, check_page, failure_title
from sites.assessments.progress import decided_words
from website_scan.messages import cut
from website_scan.report import templating

FILTERS = {
    # The pages have no inline scripts, so data for scripts is JSON in `data-…` attributes.
    "as_json": json.dumps,
    "capfirst": capfirst,
    "check_name": check_name,
    "check_page": check_page,
    "failure_title": failure_title,
    "cut": cut,
    "decided_words": decided_words,
    "filesizeformat": filesizeformat,
    "floatformat": floatformat,
    "linebreaksbr": linebreaksbr,
    "relative": relative,
    "unlinked": mails.unlinked,
    "grade_colours": mails.grade_colours,
    "severity_color": mails.severity_color,
    "type_name": mails.type_name,
    "minute": mails.minute,
    "in_zone": time_zones.in_zone,
    "with_zone": time_zones.with_zone,
    "day": mails.day,
}


def environment(**options: Any) -> Environment:
    """Return the Jinja2 environment with these options, such as the loader.

    All templates but `.txt` are escaped.
    """
    jinja = templating.environment(**options)
    jinja.autoescape = is_escaped
    jinja.filters |= FILTERS
    jinja.globals |= {
        "url": url,
        "page_of": page_of,
        "static": static,
        "mail_goes_to_log": is_mail_logged,
        "brand_preview": brand_preview,
        "sign_up_is_open": sign_up_is_open,
        "source_url": source_url,
        "reader_zone": time_zones.reader_zone,
        "zone_name": time_zones.zone_name,
        "static_site": static_site,
    }
    return jinja


def csrf(request: HttpRequest) -> dict[str, object]:
    """Return the context variable `csrf_input`.

    Unlike Django's, it has one token for all forms on a page.
    """
    return {"csrf_input": SimpleLazyObject(lambda: csrf_input(request))}


def is_escaped(name: str | None) -> bool:
    return name is None or not name.endswith(".txt")


def url(name: str, *args: object) -> str:
    """Return the path for a page's name in the URL configuration."""
    return reverse(name, args=args)


def sign_up_is_open() -> bool:
    return settings.SIGN_UP_OPEN


def source_url() -> str:
    """Return the URL of the installation's source code.

    Empty if the operator has not set it.
    """
    return settings.SOURCE_URL


def static_site() -> bool:
    """Return True for pages from `make site-docs`, which have no login and no forms."""
    return settings.STATIC_SITE
