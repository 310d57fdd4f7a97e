"""The intervals after which unacknowledged transactional messages are sent again."""


def resend_timer_table(short: float, medium: float, long: float, final: float) -> tuple[float, ...]:
    """ResendTimerTable ([MS-MQQB] 3.1.3.1, [MC-MQSRM] 3.1.3.1): ten intervals in seconds."""
    return (*(short,) * 3, *(medium,) * 3, *(long,) * 3, final)
