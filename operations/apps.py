from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """App configuration that registers the system checks."""

    name = "operations"

    def ready(self) -> None:
        from operations.health import system_checks  # noqa: F401  The import registers the checks.
