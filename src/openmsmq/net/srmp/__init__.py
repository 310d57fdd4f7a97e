"""HTTP and HTTPS over sockets: `shell` moves bytes, `connecting` reaches other hosts."""
