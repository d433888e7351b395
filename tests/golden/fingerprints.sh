#!/usr/bin/env bash
# Same inputs, same seed, other builds: the same fingerprint and the same tables, byte for byte.
#
#   fingerprints.sh FEDSIM FEDSIM...     e.g. the Debug, the Release and the clang build
#
# Compares a recording of a real federation, the slurm fidelity on a synthetic federation's load and
# the three ideal policies on a synthetic machine's load. Exit 1 at any difference.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 2 ] || { echo "fingerprints.sh: give two or more builds of fedsim" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A load that keeps 64 units busy, from integers only (no generator that could itself differ).
awk 'BEGIN { print "; Version: 2.2\n; MaxProcs: 64\n; UnixStartTime: 1767225600"
  for (i = 1; i <= 3000; i++) {
    x = (i * 7919) % 10007; run = 60 + x % 3600; procs = 2 ^ (x % 6)
    print i, i * 200 + x % 50, -1, run, procs, -1, -1, procs, run * 2, -1, 1, 1 + x % 9, 1, -1, 1, -1, -1, -1
  } }' >"$work/load.swf"

cases=("recording $root/traces/mixed-federation"
  "fcfs --machine 64x1 --trace $work/load.swf --fidelity ideal --policy fcfs"
  "easy --machine 64x1 --trace $work/load.swf --fidelity ideal --policy easy"
  "conservative --machine 64x1 --trace $work/load.swf --fidelity ideal --policy conservative"
  "slurm --machine 64x1 --trace $work/load.swf --fidelity slurm")

bad=0
for entry in "${cases[@]}"; do
  name=${entry%% *}
  reference=
  for fedsim in "$@"; do
    out=$work/$name-$(printf '%s' "$fedsim" | tr / _)
    # shellcheck disable=SC2086
    "$fedsim" run ${entry#* } --seed 11 --quiet -o "$out" >/dev/null
    print=$(sed -n 's/.*"fingerprint": *"\{0,1\}\([0-9a-fx]*\).*/\1/p' "$out/summary.json" | head -1)
    printf '%-14s %-20s %s\n' "$name" "$print" "$fedsim"
    if [ -z "$reference" ]; then
      reference=$out
      [ -n "$print" ] || { echo "no fingerprint in $out/summary.json"; bad=1; }
      first=$print
    else
      [ "$print" = "$first" ] || { echo "DIFFERENT fingerprint: $name"; bad=1; }
      for table in "$reference"/*.csv; do
        cmp -s "$table" "$out/${table##*/}" || { echo "DIFFERENT ${table##*/}: $name"; bad=1; }
      done
    fi
  done
done
exit $bad
