"""Discovery of a site's pages from its sitemaps and links, without a database."""
