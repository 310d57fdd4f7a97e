"""Metrics, health, HTTP API and web console: a process of its own beside a queue manager.

`process` runs it, started by `openmsmq serve` or alone by `openmsmq console`. It uses the queue
manager through `openmsmq.client` only. `console.Console` has the shared state: settings,
connections, the sampler. `app.build_app` makes the web application from groups of routes; a new
group is one module and one line in `app.GROUPS`.
"""
