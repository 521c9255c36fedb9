"""The service's settings, with URLs that add bare views for comparison."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.api_urls"
