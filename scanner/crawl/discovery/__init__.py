"""Which pages a site has: from its sitemaps and its links, without a database."""
