"""Message transfer between queue managers, the Binary Protocol ([MS-MQQB]), without sockets."""
