"""The files that are written beside a stack's JSON, and how all of them replace an earlier output."""
