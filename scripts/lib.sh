# Shared by scripts/test and scripts/demo: timed stages, system packages, Python environment, builds.
#
# Sourced, never run. Everything it makes lies under build/ and .venv/ of the clone.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
failed=0
# Builds in different folders of the clone share compiled objects where the flags are the same.
export CCACHE_BASEDIR=$root
stage_names=()
stage_times=()
stage_marks=()

# What a stage needs from apt, the same for both scripts. "a|b" takes the first name that exists.
needed_packages=(
  ca-certificates git g++ cmake ninja-build pkg-config
  libboost-dev libeigen3-dev libspdlog-dev nlohmann-json3-dev libtomlplusplus-dev libcli11-dev
  zlib1g-dev liblzma-dev libcairo2-dev libgtest-dev libbenchmark-dev pybind11-dev python3-dev python3-venv
)
# Left out with a note where the release of Debian has no such package.
welcome_packages=(ccache clang librapidcheck-dev 'libclang-rt-dev|libclang-rt-14-dev')

# Distribution -> why: what the Python tests import.
python_packages=(numpy pandas polars pyarrow duckdb matplotlib tqdm pytest hypothesis mypy scikit-build-core
  pybind11)

say() { printf '%s\n' "$*"; }

# stage NAME COMMAND...: runs COMMAND with its output in build/logs/NAME.log; returns its status.
stage() {
  local name=$1 began status log
  shift
  log=$logs/${name// /-}.log
  mkdir -p "$logs"
  printf '== %-34s' "$name"
  began=$SECONDS
  ( set -euo pipefail; cd "$root"; "$@" ) >"$log" 2>&1
  status=$?
  stage_names+=("$name")
  stage_times+=($((SECONDS - began)))
  if [ $status -eq 0 ]; then
    stage_marks+=(ok)
    printf ' ok     %4d s\n' $((SECONDS - began))
  else
    stage_marks+=(FAILED)
    failed=1
    printf ' FAILED %4d s (exit %d)\n' $((SECONDS - began)) $status
    say "-- last lines of ${log#"$root"/}:"
    tail -n 80 "$log"
    say "--"
  fi
  return $status
}

# need NAME COMMAND...: a stage that the rest depends on; ends the script when it fails.
# Both are called as plain commands: inside "||" or "if" bash would ignore set -e within the stage.
need() {
  stage "$@"
  # shellcheck disable=SC2181
  [ $? -eq 0 ] || { summary; exit 1; }
}

summary() {
  local i total=0
  say
  say "stage                               result  seconds"
  for i in "${!stage_names[@]}"; do
    printf '%-35s %-7s %7d\n' "${stage_names[$i]}" "${stage_marks[$i]}" "${stage_times[$i]}"
    total=$((total + stage_times[i]))
  done
  printf '%-35s %-7s %7d\n' total "$([ $failed -eq 0 ] && echo ok || echo FAILED)" $total
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Prints those of the given packages (alternatives allowed) of which no alternative is installed.
missing_packages() {
  local installed entry name found
  installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | tr '\n' ' ') "
  for entry in "$@"; do
    found=no
    for name in ${entry//|/ }; do
      case $installed in *" $name "*) found=yes ;; esac
    done
    [ $found = yes ] || printf '%s\n' "$entry"
  done
}

# The first of a|b|c that apt can install; nothing when there is none.
installable() {
  local name
  for name in ${1//|/ }; do
    if [[ $(LC_ALL=C apt-cache policy "$name" 2>/dev/null) == *"Candidate: "[!\(]* ]]; then
      printf '%s\n' "$name"
      return 0
    fi
  done
}

# One apt-get install of what is missing; nothing at all, not even an update, when all is there.
install_system_packages() {
  local needed welcome wanted=() entry name
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt here: install the equivalents of: ${needed_packages[*]} ${welcome_packages[*]}"
    return 0
  fi
  mapfile -t needed < <(missing_packages "${needed_packages[@]}")
  mapfile -t welcome < <(missing_packages "${welcome_packages[@]}")
  if [ ${#needed[@]} -eq 0 ] && [ ${#welcome[@]} -eq 0 ]; then
    say "nothing is missing"
    return 0
  fi
  as_root apt-get update -qq || say "apt-get update failed; going on with the lists that are here"
  for entry in "${needed[@]}"; do
    name=$(installable "$entry")
    wanted+=("${name:-${entry%%|*}}")
  done
  for entry in "${welcome[@]}"; do
    name=$(installable "$entry")
    if [ -n "$name" ]; then wanted+=("$name"); else say "no package for $entry here: left out"; fi
  done
  [ ${#wanted[@]} -gt 0 ] || return 0
  say "installing: ${wanted[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}"
}

# .venv from Debian's python3. "bare" stops there; "full" adds the packages that the tests import.
make_venv() {
  local python=$root/.venv/bin/python missing
  if ! "$python" -c '' 2>/dev/null; then
    rm -rf "$root/.venv"
    /usr/bin/python3 -m venv "$root/.venv"
  fi
  [ "$1" = full ] || return 0
  missing=$("$python" - "${python_packages[@]}" <<'PY'
import importlib.metadata as metadata
import sys
for name in sys.argv[1:]:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        print(name)
PY
  )
  [ -n "$missing" ] || { say "nothing is missing"; return 0; }
  # shellcheck disable=SC2086
  "$python" -m pip install --quiet --disable-pip-version-check $missing
}

# As many compilers as there are cores, and 1.5 GiB of memory for each.
build_jobs() {
  local cores memory_mib
  cores=$(nproc)
  memory_mib=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  local fit=$((memory_mib / 1536))
  [ "$fit" -lt 1 ] && fit=1
  echo $((cores < fit ? cores : fit))
}

# build PRESET [TARGET...]: configures and builds; "folder/all" is everything of that folder.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" -Wno-dev
  if [ $# -gt 0 ]; then
    cmake --build --preset "$preset" -j "$(build_jobs)" --target "$@"
  else
    cmake --build --preset "$preset" -j "$(build_jobs)"
  fi
}

# The optimised command and the module, entered into .venv: .venv/bin/python can import fedsim.
build_release() {
  build release apps/all bindings/all
  cmake --build --preset release --target python_develop
}
