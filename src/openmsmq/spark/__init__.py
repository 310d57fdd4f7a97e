"""The Spark data source and pipelines."""

from .errors import SparkUnavailable
from .session import session

__all__ = ["SparkUnavailable", "session"]
