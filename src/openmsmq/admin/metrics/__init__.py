"""`/metrics`: counters of the queue manager and its console, for Prometheus.

`text` writes families of series in both formats, `families` has the series of the queue manager,
`queue_families` those of queues, `routes` answers requests. The package has a Grafana dashboard
and rules for Prometheus beside it, in `files`.
"""
