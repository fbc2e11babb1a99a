"""Full-text search over the conversations of a home."""
