"""The service's settings, with a host on which every visitor is logged in, for pages behind the login."""

from config.settings import *  # noqa: F403
from config.settings import MIDDLEWARE

MIDDLEWARE = [*MIDDLEWARE, "benchmarks.dogfood.SignedInMiddleware"]
