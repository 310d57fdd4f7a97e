"""What all pipelines share: files, locks, moments, failures."""
