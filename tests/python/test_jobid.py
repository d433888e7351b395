"""Federated job ids: 6 bits of cluster, 26 bits of local id."""

import fedsim as fs
import pytest
from hypothesis import given
from hypothesis import strategies as st


def test_recorded_values():
    assert fs.jobid.encode(1, 1) == 67108865
    assert fs.jobid.decode(67108888) == (1, 24)
    assert fs.jobid.decode(134217730) == (2, 2)
    assert fs.jobid.decode(5) == (0, 5)


@given(st.integers(0, 63), st.integers(0, 67108863))
def test_round_trip(cluster, local):
    assert fs.jobid.decode(fs.jobid.encode(cluster, local)) == (cluster, local)


@pytest.mark.parametrize("cluster", [64, 100, 2**40])
def test_too_many_clusters(cluster):
    with pytest.raises(fs.InputError, match="Too many clusters in federation") as caught:
        fs.jobid.encode(cluster, 1)
    assert [d.code for d in caught.value.diagnostics] == ["C040"]


def test_local_id_too_large():
    with pytest.raises(fs.InputError, match="67108864 is too large"):
        fs.jobid.encode(1, 67108864)


def test_both_wrong_are_both_told():
    with pytest.raises(fs.InputError) as caught:
        fs.jobid.encode(64, 67108864)
    assert len(caught.value.diagnostics) == 2


@pytest.mark.parametrize("wrong", [-1, 2**32])
def test_decode_range(wrong):
    with pytest.raises(ValueError, match="32 bits"):
        fs.jobid.decode(wrong)
