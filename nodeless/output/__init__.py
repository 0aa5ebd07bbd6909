"""The output folder: which files in it are ours, and how all of them are replaced or none. It needs no Node."""
