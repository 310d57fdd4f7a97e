"""Transactions across machines: the coordinator, and the participants.

`CoordinatorServer` answers the calls of participants. `Participant` makes them: its shell carries
out what `take_requests` returns and gives back the answers.
"""

from .participant import CoordinatorRequest, Participant
from .server import CoordinatorServer
from .settings import ParticipantSettings

__all__ = ["CoordinatorRequest", "CoordinatorServer", "Participant", "ParticipantSettings"]
