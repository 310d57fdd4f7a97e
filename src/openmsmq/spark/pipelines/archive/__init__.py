"""Archive queues: messages into Parquet, Delta or Iceberg, once each."""
