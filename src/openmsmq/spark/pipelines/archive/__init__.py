"""Archive queues: messages into Parquet, Delta or Iceberg, each once."""
