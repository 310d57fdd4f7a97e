"""The keys of a queue manager in use: replaced ones decrypt for a while."""

from pathlib import Path

import pytest

from openmsmq.service.keys import EXCHANGE, KeyFiles
from openmsmq.service.machine_keys import SECONDS_PER_DAY, MachineKeys
from openmsmq.wire.codes.algorithms import PROVIDERS
from openmsmq.wire.codes.message_enums import PrivacyLevel
from openmsmq.wire.errors import ConfigError

BASE, AES = PrivacyLevel.BODY_BASE, PrivacyLevel.BODY_AES
PROVIDER = PROVIDERS[BASE]


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def open_keys(folder: Path, clock: Clock, days: float = 30) -> MachineKeys:
    return MachineKeys(KeyFiles(folder), {BASE: PROVIDER}, retention_days=days, utc=clock)


def test_there_are_none_before_they_are_published(tmp_path: Path) -> None:
    keys = open_keys(tmp_path / "keys", Clock())
    assert keys.exchange_keys(BASE) == ()
    assert keys.listed() == ()
    assert not (tmp_path / "keys").exists()
    keys.exchange_key(PROVIDER)
    assert [key.size for key in keys.exchange_keys(BASE)] == [64]
    assert keys.exchange_keys(AES) == ()
    assert keys.signing_key(PROVIDER) != keys.exchange_key(PROVIDER)


def test_a_replaced_key_decrypts_until_its_time_is_over(tmp_path: Path) -> None:
    clock = Clock()
    keys = open_keys(tmp_path, clock)
    first = keys.exchange_key(PROVIDER)
    keys.rotate()
    second = keys.exchange_key(PROVIDER)
    assert second != first
    assert len(keys.exchange_keys(BASE)) == 2
    clock.now += SECONDS_PER_DAY
    keys.rotate()
    retired = [key.retired for key in keys.listed()]
    assert retired == [None, int(clock.now), int(clock.now) - SECONDS_PER_DAY]
    assert len({key.fingerprint for key in keys.listed()}) == 3
    assert {key.bits for key in keys.listed()} == {512}
    # So it is after a start, too.
    again = open_keys(tmp_path, clock)
    assert again.listed() == keys.listed()
    clock.now += 29 * SECONDS_PER_DAY + 1
    assert len(open_keys(tmp_path, clock).exchange_keys(BASE)) == 2
    clock.now += SECONDS_PER_DAY
    last = open_keys(tmp_path, clock)
    assert [key.retired for key in last.listed()] == [None]
    assert len(list(tmp_path.glob("exchange-*"))) == 1


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    clock = Clock()
    keys = open_keys(tmp_path, clock)
    keys.exchange_key(PROVIDER)
    keys.rotate()
    files = sorted(tmp_path.glob("exchange-*"))
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, 0o600]
    for file in files:
        file.chmod(0o640)
        with pytest.raises(ConfigError, match=r"others may read.*chmod 600"):
            open_keys(tmp_path, clock)
        file.chmod(0o600)
    assert len(open_keys(tmp_path, clock).listed()) == 2


def test_the_length_of_new_keys_can_be_set(tmp_path: Path) -> None:
    files = KeyFiles(tmp_path, {PROVIDER.name: 1024})
    assert files.private_key(EXCHANGE, PROVIDER).bits == 1024
    assert files.rotate(EXCHANGE, PROVIDER, utc=5).bits == 1024
    (retired,) = files.retired(EXCHANGE, PROVIDER)
    assert (retired.retired, retired.key.bits) == (5, 1024)


def test_other_files_beside_the_keys_are_left_alone(tmp_path: Path) -> None:
    files = KeyFiles(tmp_path)
    files.private_key(EXCHANGE, PROVIDER)
    (name,) = [file.stem for file in tmp_path.iterdir()]
    other = tmp_path / f"{name}.old copy.pem"
    other.write_text("not ours")
    files.forget_retired(EXCHANGE, PROVIDER, before=2**40)
    assert files.retired(EXCHANGE, PROVIDER) == []
    assert other.exists()
