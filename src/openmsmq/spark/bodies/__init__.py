"""Bodies in DataFrames: text, schemas, typed columns."""
