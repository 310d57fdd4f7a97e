"""The file of a local-file directory, without a disk."""

from collections.abc import Iterator
from contextlib import contextmanager

from openmsmq.directory.document import Document, render_document
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import DirectoryObject


class MemoryFile:
    """What several directories may share; not `online` is a file that is not there."""

    name = "directory.json"

    def __init__(self, content: bytes | None = None) -> None:
        self.content = render_document(Document()) if content is None else content
        self.online = True
        self.full = False
        self.locked = False
        self.reads = 0

    def open(self) -> "MemoryView":
        return MemoryView(self)


class MemoryView:
    """The file as one process sees it."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file
        self._seen: bytes | None = None

    @property
    def name(self) -> str:
        return self._file.name

    def read(self) -> bytes | None:
        if not self._file.online:
            self._seen = None
            raise FileNotFoundError(2, "No such file or directory", self.name)
        if self._file.content == self._seen:
            return None
        self._file.reads += 1
        self._seen = self._file.content
        return self._seen

    @contextmanager
    def lock(self) -> Iterator[None]:
        assert not self._file.locked
        self._file.locked = True
        try:
            yield
        finally:
            self._file.locked = False

    def replace(self, content: bytes) -> None:
        assert self._file.locked
        if self._file.full:
            raise OSError(28, "No space left on device", self.name)
        self._file.content = self._seen = content


def directory_of(*items: DirectoryObject) -> tuple[LocalDirectory, MemoryFile]:
    """A directory that holds these objects as they are."""
    document = Document()
    for item in items:
        document.of(item)[item.identifier] = item
    file = MemoryFile(render_document(document))
    return LocalDirectory(file.open()), file
