"""Encryption of message bodies between queue managers ([MS-MQQB] 3.1.5.8.3, 3.1.7.1.5).

`BodyEncryption` encrypts what leaves, `BodyDecryption` decrypts what arrives. Both keep session
keys for a while, so that few messages need RSA. Keys, random bytes and time are arguments; the
library with the ciphers is loaded when a body is first encrypted or decrypted.
"""
