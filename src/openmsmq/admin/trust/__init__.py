"""Who may do what at the console: tokens, sessions, roles, limits, headers and the audit log.

`guard.Guard` stands before every page and endpoint. It checks the Host header, finds out who asks
(`tokens`, `sessions`, `links`), refuses forged and excessive requests, and puts the headers of
`headers` on every answer. `person.Person` is who asks; `audit.AuditLog` keeps what was done.
"""
