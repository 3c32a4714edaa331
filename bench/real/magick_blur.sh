#!/bin/sh
# ImageMagick on the system's libgomp: draws, blurs, resizes and rotates an image, and prints its pixels'
# digest. Debian calls version 6 `convert-im6.q16`; version 7 is `magick`.
tool=$(command -v convert-im6.q16 || command -v magick) || {
    echo "ImageMagick is missing; install it with: apt-get install imagemagick" >&2
    exit 127
}
digest=$("$tool" -size 1300x1300 gradient:red-blue -swirl 200 -wave 20x90 -blur 0x10 -resize 70% -rotate 33 \
    -depth 8 rgb:- | sha256sum) || exit 1
printf '{"name":"magick_blur","form":"real","class":"-","verified":true,"value":"%s"}\n' "${digest%% *}"
