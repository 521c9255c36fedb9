"""Date and time formats for English, the only language of the pages."""
