"""Messages: sending, arriving, reading, moving, expiring, leaving."""
