"""Settings of RPC and remote read, and whether they are enabled; `rpc` has the part itself."""

from pathlib import Path
from typing import Literal

from openmsmq.server.common_config import KIBIBYTE, MEBIBYTE, CommonConfig
from openmsmq.server.setting_values import Port
from openmsmq.server.settings import setting


class RpcConfig(CommonConfig):
    """Settings of RPC and of remote read: those of `RpcSettings` and `RemoteReadSettings`."""

    rpc_port: Port = 2103
    qm2qm_port: Port = 2105
    epm_port: Port = 135
    rpc_minimum_level: Literal["none", "connect", "packet", "integrity", "privacy"] = "privacy"
    # The keys that decrypt Kerberos tickets; without it Kerberos is not offered.
    rpc_keytab: Path | None = None
    rpc_cleanup_seconds: float = setting(default=300.0, ge=1.0, le=86400.0)
    rpc_max_connections: int = setting(default=20_000, ge=1, le=1_000_000)
    rpc_max_connections_per_address: int = setting(default=2_000, ge=1, le=1_000_000)
    rpc_max_unbound: int = setting(default=1_000, ge=1, le=1_000_000)
    rpc_bind_seconds: float = setting(default=30.0, ge=1.0, le=3600.0)
    rpc_max_associations: int = setting(default=20_000, ge=1, le=1_000_000)
    rpc_max_contexts: int = setting(default=256, ge=1, le=65_536)
    rpc_max_security_contexts: int = setting(default=64, ge=1, le=65_536)
    rpc_max_handles: int = setting(default=10_000, ge=1, le=10_000_000)
    rpc_max_total_handles: int = setting(default=100_000, ge=1, le=10_000_000)
    rpc_max_cursors: int = setting(default=10_000, ge=1, le=10_000_000)
    rpc_max_waiting_reads: int = setting(default=10_000, ge=1, le=10_000_000)
    rpc_max_calls: int = setting(default=1_024, ge=1, le=1_000_000)
    rpc_max_total_calls: int = setting(default=50_000, ge=1, le=10_000_000)
    rpc_max_request_bytes: int = setting(default=4 * MEBIBYTE, ge=64 * KIBIBYTE, le=64 * MEBIBYTE)
    rpc_max_unfinished_bytes: int = setting(default=256 * MEBIBYTE, ge=MEBIBYTE)
    rpc_pause_reply_bytes: int = setting(default=MEBIBYTE, ge=64 * KIBIBYTE)
    rpc_max_reply_bytes: int = setting(default=64 * MEBIBYTE, ge=8 * MEBIBYTE)
    # The address of this coordinator for other queue managers; without it, `bind` or the name.
    coordinator_address: str | None = None
    coordinator_hosts: tuple[str, ...] = ()
    coordinator_user: str | None = None
    coordinator_password_file: Path | None = None
    coordinator_max_transactions: int = setting(default=10_000, ge=1, le=10_000_000)
    coordinator_retry_seconds: float = setting(default=1.0, ge=0.05, le=3600.0)
    coordinator_max_retry_seconds: float = setting(default=30.0, ge=0.05, le=86400.0)
    coordinator_enlist_seconds: float = setting(default=10.0, ge=0.1, le=300.0)
    coordinator_prepare_seconds: float = setting(default=30.0, ge=0.1, le=3600.0)

    @property
    def rpc_is_on(self) -> bool:
        """Whether there is a port for remote read; the endpoint mapper alone leads nowhere."""
        return self.rpc_port != "off" or self.qm2qm_port != "off"
