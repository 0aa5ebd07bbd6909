"""What a user may write in clusters.yaml, and the resolved, frozen Installation that follows from it."""
