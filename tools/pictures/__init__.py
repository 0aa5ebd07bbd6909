"""Pictures for the documents: what real commands show on a terminal, as SVG."""
