"""Network access: every connection that leaves the service is opened in this package."""
