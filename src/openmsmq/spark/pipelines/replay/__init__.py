"""Send messages of an archive or a dead-letter queue again, never twice."""
