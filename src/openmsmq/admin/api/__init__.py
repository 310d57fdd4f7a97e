"""The HTTP API: functions on queues and messages, and one table of endpoints for them.

`table.ENDPOINTS` has the method, path, types, role and words of each endpoint; `application`
makes routes and checks from it, `document` the OpenAPI document. Pages call the same functions.
"""
