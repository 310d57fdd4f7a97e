"""The package gssapi, which only those have who installed the extra `kerberos`."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from openmsmq.wire.errors import ConfigError

PACKAGE: Final = "gssapi"
REMEDY: Final = (
    "Install the extra: pip install 'openmsmq[kerberos]'. It is built from source: a compiler and "
    "the headers of MIT Kerberos are needed (Debian, Ubuntu: apt-get install gcc libkrb5-dev; "
    "Fedora: dnf install gcc krb5-devel)."
)


def is_installed() -> bool:
    """Whether the extra `kerberos` is there."""
    return find_spec(PACKAGE) is not None


# Any: the package has types only where it is installed.
def require_gssapi() -> Any:
    """The package.

    Raises:
        ConfigError: it is not installed, or does not find the libraries of the system.
    """
    try:
        return import_module(PACKAGE)
    except (ImportError, OSError) as exc:
        raise ConfigError(f"Kerberos needs the package gssapi: {exc}", remedy=REMEDY) from exc
