"""Code that all apps share, such as base classes, PostgreSQL access, the task queue and telemetry."""
