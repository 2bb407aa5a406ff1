#!/bin/sh
# UNTRIED. Builds Strata.app and a dmg with it, on macOS, after `make frozen`.
#   SIGN_IDENTITY=NAME    signs with this identity of the keychain, and checks the signature
#   NOTARY_PROFILE=NAME   also lets Apple notarise the dmg, with this profile of notarytool, and staples the ticket
# Without these, nothing is signed, and macOS asks before the first start.
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
app=dist/dmg/Strata.app
target="dist/strata-$version-macos-$(uname -m).dmg"
rm -rf dist/dmg
mkdir -p "$app/Contents/MacOS"
cp -R dist/strata/. "$app/Contents/MacOS/"
cat > "$app/Contents/Info.plist" <<END
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>CFBundleIdentifier</key><string>notes.strata.Strata</string>
<key>CFBundleName</key><string>Strata</string>
<key>CFBundleExecutable</key><string>strata</string>
<key>CFBundlePackageType</key><string>APPL</string>
<key>CFBundleShortVersionString</key><string>$version</string>
<key>NSHighResolutionCapable</key><true/>
<key>CFBundleDocumentTypes</key><array><dict>
<key>CFBundleTypeName</key><string>Notes</string>
<key>CFBundleTypeRole</key><string>Viewer</string>
<key>LSHandlerRank</key><string>Alternate</string>
<key>LSItemContentTypes</key><array><string>public.folder</string><string>net.daringfireball.markdown</string></array>
</dict></array>
</dict></plist>
END
if [ -n "${SIGN_IDENTITY:-}" ]; then
  codesign --force --deep --options runtime --timestamp --sign "$SIGN_IDENTITY" "$app"
  codesign --verify --deep --strict "$app"
fi
ln -s /Applications dist/dmg/Applications
hdiutil create -volname Strata -srcfolder dist/dmg -format UDZO -ov "$target"
if [ -n "${SIGN_IDENTITY:-}" ]; then
  codesign --sign "$SIGN_IDENTITY" "$target"
  codesign --verify --strict "$target"
fi
if [ -n "${NOTARY_PROFILE:-}" ]; then
  xcrun notarytool submit "$target" --keychain-profile "$NOTARY_PROFILE" --wait
  xcrun stapler staple "$target"
  spctl --assess --type open --context context:primary-signature "$target"
fi
shasum -a 256 "$target"
