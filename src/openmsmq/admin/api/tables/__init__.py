"""The rows of the table of endpoints, by subject; `api.table` puts them together."""
