"""A client of Samba's security library; run by the Python of the system, which has its bindings.

Reads one JSON object a line and answers each with one: {"step": hex}, {"wrap": [...]},
{"unwrap": [...]}; bytes are in hex. It never sees openmsmq.
"""

import json
import sys
from typing import Any

from samba import credentials, gensec, param  # type: ignore[import-not-found]


def start(mechanism: str, user: str, password: str, seal: bool) -> Any:  # noqa: FBT001
    loaded = param.LoadParm()
    who = credentials.Credentials()
    who.guess(loaded)
    who.set_username(user)
    who.set_password(password)
    who.set_domain("WORKGROUP")
    who.set_kerberos_state(credentials.DONT_USE_KERBEROS)
    settings = {"target_hostname": "server", "lp_ctx": loaded}
    client = gensec.Security.start_client(settings)
    client.set_credentials(who)
    client.want_feature(gensec.FEATURE_SIGN)
    if seal:
        client.want_feature(gensec.FEATURE_SEAL)
    client.want_feature(gensec.FEATURE_DCE_STYLE)
    client.start_mech_by_name(mechanism)
    return client


def answer(client: Any, request: dict[str, Any]) -> dict[str, Any]:
    if "step" in request:
        finished, token = client.update(bytes.fromhex(request["step"]))
        return {"finished": finished, "token": token.hex()}
    if "sign" in request:
        data, whole = map(bytes.fromhex, request["sign"])
        return {"signature": client.sign_packet(data, whole).hex()}
    if "check" in request:
        data, whole, signature = map(bytes.fromhex, request["check"])
        client.check_packet(data, whole, signature)
        return {}
    if "wrap" in request:
        return {"wrapped": client.wrap(bytes.fromhex(request["wrap"])).hex()}
    return {"plain": client.unwrap(bytes.fromhex(request["unwrap"])).hex()}


def main() -> None:
    mechanism, user, password, seal = sys.argv[1:]
    client = start(mechanism, user, password, seal == "seal")
    for line in sys.stdin:
        try:
            reply = answer(client, json.loads(line))
        except Exception as exc:  # noqa: BLE001 - the test decides what a failure means
            reply = {"error": str(exc)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
