"""Result codes about rights, identities, certificates, signatures and encryption."""

from typing import Final

from openmsmq.wire.codes.hresult import Hresult

from .entry import Explanation

SECURITY: Final[dict[Hresult, Explanation]] = {
    Hresult.MQ_INFORMATION_INTERNAL_USER_CERT_EXIST: Explanation(
        "The internal certificate of this user is registered already.",
        "The certificate was created and registered before.",
        "Go on with the existing certificate.",
    ),
    Hresult.MQ_ERROR_ACCESS_DENIED: Explanation(
        "You do not have the right to do this.",
        "The security descriptor of the queue or machine does not grant it to you.",
        "Ask the owner for it (`openmsmq queue grant`), or act as another user.",
    ),
    Hresult.MQ_ERROR_PRIVILEGE_NOT_HELD: Explanation(
        "Your account lacks a privilege that this needs.",
        "Reading or changing the audit part of a descriptor needs the security privilege.",
        "Leave out the audit part, or use an account that holds the privilege.",
    ),
    Hresult.MQ_ERROR_CANNOT_IMPERSONATE_CLIENT: Explanation(
        "The queue manager cannot act in the name of the caller.",
        "The connection carries no usable credentials.",
        "Connect with credentials that allow impersonation.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_USER: Explanation(
        "The user name is not valid.",
        "The account does not exist, or may not be used for this.",
        "Give the name of an existing account.",
    ),
    Hresult.MQ_ERROR_INVALID_OWNER: Explanation(
        "The owner of the object is not valid.",
        "The computer in the path name does not exist or is misspelt.",
        "Check the computer name in the path name.",
    ),
    Hresult.MQ_ERROR_ILLEGAL_SECURITY_DESCRIPTOR: Explanation(
        "The security descriptor is not well formed.",
        "Its offsets, its SIDs or its entries do not parse.",
        "Build it with a library, or grant rights with `openmsmq queue grant`.",
    ),
    Hresult.MQ_ERROR_CANNOT_SET_CRYPTO_SEC_DESCR: Explanation(
        "The rights on the key files could not be set.",
        "The account of the queue manager may not change those files.",
        "Check owner and rights of the key files in the data directory.",
    ),
    Hresult.MQ_ERROR_BAD_SECURITY_CONTEXT: Explanation(
        "The security context is not valid.",
        "It was freed, or made for another certificate.",
        "Make a new security context and use that.",
    ),
    Hresult.MQ_ERROR_COULD_NOT_GET_USER_SID: Explanation(
        "The SID of the user could not be found.",
        "The account is not known here, or the lookup failed.",
        "Check that the account exists and that its domain answers.",
    ),
    Hresult.MQ_ERROR_COULD_NOT_GET_ACCOUNT_INFO: Explanation(
        "The account of the user could not be looked up.",
        "The domain does not answer, or the account was deleted.",
        "Check the connection to the domain, then try again.",
    ),
    Hresult.MQ_ERROR_INVALID_CERTIFICATE: Explanation(
        "The certificate is not valid.",
        "It is damaged, expired, not yet valid, or not an X.509 certificate.",
        "Use a current X.509 certificate.",
    ),
    Hresult.MQ_ERROR_CERTIFICATE_NOT_PROVIDED: Explanation(
        "A certificate is needed and was not given.",
        "A signature was asked for without a certificate that belongs to it.",
        "Give a certificate, or create one with `openmsmq key create`.",
    ),
    Hresult.MQ_ERROR_CORRUPTED_INTERNAL_CERTIFICATE: Explanation(
        "The internal certificate is damaged.",
        "Its file or registry entry was changed or cut short.",
        "Renew the internal certificate.",
    ),
    Hresult.MQ_ERROR_INTERNAL_USER_CERT_EXIST: Explanation(
        "The user has an internal certificate already.",
        "Another one was asked for without renewing the first.",
        "Use the existing certificate, or renew it.",
    ),
    Hresult.MQ_ERROR_NO_INTERNAL_USER_CERT: Explanation(
        "The user has no internal certificate.",
        "None was created for this account on this machine.",
        "Create one with `openmsmq key create`, or send with a certificate of your own.",
    ),
    Hresult.MQ_ERROR_CORRUPTED_SECURITY_DATA: Explanation(
        "The security data of the message is damaged, or a crypto function failed.",
        "A key, signature or certificate does not parse, or its provider refused it.",
        "Check the sender's keys and provider; send the message again.",
    ),
    Hresult.MQ_ERROR_CORRUPTED_PERSONAL_CERT_STORE: Explanation(
        "The certificate store of the user is damaged.",
        "Its files were changed or cut short.",
        "Restore the certificate store, or make a new one.",
    ),
    Hresult.MQ_ERROR_CANNOT_CREATE_CERT_STORE: Explanation(
        "The certificate store could not be created.",
        "The account may not write where certificates are kept.",
        "Check the rights of that place.",
    ),
    Hresult.MQ_ERROR_CANNOT_OPEN_CERT_STORE: Explanation(
        "The certificate store could not be opened.",
        "It does not exist, or the account may not read it.",
        "Create the store, or check its rights.",
    ),
    Hresult.MQ_ERROR_COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION: Explanation(
        "The destination computer cannot take encrypted messages.",
        "It is a foreign computer, or has published no public key.",
        "Send without encryption, or publish a key for that computer.",
    ),
    Hresult.MQ_ERROR_ENCRYPTION_PROVIDER_NOT_SUPPORTED: Explanation(
        "The crypto provider is not supported for encryption.",
        "The message asks for a provider that one of the two sides lacks.",
        "Choose a privacy level that both sides offer, or let the default provider do it.",
    ),
    Hresult.MQ_ERROR_PUBLIC_KEY_NOT_FOUND: Explanation(
        "No public key of the destination could be found.",
        "The computer has not registered one in the directory.",
        "Publish or import the key (`openmsmq key import`), or send without encryption.",
    ),
    Hresult.MQ_ERROR_PUBLIC_KEY_DOES_NOT_EXIST: Explanation(
        "The destination has no public key for this provider.",
        "It has keys, but none for the encryption level that was asked for.",
        "Use another privacy level, or renew the keys of that computer.",
    ),
    Hresult.MQ_ERROR_CANNOT_CREATE_HASH_EX: Explanation(
        "The hash object for a signature could not be created.",
        "The provider does not offer the hash algorithm.",
        "Choose another hash algorithm or provider.",
    ),
    Hresult.MQ_ERROR_CANNOT_HASH_DATA_EX: Explanation(
        "The message could not be hashed for its signature.",
        "The provider failed while hashing.",
        "Look in the log for the provider's own error, then send again.",
    ),
    Hresult.MQ_ERROR_CANNOT_SIGN_DATA_EX: Explanation(
        "The message could not be signed.",
        "The private key is missing, locked, or does not belong to the certificate.",
        "Check that the private key of the certificate is there and may be used.",
    ),
    Hresult.MQ_ERROR_FAIL_VERIFY_SIGNATURE_EX: Explanation(
        "The signature of the message does not verify.",
        "The message was changed on the way, or signed with another key.",
        "Check the sender's certificate; ask for the message again.",
    ),
}
