from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """Configuration of the app; registers the system checks."""

    name = "operations"

    def ready(self) -> None:
        from operations.health import system_checks  # noqa: F401  the import registers the checks
