package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// packages are the packages of the machine's system, besides their dependencies and a kernel.
const packages = "base-files base-passwd bash coreutils dbus e2fsprogs libc-bin systemd usr-is-merged util-linux"

// assemble builds the system in the working folder: the packages' files unchanged, and what the packages' own scripts
// would have written, as far as it is needed. $1 are the packages.
const assemble = `set -eu -o pipefail
mkdir -p apt/partial root/usr/bin root/usr/sbin root/usr/lib root/usr/lib64 kernel
for dir in bin sbin lib lib64; do ln -s usr/$dir root/$dir; done
: >apt/status
apt() {
	apt-get -q -y -o Dir::State::status=$PWD/apt/status -o Dir::Cache::archives=$PWD/apt -o Debug::NoLocking=1 \
		-o APT::Sandbox::User= -o APT::Install-Recommends=0 -o APT::Architecture=amd64 -o Acquire::Retries=5 --download-only install "$@"
}
apt $1
for deb in apt/*.deb; do dpkg-deb --fsys-tarfile $deb | tar -x --keep-directory-symlink -C root; done
rm apt/*.deb
apt linux-image-cloud-amd64
dpkg-deb -x apt/linux-image-[0-9]*.deb kernel
mv kernel/boot/vmlinuz-* vmlinuz

cd root
rm -rf usr/share/doc usr/share/man usr/share/locale usr/share/info usr/share/perl usr/lib/x86_64-linux-gnu/perl* usr/lib/x86_64-linux-gnu/libperl*
mkdir -p dev proc sys run tmp root var/tmp
rm -rf var/run
ln -s /run var/run
ln -s bash usr/bin/sh
sed 's/:\*:/::/' usr/share/base-passwd/passwd.master >etc/passwd
cp usr/share/base-passwd/group.master etc/group
echo messagebus:x:100:100::/nonexistent:/usr/sbin/nologin >>etc/passwd
echo messagebus:x:100: >>etc/group
echo heddle >etc/hostname
: >etc/machine-id
printf '127.0.0.1 localhost heddle rm\n' >etc/hosts
cat >etc/systemd/system/heddle-tests.service <<END
[Unit]
Wants=dbus.socket
After=basic.target dbus.socket

[Service]
Type=oneshot
ExecStart=/heddle/run
StandardOutput=file:/dev/ttyS1
StandardError=inherit
END
find . | cpio -o -H newc -R 0:0 >../root.cpio
cd ..
rm -rf apt root kernel
`

// An image is what the machine boots from.
type image struct{ kernel, root string }

// prepare returns the image in a folder, and builds it if there is none or it was built differently.
func prepare(ctx context.Context, dir string) (image, error) {
	dir = filepath.Join(dir, fmt.Sprintf("%.12x", sha256.Sum256([]byte(packages+assemble))))
	i := image{filepath.Join(dir, "vmlinuz"), filepath.Join(dir, "root.cpio")}
	if _, err := os.Stat(dir); err == nil {
		return i, nil
	}
	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		return i, err
	}
	work := dir + ".new"
	if err := os.MkdirAll(work, 0o755); err != nil {
		return i, err
	}
	fmt.Println("the machine's system is put together, once")
	if err := tool(ctx, work, "bash", "-c", strings.TrimSpace(assemble), "assemble", packages); err != nil {
		return i, fmt.Errorf("the machine's system: %w", err)
	}
	return i, os.Rename(work, dir)
}
