"""Check of the routes to the domain's addresses."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from website_scan.catalogue import check
from website_scan.findings import LOW, MEDIUM, NotApplicable
from website_scan.messages import some
from website_scan.outcomes import Fail, Pass, Verdict, Warn, outcome
from website_scan.places import Column, Identity, Place, as_written
from website_scan.security.checks import names as names_checks
from website_scan.security.dns_places import NO_OWN_DOMAIN
from website_scan.security.route_origins import AddressRoute, Routes, Validity
from website_scan.values import Count, Excerpt

CATEGORY = names_checks.CATEGORY
MAX_ROUTES_SHOWN = 3


class RouteRow(Place, frozen=True):
    """Address with its routes and their status."""

    kind: ClassVar[str] = "route"

    address: Annotated[str, Identity(as_written), Column("Address", "mono")]
    purpose: Annotated[str, Column("Address of")]
    route: Annotated[str | None, Column("Route", "mono")]
    status: Annotated[str, Column("RPKI")]

    @classmethod
    def of(cls, route: AddressRoute) -> Self:
        shown = "; ".join(f"{each.prefix} AS{each.as_number}" for each in route.routes[:MAX_ROUTES_SHOWN])
        return cls(route.address, route.purpose, shown or None, str(route.validity))


@check(
    "route-origin",
    name="RPKI protects the addresses",
    outcomes={
        "missing": "RPKI does not cover an address",
        "invalid": outcome("RPKI does not authorize the route to an address", MEDIUM),
    },
    why="Without a route origin authorization (ROA), other networks cannot tell that somebody else announces the "
    "address, by mistake or to intercept its traffic.",
    severity=LOW,
    fix="Ask the provider of the addresses to create a ROA for the network and for the AS that announces it, at the "
    "registry that assigned the network, such as RIPE NCC or ARIN.",
    judged="The scan asks the operator's validator which ROAs cover the addresses of the site, its name servers and "
    "mail servers. Whether a route is valid is judged only if the operator has named a source of origins. Without a "
    "validator, the check is left out.",
    references=("RFC 6811", "RFC 9582", "RFC 7115"),
)
def route_origin(routes: Routes) -> Verdict:
    if routes.domain is None:
        return NO_OWN_DOMAIN
    if routes.error:
        return NotApplicable("Not tested: the RPKI validator of this installation gave no usable answer.")
    if not routes.addresses:
        return NotApplicable("No address is known.")
    rows = [RouteRow.of(route) for route in routes.addresses]
    if invalid := _with_status(routes, Validity.INVALID):
        return Fail(
            "invalid",
            "The RPKI authorizes no route to {addresses}, so networks that check it cannot reach them.",
            addresses=Excerpt(some(invalid), 300),
            details=rows,
        )
    if missing := _with_status(routes, Validity.NOT_FOUND):
        return Warn("missing", "No ROA covers {addresses}.", addresses=Excerpt(some(missing), 300), details=rows)
    return Pass("ROAs cover {addresses}.", addresses=Count(len(rows), "address", "addresses"), details=rows)


def _with_status(routes: Routes, status: Validity) -> list[str]:
    return [route.address for route in routes.addresses if route.validity is status]
