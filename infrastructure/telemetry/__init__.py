"""Telemetry for operators: metrics at /metrics, the access log, and tracing spans (docs/metrics.md)."""
