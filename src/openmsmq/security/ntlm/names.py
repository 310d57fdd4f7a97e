"""The names by which a machine presents itself in NTLM."""

from dataclasses import dataclass
from typing import Final, Self

from openmsmq.security.passwords import upper

from .av_pairs import AvId, AvPairs

NETBIOS_NAME_LENGTH: Final = 15


@dataclass(frozen=True, slots=True)
class MachineNames:
    """NetBIOS and DNS names; a machine of a workgroup is its own domain."""

    netbios_computer: str
    netbios_domain: str
    dns_computer: str = ""
    dns_domain: str = ""

    @classmethod
    def of_computer(cls, computer_name: str) -> Self:
        """The names of a machine in a workgroup, from its computer name or DNS name."""
        short, _, domain = computer_name.partition(".")
        netbios = upper(short)[:NETBIOS_NAME_LENGTH]
        return cls(netbios, netbios, computer_name.lower(), domain.lower())

    def av_pairs(self, timestamp: bytes) -> AvPairs:
        """TargetInfo of a CHALLENGE_MESSAGE ([MS-NLMP] 3.2.5.1.1)."""
        texts = (
            (AvId.MSV_AV_NB_DOMAIN_NAME, self.netbios_domain),
            (AvId.MSV_AV_NB_COMPUTER_NAME, self.netbios_computer),
            (AvId.MSV_AV_DNS_DOMAIN_NAME, self.dns_domain or self.dns_computer),
            (AvId.MSV_AV_DNS_COMPUTER_NAME, self.dns_computer),
        )
        pairs = {int(av_id): text.encode("utf-16-le") for av_id, text in texts}
        return AvPairs(pairs | {int(AvId.MSV_AV_TIMESTAMP): timestamp})
