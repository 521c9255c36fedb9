"""Scanner of web pages: security, performance, accessibility, SEO. A library and a command, without a framework."""

# The one place where the version stands: of the distribution, the API's description, the operations page.
__version__ = "0.1.0"
