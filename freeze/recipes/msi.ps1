# UNTRIED. Builds an MSI of the frozen program, on Windows, with the WiX toolset (the program wix, version 5) at hand.
#   SIGN_THUMBPRINT   signs program and MSI with this certificate of the store, and checks the signatures
#   TIMESTAMP_URL     the time stamp server for the signatures
# Without a certificate, nothing is signed, and Windows asks before the first start.
$ErrorActionPreference = "Stop"
Set-Location (Join-Path $PSScriptRoot "../..")
$version = (Select-String -Path pyproject.toml -Pattern '^version = "(.*)"$').Matches[0].Groups[1].Value
$target = "dist/strata-$version-windows-x64.msi"

function Invoke-Checked([string] $Program, [string[]] $Arguments) {
    & $Program @Arguments
    if ($LASTEXITCODE -ne 0) { throw "$Program failed with $LASTEXITCODE" }
}

function Add-Signature([string] $File) {
    if (-not $env:SIGN_THUMBPRINT) { return }
    Invoke-Checked signtool @("sign", "/sha1", $env:SIGN_THUMBPRINT, "/fd", "sha256", "/tr", $env:TIMESTAMP_URL, "/td", "sha256", $File)
    Invoke-Checked signtool @("verify", "/pa", $File)
}

Invoke-Checked python @("-m", "PyInstaller", "--noconfirm", "--log-level", "WARN", "freeze/strata.spec")
Add-Signature "dist/strata/strata.exe"
# The upgrade code stays the same in all versions, so that a new one replaces the old one. Notes and chats are elsewhere.
@"
<Wix xmlns="http://wixtoolset.org/schemas/v4/wxs">
  <Package Name="Strata" Manufacturer="The Strata developers" Version="$version" UpgradeCode="6d0f3f0a-6b0e-4a3c-9a55-7e1b5a0c3d11">
    <MajorUpgrade DowngradeErrorMessage="A newer version of Strata is installed." />
    <MediaTemplate EmbedCab="yes" />
    <StandardDirectory Id="ProgramFiles64Folder">
      <Directory Id="INSTALLFOLDER" Name="Strata"><Files Include="$((Resolve-Path dist/strata).Path)\**" /></Directory>
    </StandardDirectory>
    <StandardDirectory Id="ProgramMenuFolder">
      <Component><Shortcut Id="StrataMenu" Name="Strata" Target="[INSTALLFOLDER]strata.exe" />
        <RegistryValue Root="HKCU" Key="Software\Strata" Name="installed" Type="integer" Value="1" KeyPath="yes" /></Component>
    </StandardDirectory>
  </Package>
</Wix>
"@ | Set-Content -Encoding utf8 build/strata.wxs
Invoke-Checked wix @("build", "-arch", "x64", "-out", $target, "build/strata.wxs")
Add-Signature $target
Get-FileHash -Algorithm SHA256 $target
