"""The console that the demonstration leaves running."""

import urllib.request

from openmsmq.cli.demo.keeping import console_of
from openmsmq.cli.demo.transfer import two_queue_managers


def test_the_link_opens_the_console_with_the_messages_of_the_demonstration() -> None:
    jar = urllib.request.HTTPCookieProcessor()
    browser = urllib.request.build_opener(jar)
    with two_queue_managers() as pair, console_of(pair) as address:
        with browser.open(address, timeout=60) as answer:
            assert "beta" in answer.read().decode()
        base = address.partition("/sign-in")[0]
        with browser.open(f"{base}/queues/private$%5Cexact", timeout=60) as answer:
            assert "Payment 0" in answer.read().decode()
