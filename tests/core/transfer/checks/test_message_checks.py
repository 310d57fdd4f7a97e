"""What the checks of messages remember of their sources."""

from tests.core.harness import Harness

from openmsmq.core.transfer.checks.message_checks import MAX_REMEMBERED_FORMS
from openmsmq.security.signatures.hash_forms import FIRST_FORM, SignatureVersion
from openmsmq.security.signatures.verification import Match, Verified
from openmsmq.security.signatures.xml_forms import XmlForm


def test_forms_of_a_limited_number_of_sources_are_remembered(harness: Harness) -> None:
    checks = harness.qm.state.message_checks
    verified = Verified(Match(SignatureVersion.SIG20, FIRST_FORM))
    sources = [number.to_bytes(16, "little") for number in range(MAX_REMEMBERED_FORMS + 1)]
    for source in sources:
        checks._remember(source, verified)
        checks._remember_xml(source, XmlForm())
    assert checks._forms == {sources[-1]: verified}
    assert checks._xml_forms == {sources[-1]: XmlForm()}
