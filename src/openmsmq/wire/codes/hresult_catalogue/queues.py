"""Result codes about queues, messages, names, cursors, transactions and the machines between."""

from typing import Final

from openmsmq.wire.codes.hresult import Hresult

from .entry import Explanation

QUEUES: Final[dict[Hresult, Explanation]] = {
    Hresult.MQ_OK: Explanation(
        "The operation succeeded.",
        "Nothing went wrong.",
        "Nothing to do.",
    ),
    Hresult.MQ_INFORMATION_OPERATION_PENDING: Explanation(
        "The operation has begun and will finish later.",
        "The call was asynchronous.",
        "Wait for its completion before using the result.",
    ),
    Hresult.MQ_ERROR: Explanation(
        "The operation failed for a reason that has no code of its own.",
        "The queue manager met a fault it could not name.",
        "Look in the queue manager's log at the time of the call.",
    ),
    Hresult.MQ_ERROR_QUEUE_NOT_FOUND: Explanation(
        "There is no such queue, or it is not visible to you.",
        "The name is misspelt, the queue was deleted, or it lives on another machine.",
        "Compare the name with `openmsmq queue list`; create the queue if it is missing.",
    ),
    Hresult.MQ_ERROR_QUEUE_NOT_ACTIVE: Explanation(
        "The queue is not active, so there is nothing to manage.",
        "The queue is not open and holds no messages, or its outgoing queue was deleted.",
        "Open the queue or send to it first, then repeat the call.",
    ),
    Hresult.MQ_ERROR_QUEUE_EXISTS: Explanation(
        "A queue with this path name exists already.",
        "The queue was created before, perhaps with another case of letters.",
        "Open the existing queue, or choose another name.",
    ),
    Hresult.MQ_ERROR_INVALID_PARAMETER: Explanation(
        "An argument of the call is not valid.",
        "A value is missing, out of range, or does not go with another argument.",
        "Check the arguments against the description of the call.",
    ),
    Hresult.MQ_ERROR_INVALID_HANDLE: Explanation(
        "The handle is unknown or of the wrong kind.",
        "The queue or cursor was closed, or the handle belongs to another connection.",
        "Open the queue again and use the new handle.",
    ),
    Hresult.MQ_ERROR_OPERATION_CANCELLED: Explanation(
        "The operation was cancelled before it finished.",
        "The queue was closed, or the caller cancelled a waiting receive.",
        "Open the queue again and repeat the call if it is still wanted.",
    ),
    Hresult.MQ_ERROR_SHARING_VIOLATION: Explanation(
        "The queue is open elsewhere in a way that excludes this.",
        "An application opened it for exclusive receive, or you ask for that while others read.",
        "Close the other reader, or open with share mode deny-none.",
    ),
    Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE: Explanation(
        "The queue manager cannot be reached.",
        "It is not running, is still starting, or listens elsewhere.",
        "Start it with `openmsmq serve`, or give its address with --socket.",
    ),
    Hresult.MQ_ERROR_MACHINE_NOT_FOUND: Explanation(
        "The computer is not known.",
        "The name is misspelt, or the computer has no entry in the directory.",
        "Check the computer name, or address the queue with a DIRECT format name.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME: Explanation(
        "The path name of the queue is not well formed.",
        "A part is missing, too long, or holds a character that is not allowed.",
        r"Write it as COMPUTER\private$\NAME or .\private$\NAME.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_FORMATNAME: Explanation(
        "The format name is not well formed.",
        "The kind before `=` is unknown, or what follows does not fit that kind.",
        r"Write it like DIRECT=TCP:10.0.0.1\private$\NAME or DIRECT=HTTP://HOST/msmq/private$/NAME.",
    ),
    Hresult.MQ_ERROR_FORMATNAME_BUFFER_TOO_SMALL: Explanation(
        "The buffer for the format name is too small.",
        "The name is longer than the caller expected.",
        "Repeat the call with a buffer of the length that was returned.",
    ),
    Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION: Explanation(
        "This kind of format name cannot be used for this operation.",
        "For instance reading through an HTTP, multicast or multiple-element name.",
        "Use a name of one queue: DIRECT=OS or DIRECT=TCP, PRIVATE or PUBLIC.",
    ),
    Hresult.MQ_ERROR_BUFFER_OVERFLOW: Explanation(
        "The message does not fit the buffer of the caller.",
        "The body, label or another property is longer than its buffer.",
        "Read again with larger buffers; the message is still in the queue.",
    ),
    Hresult.MQ_ERROR_IO_TIMEOUT: Explanation(
        "No message came within the time given.",
        "The queue is empty, or every message in it is locked by a transaction.",
        "Wait longer, or check that the sender sends to this queue.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_CURSOR_ACTION: Explanation(
        "The cursor has no position from which to go on.",
        "The first read with the cursor asked for the next message.",
        "Read the current message with the cursor first.",
    ),
    Hresult.MQ_ERROR_MESSAGE_ALREADY_RECEIVED: Explanation(
        "The message at the cursor is no longer in the queue.",
        "Another reader received it, or it expired.",
        "Move the cursor to the next message.",
    ),
    Hresult.MQ_ERROR_MESSAGE_NOT_FOUND: Explanation(
        "No message has this lookup id, or none stands before or after it.",
        "The message was received, moved or purged, or it expired.",
        "Peek the queue again for the lookup ids that it holds now.",
    ),
    Hresult.MQ_ERROR_MESSAGE_LOCKED_UNDER_TRANSACTION: Explanation(
        "Another transaction has received the message and not ended yet.",
        "Two readers took the same lookup id.",
        "Wait until that transaction commits or aborts, then try again.",
    ),
    Hresult.MQ_ERROR_MESSAGE_NOT_AUTHENTICATED: Explanation(
        "The queue takes only signed messages, and this one is not.",
        "The queue was created with authentication required.",
        "Send with a signature (`--sign`), or lift the requirement from the queue.",
    ),
    Hresult.MQ_ERROR_LABEL_TOO_LONG: Explanation(
        "The label has more than 249 characters.",
        "Text that belongs in the body was put in the label.",
        "Shorten the label.",
    ),
    Hresult.MQ_ERROR_INSUFFICIENT_RESOURCES: Explanation(
        "A quota or the memory is used up.",
        "Messages are sent faster than they are received, or the quota is small.",
        "Receive or purge messages, or raise the quota of the queue or the machine.",
    ),
    Hresult.MQ_ERROR_MESSAGE_STORAGE_FAILED: Explanation(
        "The message could not be stored.",
        "The disk is full, read-only or failing.",
        "Free space in the data directory, then run `openmsmq store check`.",
    ),
    Hresult.MQ_ERROR_UNSUPPORTED_ACCESS_MODE: Explanation(
        "This access mode and share mode do not go together.",
        "Exclusive receive was asked for together with send, or the queue cannot be opened so.",
        "Open for receive, peek or send; only receive and peek may exclude others.",
    ),
    Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE: Explanation(
        "The remote queue could not be read.",
        "Its machine is down, unreachable, or broke the connection.",
        "Check the network and the remote queue manager, then open the queue again.",
    ),
    Hresult.MQ_ERROR_QUEUE_DELETED: Explanation(
        "The queue was deleted while it was open.",
        "An administrator or another application removed it.",
        "Close the handle; create the queue again if it is needed.",
    ),
    Hresult.MQ_ERROR_STALE_HANDLE: Explanation(
        "The handle comes from before a restart of the queue manager.",
        "The queue manager was restarted after the queue was opened.",
        "Close the handle and open the queue again.",
    ),
    Hresult.MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE: Explanation(
        "The other machine does not answer.",
        "It is down, a firewall is in between, or Message Queuing does not run there.",
        "Check that the machine is up and that the ports of Message Queuing are open.",
    ),
    Hresult.MQ_ERROR_RESOLVE_ADDRESS: Explanation(
        "The host name has no address.",
        "The name is misspelt, or name resolution does not work.",
        "Check the name with the system's resolver, or use DIRECT=TCP with the address.",
    ),
    Hresult.MQ_ERROR_OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER: Explanation(
        "The other machine does not know this operation.",
        "It runs an older version, without transactional remote read or lookup ids.",
        "Do it on that machine itself, or upgrade it.",
    ),
    Hresult.MQ_ERROR_UNSUPPORTED_OPERATION: Explanation(
        "The operation does not exist in this installation.",
        "It needs a directory, and the queue manager runs without one.",
        "Use private queues and DIRECT format names, or configure a directory.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_OPERATION: Explanation(
        "The operation is not allowed on a foreign system.",
        "The queue belongs to a foreign computer, reached through a connector.",
        "Do it on the foreign system itself, or through its connector application.",
    ),
    Hresult.MQ_ERROR_MISSING_CONNECTOR_TYPE: Explanation(
        "Properties that only a connector may set need the connector type.",
        "The application set such a property without setting the connector type.",
        "Set the connector type of the message, or leave those properties alone.",
    ),
    Hresult.MQ_ERROR_DTC_CONNECT: Explanation(
        "There is no transaction coordinator to connect to.",
        "No distributed transaction coordinator runs on this machine.",
        "Use a transaction of the queue manager itself, or start a coordinator.",
    ),
    Hresult.MQ_ERROR_TRANSACTION_IMPORT: Explanation(
        "The transaction could not be taken over.",
        "Its token is damaged, or the transaction has ended.",
        "Begin a new transaction and repeat the operation.",
    ),
    Hresult.MQ_ERROR_TRANSACTION_ENLIST: Explanation(
        "The queue manager could not join the transaction.",
        "The coordinator refused it, or the transaction is ending.",
        "Begin a new transaction and repeat the operation.",
    ),
    Hresult.MQ_ERROR_TRANSACTION_USAGE: Explanation(
        "The transaction does not fit the queue or the operation.",
        "A transactional queue needs a transaction, a plain queue refuses one.",
        "Send with a transaction (or `single`) exactly when the queue is transactional.",
    ),
    Hresult.MQ_ERROR_TRANSACTION_SEQUENCE: Explanation(
        "The calls on the transaction came in the wrong order.",
        "It was used after commit or abort, or ended twice.",
        "Begin a new transaction; end each one once.",
    ),
    Hresult.MQ_ERROR_BAD_XML_FORMAT: Explanation(
        "The XML is not well formed.",
        "A SOAP header or body property, or an SRMP envelope, does not parse.",
        "Check the XML with a parser before it is sent.",
    ),
    Hresult.MQ_ERROR_UNSUPPORTED_CLASS: Explanation(
        "The message class is not one that may be sent.",
        "The application set a class with bits that are reserved.",
        "Use a published class, or only bits of the mask 0xE1FF.",
    ),
    Hresult.MQ_ERROR_UNINITIALIZED_OBJECT: Explanation(
        "The object was used before it was set up.",
        "A destination, queue or message object has no format name or is not open.",
        "Set its format name or open it, then use it.",
    ),
    Hresult.MQ_CORRUPTED_QUEUE_WAS_DELETED: Explanation(
        "A queue whose stored description was damaged has been deleted.",
        "Its file was damaged by a crash or by the disk.",
        "Create the queue again; check the disk and restore messages from a backup.",
    ),
}
