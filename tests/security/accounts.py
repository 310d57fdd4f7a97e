"""Users and groups of a machine that does not exist."""

from openmsmq.wire.security.sid import SID

USERS = {"alice": 1000, "bob": 1001}
GROUPS = {"staff": 100}
ACCOUNT = SID.from_text("S-1-5-21-7-8-9-1000")


class FakeAccounts:
    def uid(self, name: str) -> int | None:
        return USERS.get(name)

    def gid(self, name: str) -> int | None:
        return GROUPS.get(name)

    def user_name(self, uid: int) -> str | None:
        return {number: name for name, number in USERS.items()}.get(uid)

    def group_name(self, gid: int) -> str | None:
        return {number: name for name, number in GROUPS.items()}.get(gid)

    def account(self, name: str) -> SID | None:
        return ACCOUNT if name.lower() == "ada" else None

    def account_name(self, sid: SID) -> str | None:
        return "Ada" if sid == ACCOUNT else None
