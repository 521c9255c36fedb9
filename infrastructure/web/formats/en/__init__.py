"""For the one language of the pages."""
