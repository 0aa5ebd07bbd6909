"""One HTML page about the stacks of a file, for a review: data first, then its rendering."""
