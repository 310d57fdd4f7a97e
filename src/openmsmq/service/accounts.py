"""Users and groups of this machine, and who a client is."""

import grp
import os
import pwd

from openmsmq.security.caller import Caller, unix_caller


class UnixAccounts:
    """The accounts that the machine knows; None for an unknown one."""

    def uid(self, name: str) -> int | None:
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            return None

    def gid(self, name: str) -> int | None:
        try:
            return grp.getgrnam(name).gr_gid
        except KeyError:
            return None

    def user_name(self, uid: int) -> str | None:
        try:
            return pwd.getpwuid(uid).pw_name
        except KeyError:
            return None

    def group_name(self, gid: int) -> str | None:
        try:
            return grp.getgrgid(gid).gr_name
        except KeyError:
            return None


def caller_of(uid: int, gid: int) -> Caller:
    """The caller that a process on this machine is, with all groups the machine knows of."""
    try:
        groups = os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        groups = [gid]
    return unix_caller(uid, groups, service_uid=os.geteuid())


def caller_of_user(uid: int) -> Caller:
    """The caller that a user of this machine is; without an account it has no groups."""
    try:
        return caller_of(uid, pwd.getpwuid(uid).pw_gid)
    except KeyError:
        return unix_caller(uid, (), service_uid=os.geteuid())
