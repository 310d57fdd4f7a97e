"""PDUs of connection-oriented DCE/RPC (C706 chapter 12, [MS-RPCE] 2.2.2).

| module | what it holds |
|---|---|
| `header` | the common header, its types and flags |
| `framer` | cuts a TCP stream into PDUs |
| `bind` | bind, alter_context and their answers, bind_nak |
| `call` | request, response, fault |
| `sec_trailer` | the trailer before an authentication token |
| `verification_trailer` | what follows the stub of a protected request |
| `syntax` | names of interfaces and transfer syntaxes |
| `status` | codes of faults, and the levels of authentication |

PDUs are written little-endian. The common header is read in both byte orders, so that a peer that
writes big-endian gets an answer; bodies are read little-endian only.
"""
