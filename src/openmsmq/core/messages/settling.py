"""What every operation leaves to its end: acknowledgments, and readers that may be served."""

from openmsmq.core.state import State
from openmsmq.core.transfer.acknowledgments import acknowledge
from openmsmq.core.transfer.final_acks import send_final_ack

from .serving import serve


def settle(state: State) -> None:
    """Do the work that operations left over, until nothing is left."""
    while state.touched or state.to_acknowledge or state.to_finalize:
        if state.to_acknowledge:
            work, state.to_acknowledge = state.to_acknowledge, []
            for packet, message_class in work:
                acknowledge(state, packet, message_class)
        if state.to_finalize:
            work, state.to_finalize = state.to_finalize, []
            for packet, message_class in work:
                send_final_ack(state, packet, message_class)
        if state.touched:
            queue, arrived = state.touched.popitem()
            serve(state, queue, arrived)
