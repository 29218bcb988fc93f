"""A second process: it works beside the first one, and never outlives it."""

import gc
import os
import time
from multiprocessing import active_children

import pytest

from assay.cli.garbage import THRESHOLDS
from assay.cli.side_process import side_process


def test_it_works_in_another_process_one_job_at_a_time() -> None:
    with side_process() as other:
        places = [other.submit(os.getpid) for _ in range(2)]
        found = {place.result() for place in places}
    assert len(found) == 1
    assert os.getpid() not in found


def test_it_searches_for_garbage_rarely() -> None:
    with side_process() as other:
        assert other.submit(gc.get_threshold).result() == THRESHOLDS


def end_while_it_works(error: type[BaseException]) -> None:
    with side_process() as other:
        running = other.submit(time.sleep, 600)
        while not running.running():
            time.sleep(0.01)
        raise error


@pytest.mark.parametrize("ended", [KeyboardInterrupt, ValueError])
def test_an_error_or_an_interrupt_ends_its_job_at_once(ended: type[BaseException]) -> None:
    before = active_children()
    start = time.monotonic()
    with pytest.raises(ended):
        end_while_it_works(ended)
    assert active_children() == before
    assert time.monotonic() - start < 60


def test_an_error_there_is_raised_here() -> None:
    with side_process() as other, pytest.raises(ZeroDivisionError):
        other.submit(divmod, 1, 0).result()
