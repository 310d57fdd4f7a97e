"""Every endpoint and page against everybody: the answers of the table."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.admin.console_process import Watched, watched
from tests.cli.running import run

from openmsmq.admin.api.table import ENDPOINTS, PREFIX, Endpoint
from openmsmq.admin.pages.site import PAGES, Page
from openmsmq.admin.trust.person import ROLES, Role

ORDERS = ".\\private$\\orders"
ABSENT = {
    "queue": "private$%5Cabsent",
    "lookup_id": "1",
    "destination": "DIRECT=OS:absent%5Cprivate$%5Cx",
    "job": "absent",
    "message": "%7B00000000-0000-0000-0000-000000000001%7D%5C1",
    "transaction": "absent",
    "token": "absent",
    "protocol": "absent",
    "number": "1",
}
# Name, role, whether it sees bodies, its queues, and its principal.
PEOPLE = {
    "reader": ("reader", False, (), "user:root"),
    "reader-bodies": ("reader", True, (), "user:root"),
    "operator": ("operator", False, (), "user:root"),
    "administrator": ("administrator", False, (), "user:root"),
    "elsewhere": ("administrator", True, ("private$\\other.*",), "user:root"),
    "stranger": ("administrator", True, (), "S-1-5-21-7-8-9-1105"),
}


class Site:
    """A console and the tokens of everybody."""

    def __init__(self, manager: Watched) -> None:
        self.manager = manager
        self.tokens = {}
        for name, (role, bodies, queues, principal) in PEOPLE.items():
            options = [word for queue in queues for word in ("--queue", queue)]
            if bodies:
                options.append("--bodies")
            words = ["console", "token", "add", name, "--principal", principal, "--role", role]
            done = run([*words, "--data", str(manager.data), *options])
            self.tokens[name] = done.out.strip()
        host, _, port = manager.console.rpartition(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=60)

    def ask(self, method: str, path: str, token: str | None, body: str | None = None) -> int:
        headers = {} if token is None else {"Authorization": f"Bearer {self.tokens[token]}"}
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        if answer.getheader("content-type", "").startswith("text/event-stream"):
            # It does not end by itself.
            self.connection.close()
            return answer.status
        content = answer.read()
        assert "content-security-policy" in {name.lower() for name, _ in answer.getheaders()}
        if path.startswith(PREFIX) and answer.status >= 400:
            assert set(json.loads(content)["error"]) == {
                "name",
                "code",
                "detail",
                "cause",
                "remedy",
            }
        return answer.status


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with watched(tmp_path_factory.mktemp("matrix"), "--name", "alpha") as manager:
        manager.run("queue", "create", ORDERS)
        manager.run("send", ORDERS, "--body", "secret", "--label", "Order")
        site = Site(manager)
        yield site
        site.connection.close()


def filled(path: str) -> str:
    for name, value in ABSENT.items():
        path = path.replace("{" + name + "}", value)
    return path


def refused(person: str, role: Role, path: str, *, bodies: bool, whole: bool) -> bool:
    """Whether the console itself refuses somebody."""
    word, sees, queues, _ = PEOPLE[person]
    if ROLES[word] < role:
        return True
    if queues and ("{queue}" in path or whole):
        return True
    return bodies and word == "reader" and not sees


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: each.name)
def test_an_endpoint_answers_everybody_as_the_table_says(site: Site, endpoint: Endpoint) -> None:
    path = PREFIX + filled(endpoint.path)
    body = "{}" if endpoint.body is not None else None
    assert site.ask(endpoint.method, path, None, body) == 401
    for person in PEOPLE:
        status = site.ask(endpoint.method, path, person, body)
        about = {"bodies": endpoint.bodies, "whole": endpoint.whole}
        if refused(person, endpoint.role, endpoint.path, **about):
            assert status == 403, person
        elif person != "stranger":
            assert status not in (401, 403, 405), person
        assert status < 500, person


@pytest.mark.parametrize("page", PAGES, ids=lambda each: each.path)
def test_a_page_answers_everybody_as_the_table_says(site: Site, page: Page) -> None:
    path = filled(page.path)
    assert site.ask("GET", path, None) == 401
    for person in PEOPLE:
        status = site.ask("GET", path, person)
        if refused(person, page.role, page.path, bodies=False, whole=page.whole):
            assert status == 403, person
        elif person != "stranger":
            assert status in (200, 404), person
        assert status < 500, person


def test_a_page_is_for_whole_tokens_if_all_of_its_endpoints_are() -> None:
    for page in PAGES:
        endpoints = [endpoint for endpoint in ENDPOINTS if endpoint.page == page.path]
        if endpoints and all(endpoint.whole for endpoint in endpoints):
            assert page.whole, page.path


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/queues/private$%5Corders/messages", None),
        ("POST", "/queues/private$%5Corders/receive", None),
        ("POST", "/queues/private$%5Corders/purge", None),
        ("DELETE", "/queues/private$%5Corders", None),
        ("PATCH", "/queues/private$%5Corders", '{"label": "mine"}'),
        ("POST", "/queues/private$%5Corders/permissions/grant",
         '{"principal": "everyone", "rights": ["full"]}'),
        ("GET", "/definitions", None),
        ("POST", "/backup", '{"file": "/tmp/never"}'),
    ],
)  # fmt: skip
def test_a_role_never_widens_what_the_queue_manager_allows(
    site: Site, method: str, path: str, body: str | None
) -> None:
    assert site.ask(method, PREFIX + path, "stranger", body) == 403
    assert not Path("/tmp/never").exists()  # noqa: S108 - nothing is made


def test_a_reader_without_bodies_sees_none(site: Site) -> None:
    headers = {"Authorization": f"Bearer {site.tokens['reader']}"}
    base = f"{PREFIX}/queues/private$%5Corders/messages"
    site.connection.request("GET", base, headers=headers)
    listed = json.loads(site.connection.getresponse().read())
    lookup_id = listed["messages"][0]["lookup_id"]
    site.connection.request("GET", f"{base}/{lookup_id}", headers=headers)
    text = site.connection.getresponse().read().decode()
    assert "secret" not in text
    assert json.loads(text)["body"] is None
    page = f"/queues/private$%5Corders/messages/{lookup_id}"
    for path in (page, f"{page}?view=packet", f"/queues/private$%5Corders?message={lookup_id}"):
        site.connection.request("GET", path, headers=headers)
        assert "secret" not in site.connection.getresponse().read().decode()
    for path in ("/body.bin", "/packet.bin"):
        site.connection.request("GET", page + path, headers=headers)
        answer = site.connection.getresponse()
        answer.read()
        assert answer.status == 403


@pytest.mark.parametrize("query", ["text=secret", "filter=body+~+secret", "filter=not+body+~+x"])
def test_a_reader_without_bodies_cannot_search_in_them(site: Site, query: str) -> None:
    path = f"{PREFIX}/search?{query}"
    assert site.ask("GET", path, "reader") == 403
    assert site.ask("GET", path, "reader-bodies") == 200
