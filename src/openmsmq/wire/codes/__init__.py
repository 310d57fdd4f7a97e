"""Codes and their meaning: HRESULTs, message classes, property identifiers, rights."""
