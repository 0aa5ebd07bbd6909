"""How much a file and all files of a run may hold: generous for what people write, and so that a run stays short."""

from __future__ import annotations

# Bytes.
LARGEST_FILE = 512 * 1024
# Levels of lists and maps in each other.
DEEPEST = 64
# Keys, values, lists and maps of a file; what an alias stands for counts each time.
MOST_VALUES = 100_000
# The same of all files of a run; the defaults count in each cluster.
MOST_VALUES_IN_ALL = 200_000
# Characters of all keys and values, counted in the same way, in a file and in all files of a run.
MOST_CHARACTERS = 4 * 1024 * 1024
# Items of one list or keys of one map: some more than EC2 has instance types.
MOST_ITEMS = 2_000
# Clusters of all files of a run.
MOST_CLUSTERS = 2_000
# Files of a run; how many includes lead at most from the file that was named to another; and the files and folders that
# the globs of `include` look at.
MOST_FILES = 1_000
DEEPEST_INCLUDE = 8
MOST_SCANNED = 20_000
# Characters of a number. Python refuses to read numbers with some thousand digits, and nothing here means one.
LONGEST_NUMBER = 100
# Mistakes that one run reports. Whoever has more made one of them many times.
MOST_FINDINGS = 200
# The same, where equal mistakes of several clusters are counted one by one.
MOST_EQUAL = 2_000
