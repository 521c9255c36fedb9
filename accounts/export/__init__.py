"""All of an organization's data, for its owners: zip files of JSON that a task makes (docs/export.md)."""
