"""The server of qm2qm and of its part of qmcomm."""

from .opened_queues import OpenedQueues
from .qm2qm_server import Qm2qmServer
from .qmcomm_server import QmcommServer

__all__ = ["OpenedQueues", "Qm2qmServer", "QmcommServer"]
