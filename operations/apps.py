from django.apps import AppConfig


class OperationsConfig(AppConfig):
    """Registers the system checks."""

    name = "operations"

    def ready(self) -> None:
        from operations import system_checks  # noqa: F401  registering is what the import is for
