#!/bin/sh
# run.sh FOLDER SECONDS - libFuzzer on each program of the folder for that long, starting from the
# programs, kernels and .npy files of the tests; what it keeps stays in FOLDER/corpus. Prints TAP.
set -eu
folder=$1 seconds=$2 count=0 failed=0

# Puts the seeds of a program into its corpus: Lua files, printed programs, .npy files.
seed() {
  mkdir -p "$folder/corpus/$1" "$folder/found/$1"
  case $1 in
  npy_input) ./tide tests/inputs/seeds.lua npy "$folder/corpus/$1" ;;
  load_input) ./tide tests/inputs/seeds.lua programs "$folder/corpus/$1" ;;
  *) cp tests/lang/*/*.lua tests/prim/*.lua "$folder/corpus/$1" ;;
  esac
}

for program in "$folder"/*_input; do
  name=$(basename "$program")
  count=$((count + 1))
  seed "$name"
  if "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 \
    -artifact_prefix="$folder/found/$name/" "$folder/corpus/$name" >"$folder/$name.log" 2>&1; then
    echo "ok $count - $name"
  else
    failed=1
    echo "not ok $count - $name"
    tail -n 30 "$folder/$name.log" | sed 's/^/# /'
  fi
  sed -n 's/^stat::number_of_executed_units: */# inputs tried: /p' "$folder/$name.log"
done
echo "1..$count"
exit "$failed"
