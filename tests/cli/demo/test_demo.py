"""`openmsmq demo`."""

from tests.cli.runner import run
from tests.wire.frames import frame, frame_bytes

from openmsmq.cli.demo.console import PAGES
from openmsmq.cli.demo.packets import example_frames, round_trips
from openmsmq.cli.demo.transfer import two_queue_managers


def test_the_demo_shows_the_example_and_every_kind_of_packet() -> None:
    outcome = run("demo", "--no-spark")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("same bytes") == len(list(round_trips()))
    for section in range(1, 9):
        assert f"   4.1.{section}  " in outcome.out
    assert "refused: SRMPEnvelopeHeader.Data at offset " in outcome.out
    assert " 200 seen by a cursor   200 received in order     0 left" in outcome.out
    assert "signed by Demo User, verified on arrival: sig20" in outcome.out
    assert "with a wrong password: MQ_ERROR_ACCESS_DENIED" in outcome.out
    assert (
        "\n8. The web console of beta, with messages from alpha\n   http://127.0.0.1:"
        in outcome.out
    )
    assert outcome.out.count("  shown\n") == len(PAGES)
    assert "\nEverything above went as it should.\n" in outcome.out
    assert not {"FAULT", "DIFFERENT", "NOT NOTICED"} & set(outcome.out.split())


def test_two_demonstrations_at_once_do_not_hear_each_other() -> None:
    with two_queue_managers() as one, two_queue_managers() as other:
        groups = [
            pair.receiver.queue_info(r".\private$\multicast")["multicast"] for pair in (one, other)
        ]
        assert groups == [one.group, other.group]
        assert one.group != other.group


def test_the_frames_in_the_package_are_those_of_the_vectors() -> None:
    frames = example_frames()
    assert [example.data for example in frames] == [frame_bytes(number) for number in range(1, 9)]
    assert [example.section for example in frames] == [
        frame(number)["section"] for number in range(1, 9)
    ]


def test_every_packet_comes_back_as_it_was() -> None:
    trips = list(round_trips())
    assert [trip.kind for trip in trips if not trip.equal] == []
    assert len({trip.kind for trip in trips}) == len(trips) == 17
