"""Options of the data source: names, values, records for reading and writing."""
