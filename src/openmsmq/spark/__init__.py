"""The Spark data source and pipelines."""
