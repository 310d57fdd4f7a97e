"""Ready-made pipelines; each is a function that takes a SparkSession and returns its result."""
