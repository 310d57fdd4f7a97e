"""Limits and defaults of names, messages and sessions."""

from typing import Final

# Characters ([MS-MQMQ] 2.1, 2.3.1.8).
MAX_QUEUE_NAME: Final = 124
MAX_QUEUE_LABEL: Final = 124
MAX_COMPUTER_NAME: Final = 256
MAX_DOMAIN_NAME: Final = 255
# 31 and a NUL fit the SubqueueHeader; the grammar says 32, which we accept.
MAX_SUBQUEUE_NAME: Final = 32
# A message label without its NUL.
MAX_LABEL: Final = 249

MAX_PROPERTIES: Final = 128
MAX_PRIORITY: Final = 7
DEFAULT_PRIORITY: Final = 3
MAX_ROUTING_COUNT: Final = 0x1D

# [MS-MQDMPR] 3.1.1.12: four days.
DEFAULT_TIME_TO_REACH_QUEUE: Final = 345_600
# The value by which an application asks for the default of the enterprise.
LONG_LIVED: Final = 0xFFFFFFFE

# [MC-MQSRM] 2.1.3.1: the largest message of PGM.
MAX_APDU_BYTES: Final = 0x10000

# [MS-MQQB] 2.2.2.1, 2.2.20.4: a session.
WINDOW_SIZE: Final = 64
MIN_ACK_TIMEOUT_MS: Final = 0x4E20
MAX_ACK_TIMEOUT_MS: Final = 0x1D4C0
MIN_RECOVERABLE_ACK_TIMEOUT_MS: Final = 0x1F4
MAX_RECOVERABLE_ACK_TIMEOUT_MS: Final = 0x1D4C0
