"""Results of a pipeline: summaries, charts, reports."""
