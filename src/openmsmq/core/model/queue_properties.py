"""Changeable properties of a queue, and their names in the core."""

from __future__ import annotations

from typing import Final

from .retry_policy import POLICY_ATTRIBUTES

CHANGEABLE_PROPERTIES: Final = {
    "label": "label",
    "journal": "journaling",
    "quota": "quota",
    "journal_quota": "journal_quota",
    "authenticate": "authentication",
    "privacy": "privacy_level",
    "base_priority": "base_priority",
    "multicast": "multicast_address",
    "type": "type",
    **{name: name for name in POLICY_ATTRIBUTES},
}
"""Words of users, with the attributes that they stand for."""
