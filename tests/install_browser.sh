#!/bin/sh
# Chromium, Chinese and emoji fonts for the browser tests: installed from Debian where they are missing and it may.
set -eu
missing=""
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
fc-list 2>/dev/null | grep -qi "noto sans cjk" || missing="$missing fonts-noto-cjk"
fc-list 2>/dev/null | grep -qi "noto color emoji" || missing="$missing fonts-noto-color-emoji"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo"; else as_root="no"; fi
if [ "$as_root" = no ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "The browser tests need$missing: install them with your system's package manager, then run make test again." >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
