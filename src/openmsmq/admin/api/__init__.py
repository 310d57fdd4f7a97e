"""The HTTP API: functions on queues and messages, and one table of endpoints over them.

`table.ENDPOINTS` says for each endpoint its method, path, types, role and words; `application`
makes routes and checks from it, `document` the OpenAPI document. Pages call the same functions.
"""
