"""Envelopes for property tests."""

from hypothesis import strategies as st
from tests.wire.strategies import guids, message_identifiers, u16, u32

from openmsmq.wire.srmp import (
    NEVER,
    CommitmentReceipt,
    CommitmentReceiptRequest,
    DeliveryReceipt,
    Envelope,
    Eod,
    Msmq,
    Path,
    Properties,
    Provider,
    Services,
    StreamEntry,
    StreamId,
    StreamReceipt,
)

u64 = st.integers(0, (1 << 64) - 1)
times = st.integers(0, NEVER)
nothing = st.none()
# What XML can hold. Names have no white space.
characters = st.one_of(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"),
    st.sampled_from("\t\n\r\x7f\x85&<>]"),
)
words = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
urls = st.builds(
    lambda scheme, host, queue: f"{scheme}://{host}/msmq/private$/{queue}",
    st.sampled_from(["http", "https", "HTTP"]),
    words,
    words,
)
format_names = st.builds(lambda guid: f"PUBLIC={str(guid).upper()}", guids)
labels = st.text(characters, max_size=30)
actions = st.one_of(
    labels.map(lambda label: f"MSMQ:{label}"), st.sampled_from(["", "Generic label", "msmq:x"])
)
lists = st.lists(st.one_of(urls, format_names), max_size=3).map(tuple)
stream_ids = st.builds(StreamId, guids, u64)
ordinals = st.integers(1, 0xFFFFFFFF)

paths = st.builds(
    Path,
    to=st.one_of(urls, st.just("MSMQ:MULTICAST=234.1.1.1:8001")),
    id=message_identifiers,
    action=actions,
    via=st.one_of(st.just(""), urls, format_names.map(lambda name: f"MSMQ:{name}")),
)
properties = st.builds(Properties, times, nothing | times)
requests = st.builds(CommitmentReceiptRequest, urls, st.booleans(), st.booleans())
services = st.builds(Services, st.booleans(), st.just("") | urls, nothing | requests)
streams = st.builds(StreamEntry, stream_ids, ordinals, u32, st.just("") | urls)
eods = st.builds(Eod, st.booleans(), st.booleans(), nothing)
no_names = st.just(())


def msmqs_with(*, plain: bool) -> st.SearchStrategy[Msmq]:
    """All fields: `builds` would make up those that are left out."""
    return st.builds(
        Msmq,
        message_class=u16,
        priority=st.integers(0, 7),
        source_qm_guid=guids,
        ttrq=times,
        journal=st.booleans(),
        dead_letter=st.booleans(),
        correlation=st.binary(min_size=20, max_size=20),
        trace=st.booleans(),
        connector_type=nothing if plain else nothing | guids,
        app=u32,
        body_type=u32,
        hash_algorithm=u32,
        eod=nothing | (eods if plain else st.builds(Eod, st.booleans(), st.booleans(), guids)),
        provider=nothing if plain else nothing | st.builds(Provider, u32, words),
        destination_mqf=no_names if plain else lists,
        admin_mqf=no_names if plain else lists,
        response_mqf=no_names if plain else lists,
    )


# With <Msmq>, so that <id> and <stream> count.
envelopes = st.builds(
    Envelope,
    path=paths,
    properties=properties,
    services=services,
    stream=nothing | streams,
    stream_receipt=nothing | st.builds(StreamReceipt, stream_ids, ordinals),
    delivery_receipt=nothing | st.builds(DeliveryReceipt, times, message_identifiers),
    commitment_receipt=nothing
    | st.builds(CommitmentReceipt, times, st.booleans(), message_identifiers),
    msmq=msmqs_with(plain=False),
    signature=st.sampled_from(
        [b"", b'<Signature xmlns="http://www.w3.org/2000/02/xmldsig#" x=">">a<b/></Signature>']
    ),
)
# In the form that Windows writes for messages of applications.
plain_envelopes = st.builds(
    Envelope,
    path=paths,
    properties=st.builds(Properties, times, times),
    services=services,
    stream=nothing | streams,
    stream_receipt=nothing,
    delivery_receipt=nothing,
    commitment_receipt=nothing,
    msmq=msmqs_with(plain=True),
    signature=st.just(b""),
)
