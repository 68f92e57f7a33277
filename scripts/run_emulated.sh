#!/usr/bin/env bash
# Runs test programs on an emulated processor, so that kernel rows which this machine cannot run are
# tested all the same: Bochs boots Debian's kernel with the programs as its only file system.
# docs/testing.md.
#
#   scripts/run_emulated.sh build/src/kernels/linear/linear_test [PROGRAM ...]
#   BOCHS=FOLDER/bochs BOCHS_CPU=tigerlake scripts/run_emulated.sh PROGRAM
#   BOCHS_WITHOUT=amx,amx_int8,amx_bf16 scripts/run_emulated.sh PROGRAM     a processor with less
#   GTEST_FILTER='*amx*' scripts/run_emulated.sh PROGRAM
#
# Some 100 million instructions a second.
set -euo pipefail

readonly bochs=${BOCHS:-bochs} cpu=${BOCHS_CPU:-sapphire_rapids} without=${BOCHS_WITHOUT:-}
[ $# -gt 0 ] || { echo "usage: run_emulated.sh PROGRAM ..." >&2; exit 2; }
for program in "$@"; do
  [ -x "$program" ] || { echo "$program: no program" >&2; exit 2; }
done
command -v "$bochs" >/dev/null || { echo "$bochs: no program; name Bochs in BOCHS" >&2; exit 2; }
known=$("$bochs" -help cpu 2>&1 || true)
grep -qx "$cpu" <<<"$known" || { echo "$bochs: knows no processor $cpu" >&2; exit 2; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/install_packages.sh" "$here/emulation_packages.txt"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Shows what a command said only when it fails.
quietly() { "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; return 1; }; }

# The programs, the libraries they need and an init that runs them.
make_file_system() {
  local root=$work/root library
  mkdir -p "$root"/{bin,proc,dev,test,tmp}
  cp /bin/busybox "$root/bin"
  cp "$@" "$root/test"
  for library in $(ldd "$@" | grep -o '/[^ :]*\.so[^ :]*' | sort -u); do
    install -D "$library" "$root$library"
  done
  cat >"$root/init" <<INIT
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
export GTEST_BRIEF=1 GTEST_COLOR=no GTEST_FILTER='${GTEST_FILTER:-*}'
failed=0
for program in $(printf '/test/%s ' "${@##*/}"); do
  echo "== \$program"
  "\$program" || failed=\$((failed + 1))
done
echo "programs failed: \$failed"
/bin/busybox sleep 1
/bin/busybox poweroff -f
INIT
  chmod +x "$root/init"
  (cd "$root" && find . | cpio -o -H newc --quiet) | gzip -1 >"$work/iso/boot/initrd"
}

fetch_kernel() {
  local package
  package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends:/ { print $2; exit }')
  quietly sh -c "cd $work && apt-get download $package && dpkg -x ${package}_*.deb kernel"
  cp "$work"/kernel/boot/vmlinuz-* "$work/iso/boot/vmlinuz"
}

mkdir -p "$work/iso/boot/grub"
make_file_system "$@"
fetch_kernel
# The kernel's fast string copies (features 112, 297, 580) and five-level page tables stop in Bochs.
cat >"$work/iso/boot/grub/grub.cfg" <<'GRUB'
linux /boot/vmlinuz console=ttyS0 quiet nosmp no5lvl mitigations=off clearcpuid=297,580,112
initrd /boot/initrd
boot
GRUB
quietly grub-mkrescue -o "$work/test.iso" "$work/iso"
cat >"$work/bochsrc" <<BOCHS
cpu: model=$cpu${without:+, exclude_features=\"$without\"}, count=1, ips=50000000, ignore_bad_msrs=1
memory: guest=2048, host=2048
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/test.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/serial
display_library: nogui
log: $work/log
BOCHS
touch "$work/serial"
tail -f "$work/serial" &
"$bochs" -q -f "$work/bochsrc" >"$work/out" 2>&1 </dev/null || true  # powering off is its exit 1
sleep 1
kill $!  # the reader
grep -q '^programs failed:' "$work/serial" || { tail -n 20 "$work/out" "$work/log" >&2; exit 1; }
grep -q '^programs failed: 0' "$work/serial"
