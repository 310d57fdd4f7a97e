"""Runs under the system's Python, which has Samba's bindings: calls of mgmt, one in flight.

    python3 samba_client.py HOST PORT SECONDS

Prints how many calls a second were answered.
"""

import sys
import time

from samba import param  # type: ignore[import-not-found] # of another Python
from samba.credentials import Credentials  # type: ignore[import-not-found]
from samba.dcerpc import mgmt  # type: ignore[import-not-found]


def main(host: str, port: str, seconds: str) -> None:
    settings = param.LoadParm()
    credentials = Credentials()
    credentials.set_anonymous()
    client = mgmt.mgmt(f"ncacn_ip_tcp:{host}[{port}]", settings, credentials)
    for _ in range(100):
        client.is_server_listening()
    count = 0
    start = time.perf_counter()
    end = start + float(seconds)
    while time.perf_counter() < end:
        for _ in range(50):
            client.is_server_listening()
        count += 50
    print(count / (time.perf_counter() - start))


if __name__ == "__main__":
    main(*sys.argv[1:])
