#!/bin/sh
# pack.sh FOLDER OUT.tar.zst [TAR-OPTIONS...]: packs a folder of recordings so that equal contents give equal bytes.
# The archive has the folder's contents at its root: names sorted, no dates, no owners.
set -eu
folder=$1
out=$2
shift 2
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$@" \
  --format=ustar -C "$folder" -cf - . | zstd -19 --ultra -q -f -o "$out"
