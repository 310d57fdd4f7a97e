"""Shared parts of pipelines: files, locks, moments, failures."""
