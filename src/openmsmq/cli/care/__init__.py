"""Commands for many messages: search, dead letters, jobs, files, traces."""
