"""Scanner of web pages (security, performance, accessibility, SEO): a library and a command, without a framework."""

# The only place that defines the version; the distribution, the API's description and the operations page read it.
__version__ = "1.0.0"
