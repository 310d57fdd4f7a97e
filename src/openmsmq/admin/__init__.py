"""HTTP API, web console and metrics."""
