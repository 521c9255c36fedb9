"""Rules of Acme for pages."""
