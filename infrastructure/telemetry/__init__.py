"""What operators see of the service: numbers at /metrics, lines of the access log, spans (docs/metrics.md)."""
