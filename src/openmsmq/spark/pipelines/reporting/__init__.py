"""What a pipeline shows: summaries, charts, reports."""
