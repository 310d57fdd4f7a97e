"""CACTransferBufferV1: sent by R_QMCreateRemoteCursor, read by no server ([MS-MQMP] 2.2.3.2)."""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.ndr import (
    GUID,
    I32,
    U8,
    U16,
    U32,
    XACTUOW,
    NdrType,
    Structure,
    Union,
    Unique,
    octet_array,
    ranged,
)
from openmsmq.wire.remote_read.queue_format import QueueFormat

from .queue_formats import OBJECT_ID, QUEUE_FORMAT, ObjectId

MAX_FORMAT_NAME: Final = 1024
WCHAR_SIZE: Final = 2
CORRELATION_ID_SIZE: Final = 20


class Send(NamedTuple):
    """The arm of CACTB_SEND."""

    p_admin_queue_format: QueueFormat | None = None
    p_response_queue_format: QueueFormat | None = None


class Receive(NamedTuple):
    """The arm of CACTB_RECEIVE."""

    request_timeout: int = 0
    action: int = 0
    asynchronous: int = 0
    cursor: int = 0
    ul_response_format_name_len: int = 0
    pp_response_format_name: bytes | memoryview | None = None
    pul_response_format_name_len_prop: int | None = None
    ul_admin_format_name_len: int = 0
    pp_admin_format_name: bytes | memoryview | None = None
    pul_admin_format_name_len_prop: int | None = None
    ul_dest_format_name_len: int = 0
    pp_dest_format_name: bytes | memoryview | None = None
    pul_dest_format_name_len_prop: int | None = None
    ul_ordering_format_name_len: int = 0
    pp_ordering_format_name: bytes | memoryview | None = None
    pul_ordering_format_name_len_prop: int | None = None


class CreateCursor(NamedTuple):
    """The arm of CACTB_CREATECURSOR."""

    h_cursor: int = 0
    srv_h_ac_queue: int = 0
    cli_p_qm_queue: int = 0


class CACTransferBufferV1(NamedTuple):
    """All members; the arm is that of `u_transfer_type`. Windows clients leave everything zero."""

    u_transfer_type: int = 0
    arm: Send | Receive | CreateCursor = Send()
    p_class: int | None = None
    pp_message_id: ObjectId | None = None
    pp_correlation_id: bytes | memoryview | None = None
    p_sent_time: int | None = None
    p_arrived_time: int | None = None
    p_priority: int | None = None
    p_delivery: int | None = None
    p_acknowledge: int | None = None
    p_auditing: int | None = None
    p_application_tag: int | None = None
    pp_body: bytes | memoryview | None = None
    ul_body_buffer_size_in_bytes: int = 0
    ul_alloc_body_buffer_in_bytes: int = 0
    p_body_size: int | None = None
    pp_title: bytes | memoryview | None = None
    ul_title_buffer_size_in_wchars: int = 0
    pul_title_buffer_size_in_wchars: int | None = None
    ul_absolute_time_to_queue: int = 0
    pul_relative_time_to_queue: int | None = None
    ul_relative_time_to_live: int = 0
    pul_relative_time_to_live: int | None = None
    p_trace: int | None = None
    pul_sender_id_type: int | None = None
    pp_sender_id: bytes | memoryview | None = None
    pul_sender_id_len_prop: int | None = None
    pul_priv_level: int | None = None
    ul_auth_level: int = 0
    p_authenticated: int | None = None
    pul_hash_alg: int | None = None
    pul_encrypt_alg: int | None = None
    pp_sender_cert: bytes | memoryview | None = None
    ul_sender_cert_len: int = 0
    pul_sender_cert_len_prop: int | None = None
    ppwcs_prov_name: bytes | memoryview | None = None
    ul_prov_name_len: int = 0
    pul_auth_prov_name_len_prop: int | None = None
    pul_prov_type: int | None = None
    f_default_provider: int = 0
    pp_symm_keys: bytes | memoryview | None = None
    ul_symm_keys_size: int = 0
    pul_symm_keys_size_prop: int | None = None
    b_encrypted: int = 0
    b_authenticated: int = 0
    u_sender_id_len: int = 0
    pp_signature: bytes | memoryview | None = None
    ul_signature_size: int = 0
    pul_signature_size_prop: int | None = None
    pp_src_qm_id: UUID | None = None
    p_uow: bytes | None = None
    pp_msg_extension: bytes | memoryview | None = None
    ul_msg_extension_buffer_in_bytes: int = 0
    p_msg_extension_size: int | None = None
    pp_connector_type: UUID | None = None
    pul_body_type: int | None = None
    pul_version: int | None = None


def _octets(size: str | int, length: str | int | None = None, *, unit: int = 1) -> Unique:
    """A pointer to a pointer to an array, which varies if `length` is given."""
    varying = length is not None
    return Unique(Unique(octet_array(size=size, length=length, varying=varying, unit=unit)))


_BYTE: Final = Unique(U8)
_DWORD: Final = Unique(U32)
_FORMAT_NAME_LEN: Final = ranged(0, MAX_FORMAT_NAME)
_ARMS: Final[dict[int, NdrType | None]] = {
    0: Structure(Send, Unique(QUEUE_FORMAT), Unique(QUEUE_FORMAT)),
    1: Structure(
        Receive,
        U32,
        U32,
        U32,
        U32,
        _FORMAT_NAME_LEN,
        _octets("ul_response_format_name_len", unit=WCHAR_SIZE),
        _DWORD,
        _FORMAT_NAME_LEN,
        _octets("ul_admin_format_name_len", unit=WCHAR_SIZE),
        _DWORD,
        _FORMAT_NAME_LEN,
        _octets("ul_dest_format_name_len", unit=WCHAR_SIZE),
        _DWORD,
        _FORMAT_NAME_LEN,
        _octets("ul_ordering_format_name_len", unit=WCHAR_SIZE),
        _DWORD,
    ),
    2: Structure(CreateCursor, U32, U32, U32),
}
CAC_TRANSFER_BUFFER_V1: Final = Structure(
    CACTransferBufferV1,
    ranged(0, 2),
    Union(U32, "u_transfer_type", _ARMS),
    Unique(U16),
    Unique(Unique(OBJECT_ID)),
    _octets(CORRELATION_ID_SIZE, CORRELATION_ID_SIZE),
    _DWORD,
    _DWORD,
    _BYTE,
    _BYTE,
    _BYTE,
    _BYTE,
    _DWORD,
    _octets("ul_alloc_body_buffer_in_bytes", "ul_body_buffer_size_in_bytes"),
    U32,
    U32,
    _DWORD,
    _octets("ul_title_buffer_size_in_wchars", "ul_title_buffer_size_in_wchars", unit=WCHAR_SIZE),
    U32,
    _DWORD,
    U32,
    _DWORD,
    U32,
    _DWORD,
    _BYTE,
    _DWORD,
    _octets("u_sender_id_len"),
    _DWORD,
    _DWORD,
    U32,
    _BYTE,
    _DWORD,
    _DWORD,
    _octets("ul_sender_cert_len"),
    U32,
    _DWORD,
    _octets("ul_prov_name_len", unit=WCHAR_SIZE),
    U32,
    _DWORD,
    _DWORD,
    I32,
    _octets("ul_symm_keys_size"),
    U32,
    _DWORD,
    U8,
    U8,
    U16,
    _octets("ul_signature_size"),
    U32,
    _DWORD,
    Unique(Unique(GUID)),
    Unique(XACTUOW),
    _octets("ul_msg_extension_buffer_in_bytes", "ul_msg_extension_buffer_in_bytes"),
    U32,
    _DWORD,
    Unique(Unique(GUID)),
    _DWORD,
    _DWORD,
)
