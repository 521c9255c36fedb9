"""The service's own settings, and a host at whose address everybody is somebody: for pages behind the login."""

from config.settings import *  # noqa: F403
from config.settings import MIDDLEWARE

MIDDLEWARE = [*MIDDLEWARE, "benchmarks.dogfood.SignedInMiddleware"]
