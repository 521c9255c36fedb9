"""The frame: settings, the API's common parts, the embedded stack."""

# The one place where the version stands: of the project, of the API's description, of the operations page.
__version__ = "0.1.0"
