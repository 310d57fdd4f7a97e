"""The read side of the data source: planning in the driver, reading in tasks."""
