"""Users and groups of a machine that does not exist."""

USERS = {"alice": 1000, "bob": 1001}
GROUPS = {"staff": 100}


class FakeAccounts:
    def uid(self, name: str) -> int | None:
        return USERS.get(name)

    def gid(self, name: str) -> int | None:
        return GROUPS.get(name)

    def user_name(self, uid: int) -> str | None:
        return {number: name for name, number in USERS.items()}.get(uid)

    def group_name(self, gid: int) -> str | None:
        return {number: name for name, number in GROUPS.items()}.get(gid)
