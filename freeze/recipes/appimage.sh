#!/bin/sh
# UNTRIED. Packs the frozen program of `make release` as an AppImage, on Linux.
#   APPIMAGETOOL=FILE   the program appimagetool, which nothing here downloads
#   SIGN_KEY=ID         signs with this key of gpg, and checks the signature; without it nothing is signed
set -eu
cd "$(dirname "$0")/../.."
tool=${APPIMAGETOOL:?names the program appimagetool}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
target="dist/strata-$version-$(uname -m).AppImage"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/usr/lib"
cp -a dist/strata "$folder/usr/lib/strata"
ln -s usr/lib/strata/strata "$folder/AppRun"
cp resources/desktop/strata.desktop resources/desktop/strata.svg "$folder"
if [ -n "${SIGN_KEY:-}" ]; then
  "$tool" --sign --sign-key "$SIGN_KEY" "$folder" "$target"
  "$target" --appimage-signature | grep -q 'BEGIN PGP SIGNATURE'
else
  "$tool" "$folder" "$target"
fi
sha256sum "$target"
