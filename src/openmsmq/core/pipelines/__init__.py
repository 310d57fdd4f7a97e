"""What data pipelines need: planned ranges, leases, staged batches."""
