"""The Python API, for programs in any process."""
