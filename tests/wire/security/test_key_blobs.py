"""[MS-MQQB] 2.4; [MS-MQMQ] 2.2.1, 2.2.2."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.security.key_blobs import (
    CALG_RSA_KEYX,
    CALG_RSA_SIGN,
    MQDSPublicKey,
    MQDSPublicKeys,
    PublicKeyBlob,
    SimpleBlob,
)

PUBLIC = bytes.fromhex("06020000 00a40000 52534131 20000000 01000100 78563412")
SIMPLE = bytes.fromhex("01020000 10660000 00a40000 aabbcc")
KEY = bytes.fromhex("03000000 06000000 18000000 410042000000 616263")
KEYS = bytes.fromhex("1d000000 01000000") + KEY

u32 = st.integers(0, 0xFFFFFFFF)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
keys = st.builds(MQDSPublicKey, u32, words, st.binary(max_size=20))


@pytest.mark.spec("MQQB-2.4.1-01", "MQQB-2.4.1-02", "MQQB-2.4.1-03")
def test_public_key_blob_layout() -> None:
    blob = PublicKeyBlob(65537, bytes.fromhex("78563412"))
    assert PublicKeyBlob.parse(PUBLIC) == (blob, 24)
    assert blob.serialize() == PUBLIC
    assert blob.bit_len == 32


@given(u32, st.binary(max_size=64), st.sampled_from([CALG_RSA_KEYX, CALG_RSA_SIGN]))
def test_public_key_blob_parse_reverses_serialize(
    pub_exp: int, modulus: bytes, key_algorithm: int
) -> None:
    blob = PublicKeyBlob(pub_exp, modulus, key_algorithm)
    raw = blob.serialize()
    assert PublicKeyBlob.parse(memoryview(b"?" + raw + b"?"), 1) == (blob, 1 + len(raw))


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        pytest.param(0, 0x07, "", 0, marks=pytest.mark.spec("MQQB-2.4.1-01")),
        pytest.param(1, 0x03, "", 0, marks=pytest.mark.spec("MQQB-2.4.1-01")),
        pytest.param(5, 0xA5, ".KeyType", 4, marks=pytest.mark.spec("MQQB-2.4.1-01")),
        pytest.param(11, 0x32, "", 8, marks=pytest.mark.spec("MQQB-2.4.1-01")),
        pytest.param(12, 0x21, ".bitLen", 12, marks=pytest.mark.spec("MQQB-2.4.1-03")),
        pytest.param(12, 0x28, ".modulus", 20, marks=pytest.mark.spec("MQQB-2.4.1-03")),
        (15, 0xFF, ".modulus", 20),
    ],
)
def test_wrong_values_of_a_public_key_blob_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(PUBLIC)
    damaged[position] = value
    with pytest.raises(MalformedPacket) as caught:
        PublicKeyBlob.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (f"PUBLICKEYBLOB{field}", offset)


@pytest.mark.parametrize("size", range(24))
def test_a_short_public_key_blob_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        PublicKeyBlob.parse(PUBLIC[:size])


@pytest.mark.spec("MQQB-2.4.2-01")
def test_simple_blob_layout() -> None:
    blob = SimpleBlob(0x6610, b"\xaa\xbb\xcc")
    assert SimpleBlob.parse(SIMPLE) == (blob, 15)
    assert blob.serialize() == SIMPLE


@given(u32, st.binary(max_size=64))
def test_simple_blob_parse_reverses_serialize(algorithm: int, key: bytes) -> None:
    blob = SimpleBlob(algorithm, key)
    raw = b"?" + blob.serialize()
    assert SimpleBlob.parse(memoryview(raw), 1) == (blob, len(raw))


@pytest.mark.spec("MQQB-2.4.2-01")
@pytest.mark.parametrize(("position", "offset"), [(0, 0), (3, 0), (8, 8), (9, 8)])
def test_wrong_constants_of_a_simple_blob_are_malformed(position: int, offset: int) -> None:
    damaged = bytearray(SIMPLE)
    damaged[position] ^= 0x40
    with pytest.raises(MalformedPacket) as caught:
        SimpleBlob.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == ("SIMPLEBLOB", offset)


@pytest.mark.parametrize("size", range(12))
def test_a_short_simple_blob_is_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        SimpleBlob.parse(SIMPLE[:size])


def test_public_keys_layout() -> None:
    public_keys = MQDSPublicKeys((MQDSPublicKey(0x18, "AB", b"abc"),))
    assert MQDSPublicKeys.parse(KEYS) == (public_keys, 29)
    assert public_keys.serialize() == KEYS


@given(st.lists(keys, max_size=4).map(tuple))
def test_public_keys_parse_reverses_serialize(some: tuple[MQDSPublicKey, ...]) -> None:
    public_keys = MQDSPublicKeys(some)
    raw = public_keys.serialize()
    assert MQDSPublicKeys.parse(memoryview(b"?" + raw + b"?"), 1) == (public_keys, 1 + len(raw))


@pytest.mark.parametrize(
    ("position", "value", "field", "offset"),
    [
        (0, 7, "MQDSPUBLICKEYS.ulLen", 0),
        (0, 30, "MQDSPUBLICKEYS.ulLen", 0),
        (0, 28, "MQDSPUBLICKEY.aBuf", 26),
        (4, 0, "MQDSPUBLICKEYS.ulLen", 0),
        (4, 2, "MQDSPUBLICKEYS.cNumofKeys", 4),
        # 12 times this is 8 modulo 2**32.
        (4, 0x15555556, "MQDSPUBLICKEYS.cNumofKeys", 4),
        (8, 4, "MQDSPUBLICKEY.aBuf", 26),
        (8, 0xFFFFFFFF, "MQDSPUBLICKEY.aBuf", 26),
        (12, 10, "MQDSPUBLICKEY.sProviderName", 20),
        (12, 4, "MQDSPUBLICKEY.sProviderName", 20),
        (12, 0xFFFFFFFF, "MQDSPUBLICKEY.sProviderName", 20),
    ],
)
def test_wrong_values_of_public_keys_name_field_and_offset(
    position: int, value: int, field: str, offset: int
) -> None:
    damaged = bytearray(KEYS)
    damaged[position : position + 4] = value.to_bytes(4, "little")
    with pytest.raises(MalformedPacket) as caught:
        MQDSPublicKeys.parse(memoryview(damaged))
    assert (caught.value.field, caught.value.offset) == (field, offset)


def test_the_number_of_public_keys_has_a_limit() -> None:
    key = MQDSPublicKey(1, "", b"")
    assert len(MQDSPublicKeys.parse(MQDSPublicKeys((key,) * 256).serialize())[0].public_keys) == 256
    with pytest.raises(MalformedPacket, match="257 is more than 256"):
        MQDSPublicKeys.parse(MQDSPublicKeys((key,) * 257).serialize())


@pytest.mark.parametrize("size", range(29))
def test_short_public_keys_are_malformed(size: int) -> None:
    with pytest.raises(MalformedPacket):
        MQDSPublicKeys.parse(KEYS[:size])
