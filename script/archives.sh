# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Where mmdebstrap takes a release of Debian or Ubuntu from. Source it, and call
#   archive_of SUITE    sets mirror, and the array archive: options of mmdebstrap
# IPOIB_DEBIAN_MIRROR and IPOIB_UBUNTU_MIRROR: mirrors to use instead of deb.debian.org and archive.ubuntu.com.

# Prints the file with the keys of Ubuntu's archive: those of this system, else of Debian 13's package of them.
ubuntu_keys() {
    local name=/usr/share/keyrings/ubuntu-archive-keyring.gpg tree
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}/ipoib-bootstrap
    local kept=$cache/${name##*/}
    [ ! -r $name ] || { echo $name; return; }
    if [ ! -r "$kept" ]; then
        tree=$(mktemp -d)
        "$(dirname "${BASH_SOURCE[0]}")/apt-settings" > "$tree/apt"
        unshare --mount mmdebstrap --mode=root --variant=extract --include=ubuntu-archive-keyring --aptopt="$tree/apt" \
            trixie "$tree/trixie" "${IPOIB_DEBIAN_MIRROR:-http://deb.debian.org/debian}" >&2 < /dev/null &&
            mkdir -p "$cache" && cp "$tree/trixie$name" "$kept"
        rm -rf "$tree"
    fi
    echo "$kept"
}

# shellcheck disable=SC2034 # for the script that sources this
archive_of() {
    archive=()
    case $1 in
    focal | jammy | noble | resolute)
        mirror=${IPOIB_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}
        # The keys may be in a folder that only root reads. In Ubuntu apt is not among the packages of minbase.
        archive=(--keyring="$(ubuntu_keys)" "--components=main,universe" "--aptopt=APT::Sandbox::User \"root\"" --include=apt)
        ;;
    *) mirror=${IPOIB_DEBIAN_MIRROR:-http://deb.debian.org/debian} ;;
    esac
}
