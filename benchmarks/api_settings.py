"""Settings for the service whose URLs include a bare view for comparison."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.api_urls"
