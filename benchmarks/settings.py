"""The service's settings, with bare views beside its own."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.urls"
