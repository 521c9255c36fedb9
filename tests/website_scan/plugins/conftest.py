"""Fixtures of tests with plug-ins."""

from tests.plug_ins import packages as packages
