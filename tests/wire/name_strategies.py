"""Names of every kind, for property tests."""

from ipaddress import IPv4Address

from hypothesis import strategies as st

from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import (
    ConnectorFormatName,
    DistributionListFormatName,
    FormatName,
    MachineFormatName,
    MulticastFormatName,
    MultipleElementFormatName,
    PrivateFormatName,
    PublicFormatName,
    SingleFormatName,
)
from openmsmq.wire.names.path_name import PathName
from openmsmq.wire.names.queue_name import SUFFIX_WORDS, QueueName, QueueScope, Suffix

_NAME_ALPHABET = st.characters(
    codec="utf-16", exclude_categories=["Cc", "Cs"], exclude_characters=' "+,;\\'
)
_HOST_ALPHABET = st.sampled_from(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
)
_RESERVED = ("private$", "system$", "journal$", "deadletter$", "xactdeadletter$")


def _names(limit: int) -> st.SearchStrategy[str]:
    return st.text(_NAME_ALPHABET, min_size=1, max_size=limit).filter(
        lambda name: name.lower() not in _RESERVED and name.upper() not in SUFFIX_WORDS
    )


guids = st.uuids()
hosts = st.text(_HOST_ALPHABET, min_size=1, max_size=40)
_machine_suffixes = st.sampled_from((Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT))
_queue_suffixes = st.sampled_from((Suffix.NONE, Suffix.JOURNAL))
_scopes = st.sampled_from((QueueScope.PUBLIC, QueueScope.PRIVATE))

plain_queue_names = st.builds(QueueName, _scopes, _names(62))
queue_names = st.one_of(
    plain_queue_names,
    st.builds(QueueName, _scopes, _names(62), st.just(Suffix.JOURNAL)),
    st.builds(QueueName, _scopes, _names(62), st.just(Suffix.SUBQUEUE), _names(16)),
    st.builds(QueueName, st.just(QueueScope.SYSTEM), st.just(""), _machine_suffixes),
)
path_names = st.builds(PathName, st.just(".") | hosts, queue_names)

_ip_addresses = st.ip_addresses().map(str)
_ipx_addresses = st.tuples(st.integers(0, 0xFFFFFFFF), st.integers(0, 0xFFFFFFFFFFFF)).map(
    lambda pair: f"{pair[0]:08X}:{pair[1]:012X}"
)
_web_hosts = hosts | st.ip_addresses(v=4).map(str) | st.builds("[{}]".format, st.ip_addresses(v=6))
_web_protocols = st.sampled_from((DirectProtocol.HTTP, DirectProtocol.HTTPS))


def _direct(queues: st.SearchStrategy[QueueName]) -> st.SearchStrategy[DirectFormatName]:
    return st.one_of(
        st.builds(DirectFormatName, st.just(DirectProtocol.OS), hosts, queues),
        st.builds(DirectFormatName, st.just(DirectProtocol.TCP), _ip_addresses, queues),
        st.builds(
            DirectFormatName,
            st.sampled_from((DirectProtocol.IPX, DirectProtocol.SPX)),
            _ipx_addresses,
            queues,
        ),
        st.builds(
            DirectFormatName,
            _web_protocols,
            _web_hosts,
            # In a URL, a query follows the question mark.
            plain_queue_names.filter(lambda queue: "?" not in queue.name),
            st.integers(0, 0xFFFF),
        ),
    )


direct_names = _direct(queue_names)
public_names = st.builds(PublicFormatName, guids, _queue_suffixes)
private_names = st.builds(PrivateFormatName, guids, st.integers(0, 0xFFFFFFFF), _queue_suffixes)
list_names = st.builds(DistributionListFormatName, guids, st.just("") | hosts)
connector_names = st.builds(
    ConnectorFormatName, guids, st.sampled_from((Suffix.NONE, Suffix.XACTONLY))
)
multicast_names = st.builds(
    MulticastFormatName,
    st.integers(0xE0000000, 0xEFFFFFFF).map(IPv4Address),
    st.integers(0, 0xFFFF),
)
plain_names: st.SearchStrategy[SingleFormatName] = st.one_of(
    _direct(plain_queue_names),
    st.builds(PublicFormatName, guids),
    st.builds(PrivateFormatName, guids, st.integers(0, 0xFFFFFFFF)),
)
elements: st.SearchStrategy[SingleFormatName] = st.one_of(
    plain_names, list_names, connector_names, multicast_names
)
single_names: st.SearchStrategy[SingleFormatName] = st.one_of(
    direct_names,
    public_names,
    private_names,
    list_names,
    connector_names,
    multicast_names,
    st.builds(MachineFormatName, guids, _machine_suffixes),
)
multiple_names = st.builds(
    MultipleElementFormatName, st.lists(elements, min_size=2, max_size=4).map(tuple)
)
format_names: st.SearchStrategy[FormatName] = single_names | multiple_names
