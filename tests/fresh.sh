#!/bin/sh
# fresh.sh - proves ./setup on bare Debian 12 roots, under a path with a space: as root, and as a
# user without rights. Needs root, mmdebstrap and a Debian mirror; prints TAP. FRESH=demo, test or
# user picks one part.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0

# Prints a TAP line for a test that ended with status $1; a failed one shows the end of the log.
report() {
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
    echo "ok $((passed + failed)) - $2"
  else
    failed=$((failed + 1))
    echo "not ok $((passed + failed)) - $2"
    tail -n 40 "$work/log" | sed 's/^/# /'
  fi
}

# Runs the rest of the line as a test of that name, its output in the log.
check() {
  name=$1
  shift
  status=0
  "$@" >"$work/log" 2>&1 || status=$?
  report "$status" "$name"
}

# Makes bare.tar, a root that downloads as this machine does.
bootstrap() {
  apt-config dump | grep '^Acquire::' >"$work/apt.conf"
  grep -ls bookworm /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
    /etc/apt/sources.list.d/*.sources >"$work/sources" || true
  xargs -d '\n' mmdebstrap --variant=minbase --aptopt="$work/apt.conf" bookworm \
    "$work/bare.tar" <"$work/sources"
}

# Unpacks a bare root of that name with this tree in "/srv/a tide", owned by `nobody`.
unpack() {
  root=$work/$1
  mkdir -p "$root" "$work/archives"
  tar -xf "$work/bare.tar" -C "$root"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  mkdir -p "$root/srv/a tide"
  tar -c --exclude=./build --exclude=./.git --exclude=./tide --exclude=./tide.so \
    --exclude=./jupyter.so . |
    tar -x -C "$root/srv/a tide"
  chown -R nobody "$root/srv/a tide"
}

# Runs a shell command in the tree of the root unpacked last, as user $1, far from other processes;
# downloaded packages are kept from one root to the next.
inside() {
  unshare --mount --pid --fork --kill-child sh -c '
    mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" &&
    mount --bind "$2" "$1/var/cache/apt/archives" &&
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv TERM=dumb \
      ${http_proxy+"http_proxy=$http_proxy"} ${https_proxy+"https_proxy=$https_proxy"} \
      chroot --userspec="$3" "$1" /bin/sh -c "cd \"/srv/a tide\" && $4"
  ' sh "$root" "$work/archives" "$1" "$2" </dev/null
}

# The line that ./setup demo prints for a user without rights; fails when it prints none.
printed_line() {
  ! inside nobody './setup demo' >"$work/printed" 2>&1 || return 1
  grep -E '^(apt-get update && )?apt-get install ' "$work/printed"
}

# What a user without rights meets: a refusal with a line; root runs it; then the demo works.
user() {
  unpack user
  check 'a user without rights is told what to install' printed_line
  line=$(cat "$work/log")
  check 'root runs that line' inside root "$line"
  check './setup demo then works for the user' inside nobody './setup demo'
}

# Root, on a bare machine of its own for each word.
root() {
  unpack "$1"
  check "./setup $1 as root" inside root "./setup $1"
  tail -n 1 "$work/log" | sed 's/^/# /'
}

check 'a bare root of Debian 12' bootstrap
case ${FRESH-all} in
user) user ;;
demo | test) root "$FRESH" ;;
*)
  user
  root demo
  root test
  ;;
esac
echo "1..$((passed + failed))"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
