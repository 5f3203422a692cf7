"""Programs of which values are moved, shared and copied, against the oracle, which copies always."""
