"""Codes of faults and rejections, and the levels of authentication."""

from enum import IntEnum
from typing import Final

# C706 appendix N, [MS-RPCE] 3.3.3.5.
NCA_S_FAULT_CANCEL: Final = 0x1C00000D
NCA_S_FAULT_CONTEXT_MISMATCH: Final = 0x1C00001A
NCA_S_FAULT_REMOTE_NO_MEMORY: Final = 0x1C00001B
NCA_S_OP_RNG_ERROR: Final = 0x1C010002
NCA_S_UNK_IF: Final = 0x1C010003
NCA_S_PROTO_ERROR: Final = 0x1C01000B
NCA_S_SERVER_TOO_BUSY: Final = 0x1C010014
# Win32 codes that Windows sends in faults.
RPC_ACCESS_DENIED: Final = 0x00000005
RPC_X_BAD_STUB_DATA: Final = 0x000006F7
RPC_X_INVALID_BOUND: Final = 0x000006C6
RPC_S_CALL_FAILED: Final = 0x000006BE
RPC_S_UNKNOWN_IF: Final = 0x000006B5
RPC_S_NO_CALL_ACTIVE: Final = 0x000006BD
RPC_S_CALL_CANCELLED: Final = 0x0000071A
RPC_S_SEC_PKG_ERROR: Final = 0x00000721
EPT_S_NOT_REGISTERED: Final = 0x000006D9

# [MS-RPCE] 3.3.3.5.1: a server sends none of these as the status of a fault.
FORBIDDEN_STATUSES: Final = frozenset(
    (
        *(0x00000000, 0x80000001, 0x80000002, 0x80000003, 0xC0000005, 0xC0000006, 0xC000001D),
        *(0xC0000096, 0xC00000AA, 0xC00000FD, 0xC0000194, 0xC0000235, 0xC0000409, 0xC0000420),
    )
)

STATUS_NAMES: Final = {
    NCA_S_FAULT_CANCEL: "nca_s_fault_cancel",
    NCA_S_FAULT_CONTEXT_MISMATCH: "nca_s_fault_context_mismatch",
    NCA_S_FAULT_REMOTE_NO_MEMORY: "nca_s_fault_remote_no_memory",
    NCA_S_OP_RNG_ERROR: "nca_s_op_rng_error",
    NCA_S_UNK_IF: "nca_s_unk_if",
    NCA_S_PROTO_ERROR: "nca_s_proto_error",
    NCA_S_SERVER_TOO_BUSY: "nca_s_server_too_busy",
    RPC_ACCESS_DENIED: "access denied",
    RPC_X_BAD_STUB_DATA: "RPC_X_BAD_STUB_DATA",
    RPC_X_INVALID_BOUND: "RPC_X_INVALID_BOUND",
    RPC_S_CALL_FAILED: "RPC_S_CALL_FAILED",
    RPC_S_UNKNOWN_IF: "RPC_S_UNKNOWN_IF",
    RPC_S_NO_CALL_ACTIVE: "RPC_S_NO_CALL_ACTIVE",
    RPC_S_CALL_CANCELLED: "RPC_S_CALL_CANCELLED",
    RPC_S_SEC_PKG_ERROR: "RPC_S_SEC_PKG_ERROR",
    EPT_S_NOT_REGISTERED: "EPT_S_NOT_REGISTERED",
}


class AuthnLevel(IntEnum):
    """RPC_C_AUTHN_LEVEL_* ([MS-RPCE] 2.2.1.1.8), without the prefix."""

    NONE = 1
    CONNECT = 2
    CALL = 3
    PKT = 4
    PKT_INTEGRITY = 5
    PKT_PRIVACY = 6


class RejectReason(IntEnum):
    """provider_reject_reason of a bind_nak ([MS-RPCE] 2.2.2.5)."""

    REASON_NOT_SPECIFIED = 0
    TEMPORARY_CONGESTION = 1
    LOCAL_LIMIT_EXCEEDED = 2
    PROTOCOL_VERSION_NOT_SPECIFIED = 4
    AUTHENTICATION_TYPE_NOT_RECOGNIZED = 8
    INVALID_CHECKSUM = 9


class ContextResult(IntEnum):
    """p_cont_def_result_t: what became of a proposed presentation context."""

    ACCEPTANCE = 0
    USER_REJECTION = 1
    PROVIDER_REJECTION = 2
    NEGOTIATE_ACK = 3


# p_provider_reason_t
ABSTRACT_SYNTAX_NOT_SUPPORTED: Final = 1
PROPOSED_TRANSFER_SYNTAXES_NOT_SUPPORTED: Final = 2
