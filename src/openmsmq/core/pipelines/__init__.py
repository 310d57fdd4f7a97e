"""Functions for data pipelines: planned ranges, leases, staged batches."""
