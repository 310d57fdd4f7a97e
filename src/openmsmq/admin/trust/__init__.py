"""Access control of the console: tokens, sessions, roles, limits, headers and the audit log.

`guard.Guard` stands before every page and endpoint. It checks the Host header, finds the caller
(`tokens`, `sessions`, `links`), refuses forged and excessive requests, and adds the headers of
`headers` to every answer. `person.Person` is the caller; `audit.AuditLog` records actions.
"""
