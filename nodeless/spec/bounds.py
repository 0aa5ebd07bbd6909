"""How much a file may hold. Every bound is generous for a file that a person writes, and keeps a run short."""

from __future__ import annotations

# Bytes.
LARGEST_FILE = 512 * 1024
# Levels of lists and maps in each other.
DEEPEST = 64
# Keys, values, lists and maps; what an alias stands for counts each time, and so do the defaults in each cluster.
MOST_VALUES = 100_000
# Characters of all keys and values, counted in the same way.
MOST_CHARACTERS = 4 * 1024 * 1024
# Items of one list or keys of one map: some more than EC2 has instance types.
MOST_ITEMS = 2_000
MOST_CLUSTERS = 500
# Characters of a number. Python refuses to read numbers with some thousand digits, and nothing here means one.
LONGEST_NUMBER = 100
# Mistakes that one run reports. Whoever has more made one of them many times.
MOST_FINDINGS = 200
