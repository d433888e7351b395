"""Slurm's federated job ids: bits 0-25 are the origin's local id, bits 26-31 its cluster id."""

from ._core import decode_job_id, encode_job_id

__all__ = ["decode", "encode"]


def encode(cluster: int, local: int) -> int:
    """Job id as Slurm prints it.

    `cluster` is the origin's federation id, 1 to 63, or 0 outside a federation; `local` at most
    67108863. Raises InputError when one is larger.

    >>> encode(1, 1)
    67108865
    """
    if cluster < 0 or local < 0:
        raise ValueError(f"cluster and local ids are not negative: {cluster}, {local}")
    # More than 32 bits would be a TypeError of the extension; the answer is the same as for 64.
    return encode_job_id(min(cluster, 2**32 - 1), min(local, 2**32 - 1))


def decode(jobid: int) -> tuple[int, int]:
    """(cluster, local) of a printed job id; cluster is 0 for an id without federation.

    >>> decode(67108888)
    (1, 24)
    """
    if not 0 <= jobid < 2**32:
        raise ValueError(f"a job id has 32 bits: {jobid}")
    return decode_job_id(jobid)
