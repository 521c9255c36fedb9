"""The app that holds the operators' state."""

from __future__ import annotations

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """The maintenance switch. Its label is the one that its table and migrations have always had."""

    name = "config.operations"
    label = "config"
