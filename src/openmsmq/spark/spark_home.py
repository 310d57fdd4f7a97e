"""A SPARK_HOME that halves the start time of Python processes.

Python processes of Spark import the pyspark.zip of its home before all other packages. The zip has
no bytecode, so each of them compiles PySpark again, which takes about a second, and a query starts
several. A home without the zip makes them use the installed package, which is the
same PySpark with its bytecode.
"""

import importlib.util
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from .own_folder import folder_for

# What Spark's launcher looks for in its home; `python` is the part that we leave out.
PARTS: Final = ("bin", "conf", "jars", "sbin")


def spark_home(settings: Mapping[str, str], environ: Mapping[str, str]) -> Path | None:
    """Return the SPARK_HOME for Spark; None if Spark should find its own.

    Ours is for Spark on this machine with this interpreter, where PySpark and the Spark in it are
    installed; on other machines and for other interpreters the zip may be all there is.
    """
    is_here = settings.get("spark.master", "").startswith("local")
    pythons = {environ.get("PYSPARK_PYTHON"), settings.get("spark.pyspark.python")}
    if not is_here or "SPARK_HOME" in environ or pythons - {None, sys.executable}:
        return None
    package = installed_spark()
    if package is not None:
        with suppress(OSError):  # no place for links, or no right to make them
            return link_parts(package, folder_for(environ, "spark", package))
    return None


def installed_spark() -> Path | None:
    """The folder of PySpark, if this interpreter always finds it and it contains Spark."""
    spec = importlib.util.find_spec("pyspark")
    package = Path(sysconfig.get_path("purelib"), "pyspark")
    is_found = spec is not None and spec.origin == str(package / "__init__.py")
    # PySpark looks for a Spark of another Hadoop first.
    has_spark = (package / "jars").is_dir() and not (package / "spark-distribution").exists()
    return package if is_found and has_spark else None


def link_parts(package: Path, home: Path) -> Path:
    """Create the SPARK_HOME `home`, with links to the parts of Spark in `package`."""
    home.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        link, target = home / part, package / part
        if link.is_symlink() and link.readlink() == target:
            continue
        # Another process may start Spark at this moment, so a link is never missing.
        with tempfile.TemporaryDirectory(dir=home) as folder:
            new = Path(folder, part)
            new.symlink_to(target)
            new.replace(link)
    return home
