"""The lab's tools: which they are, where they are, and how they are built."""
