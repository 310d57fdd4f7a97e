"""PGM over sockets: `sockets` opens them, `shell` moves datagrams."""
