"""A client of Samba's RPC library; run by the Python of the system, which has its bindings.

Arguments: a binding string and the realm. Logs on by the ticket in $KRB5CCNAME, calls mgmt three
times, and prints JSON. It never sees openmsmq.
"""

import json
import os
import sys
from typing import Any

from samba import credentials, param  # type: ignore[import-not-found]
from samba.dcerpc import mgmt  # type: ignore[import-not-found]


def main() -> None:
    binding, realm = sys.argv[1:]
    loaded = param.LoadParm()
    loaded.set("realm", realm)
    who = credentials.Credentials()
    who.guess(loaded)
    who.set_named_ccache(os.environ["KRB5CCNAME"], credentials.SPECIFIED, loaded)
    who.set_kerberos_state(credentials.MUST_USE_KERBEROS)
    answer: dict[str, Any]
    try:
        connection = mgmt.mgmt(binding, loaded, who)
        answer = {"interfaces": [connection.inq_if_ids().count for _ in range(3)]}
    except Exception as exc:  # noqa: BLE001 - the test decides what a failure means
        answer = {"error": f"{type(exc).__name__}: {exc}"}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
