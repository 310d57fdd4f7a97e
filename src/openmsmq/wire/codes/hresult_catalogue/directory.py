"""Result codes about the directory, setup in a domain, and dependent clients."""

from typing import Final

from openmsmq.wire.codes.hresult import Hresult

from .entry import Explanation

DIRECTORY: Final[dict[Hresult, Explanation]] = {
    Hresult.MQ_ERROR_NO_DS: Explanation(
        "No directory can be reached.",
        "The queue manager runs without one, or the directory server is down.",
        "Use private queues and DIRECT format names, or configure a directory.",
    ),
    Hresult.MQ_ERROR_DS_ERROR: Explanation(
        "The directory failed in an unexpected way.",
        "The directory server reported a fault that has no code here.",
        "Look in the log of the directory server.",
    ),
    Hresult.MQ_ERROR_DS_IS_FULL: Explanation(
        "The directory has no room for another object.",
        "Its disk or its quota of objects is used up.",
        "Remove objects, or raise the directory's quota.",
    ),
    Hresult.MQ_ERROR_DS_BIND_ROOT_FOREST: Explanation(
        "The root of the forest could not be reached.",
        "No domain controller of the root domain answers.",
        "Check the connection to a domain controller of the root domain.",
    ),
    Hresult.MQ_ERROR_DS_LOCAL_USER: Explanation(
        "A local user may not use the directory.",
        "You are logged on with an account of this machine, not of the domain.",
        "Log on with an account of the domain.",
    ),
    Hresult.MQ_ERROR_NO_RESPONSE_FROM_OBJECT_SERVER: Explanation(
        "The directory server did not answer.",
        "It is overloaded or down, so the outcome is not known.",
        "Check whether the change was made before repeating it.",
    ),
    Hresult.MQ_ERROR_OBJECT_SERVER_NOT_AVAILABLE: Explanation(
        "The server that holds the object cannot be reached.",
        "It is down, or the network in between is.",
        "Try again when the server is up.",
    ),
    Hresult.MQ_ERROR_WRITE_NOT_ALLOWED: Explanation(
        "The directory is read-only at the moment.",
        "Another queue manager is being installed or upgraded in the enterprise.",
        "Wait until that is done, then repeat the change.",
    ),
    Hresult.MQ_ERROR_MQIS_SERVER_EMPTY: Explanation(
        "The information server holds no data yet.",
        "It is new, and has not been filled by replication.",
        "Wait for replication, or use another server.",
    ),
    Hresult.MQ_ERROR_MQIS_READONLY_MODE: Explanation(
        "The information server is in read-only mode.",
        "It is being migrated or restored.",
        "Make the change when migration is done, or on another server.",
    ),
    Hresult.MQ_ERROR_MACHINE_EXISTS: Explanation(
        "A computer with this name is registered already.",
        "It was installed before and its entry was not removed.",
        "Remove the old entry, or choose another computer name.",
    ),
    Hresult.MQ_ERROR_GUID_NOT_MATCHING: Explanation(
        "The GUID of this queue manager differs from its entry in the directory.",
        "The machine was installed again, or its entry was replaced.",
        "Remove the old entry and register again, or restore the old identity.",
    ),
    Hresult.MQ_ERROR_NOT_A_CORRECT_OBJECT_CLASS: Explanation(
        "The object in the directory is of another class.",
        "A queue alias, distribution list or computer was expected, and it is none.",
        "Check the path of the object in the directory.",
    ),
    Hresult.MQ_ERROR_CANT_RESOLVE_SITES: Explanation(
        "The site of this computer could not be found.",
        "Its network address belongs to no site in the directory.",
        "Define a subnet and a site for this address.",
    ),
    Hresult.MQ_ERROR_DELETE_CN_IN_USE: Explanation(
        "The connected network is still in use.",
        "At least one computer belongs to it.",
        "Move those computers to another network first.",
    ),
    Hresult.MQ_ERROR_Q_DNS_PROPERTY_NOT_SUPPORTED: Explanation(
        "The DNS path name of a queue is not supported here.",
        "The directory server is older than this property.",
        "Ask for the plain path name instead.",
    ),
    Hresult.MQ_ERROR_Q_ADS_PROPERTY_NOT_SUPPORTED: Explanation(
        "The directory path of a queue is not supported here.",
        "The directory server is older than this property.",
        "Ask for the plain path name instead.",
    ),
    Hresult.MQ_ERROR_GC_NEEDED: Explanation(
        "A global catalogue server is needed.",
        "The directory server that answered does not hold the whole forest.",
        "Use a domain controller that is a global catalogue server.",
    ),
    Hresult.MQ_ERROR_NO_GC_IN_DOMAIN: Explanation(
        "The domain has no global catalogue server that answers.",
        "There is none, or none can be reached.",
        "Set one up in the domain, or restore the connection to it.",
    ),
    Hresult.MQ_ERROR_CANNOT_CREATE_ON_GC: Explanation(
        "The computer object could not be created on the global catalogue server.",
        "The object lives in another domain, and its servers did not answer.",
        "Check the domain controllers of the computer's own domain.",
    ),
    Hresult.MQ_ERROR_NO_MSMQ_SERVERS_ON_DC: Explanation(
        "No domain controller offers Message Queuing.",
        "The directory integration is not installed on any of them.",
        "Install it on a domain controller.",
    ),
    Hresult.MQ_ERROR_NO_MSMQ_SERVERS_ON_GC: Explanation(
        "No global catalogue server offers Message Queuing.",
        "The directory integration is not installed on any of them.",
        "Install it on a global catalogue server.",
    ),
    Hresult.MQ_ERROR_CANNOT_JOIN_DOMAIN: Explanation(
        "Message Queuing could not join the domain.",
        "The entry of this computer could not be made or read.",
        "Check the rights of the computer account, or make the entry by hand.",
    ),
    Hresult.MQ_ERROR_CANNOT_GET_DN: Explanation(
        "The distinguished name of this computer could not be found.",
        "The computer account is missing, or the domain does not answer.",
        "Check that the computer is a member of the domain.",
    ),
    Hresult.MQ_ERROR_CANNOT_GRANT_ADD_GUID: Explanation(
        "The right to register GUIDs could not be granted.",
        "The account that installs may not change rights in the directory.",
        "Install with an account that administers the directory.",
    ),
    Hresult.MQ_ERROR_NO_MQUSER_OU: Explanation(
        "The container for migrated users does not exist.",
        "The organizational unit MSMQ Users was deleted.",
        "Create that organizational unit again.",
    ),
    Hresult.MQ_ERROR_CANNOT_CREATE_PSC_OBJECTS: Explanation(
        "The objects of a primary site controller could not be created.",
        "The directory refused them during migration.",
        "Check rights and replication, then migrate again.",
    ),
    Hresult.MQ_ERROR_CANNOT_UPDATE_PSC_OBJECTS: Explanation(
        "The objects of a primary site controller could not be changed.",
        "The directory refused the change during migration.",
        "Check rights and replication, then migrate again.",
    ),
    Hresult.MQ_ERROR_CANNOT_DELETE_PSC_OBJECTS: Explanation(
        "The objects of a primary site controller could not be deleted.",
        "The directory refused to delete them during migration.",
        "Check rights and replication, then delete them by hand.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_ENTERPRISE_OPERATION: Explanation(
        "The enterprise object does not allow this operation.",
        "It cannot be created or deleted like other objects.",
        "Change its properties instead.",
    ),
    Hresult.MQ_ERROR_CANNOT_LOAD_MSMQOCM: Explanation(
        "The setup library of Message Queuing on Windows could not be loaded.",
        "Its file is missing or damaged.",
        "Repair the installation of Windows on that machine.",
    ),
    Hresult.MQ_ERROR_NO_ENTRY_POINT_MSMQOCM: Explanation(
        "The setup library of Message Queuing on Windows lacks a function.",
        "Its file is of another version.",
        "Repair the installation of Windows on that machine.",
    ),
    Hresult.MQ_ERROR_CANNOT_LOAD_MQAD: Explanation(
        "The directory client library on Windows could not be loaded.",
        "Message Queuing is installed there without directory integration.",
        "Install the directory integration on that machine.",
    ),
    Hresult.MQ_ERROR_CANNOT_LOAD_MQDSSRV: Explanation(
        "The directory service library on Windows could not be loaded.",
        "The downlevel directory service is not installed there.",
        "Install it on that domain controller.",
    ),
    Hresult.MQ_ERROR_WKS_CANT_SERVE_CLIENT: Explanation(
        "A workstation cannot serve dependent clients.",
        "A dependent client was pointed at a machine that is not a server.",
        "Let the client use a server, or make it independent.",
    ),
    Hresult.MQ_ERROR_DEPEND_WKS_LICENSE_OVERFLOW: Explanation(
        "The server has no licence for another dependent client.",
        "More dependent clients are connected than the licence allows.",
        "Disconnect some, add licences, or make the client independent.",
    ),
    Hresult.MQ_ERROR_NOT_SUPPORTED_BY_DEPENDENT_CLIENTS: Explanation(
        "A dependent client cannot do this.",
        "The operation needs a queue manager on the machine of the caller.",
        "Run a queue manager there and connect to that one.",
    ),
    Hresult.MQDS_UNKNOWN_SOURCE: Explanation(
        "A replication message came from an unknown directory server.",
        "The server that sent it is not registered in the enterprise.",
        "Register that server, or remove it from replication.",
    ),
}
