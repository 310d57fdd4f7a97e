"""The files of other projects that the console ships."""

import json

from tools.vendor import MANIFEST, stale


def test_every_file_is_the_one_whose_digest_is_noted() -> None:
    assert stale() == []


def test_every_package_has_its_licence() -> None:
    for entry in json.loads(MANIFEST.read_text("utf-8")):
        assert entry["licence"]
        assert any(name.endswith("LICENSE.txt") for name in entry["sha256"])
