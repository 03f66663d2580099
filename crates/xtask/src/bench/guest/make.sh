#!/bin/sh
# Makes and boots a small virtual machine whose first process is systemd and whose control groups are version 2 alone, and has it
# run task.sh. What it says goes to the standard output. Takes the directory to work in, and prony. Needs root, for debootstrap.
set -eu
cd "$1"
prony=$2
kernel=$(ls /boot/vmlinuz-*-cloud-* | sort -V | tail -1)
version=${kernel#/boot/vmlinuz-}
modules=/lib/modules/$version/kernel

# Whom a user of systemd is let in by is asked over the system's bus.
packages=systemd,systemd-sysv,dbus,libpam-systemd,util-linux,postgresql-15
# Of nodes whose packets are held back.
packages=$packages,iproute2,iputils-ping,kmod
if [ "$(cat made 2>/dev/null)" != "$packages" ]; then
	rm -rf root made
	debootstrap --variant=minbase --include="$packages" bookworm root >debootstrap.log
	echo "$packages" >made
fi

# Before the root is there, a program that has all in one loads what the disk needs.
rm -rf early
mkdir -p early/bin early/modules early/dev early/proc early/sys early/root
cp /bin/busybox early/bin/
for name in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
	find "$modules" -name "$name.ko" -exec cp {} early/modules/ \;
done
cat >early/init <<'END'
#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
for name in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
	[ ! -f /modules/$name.ko ] || /bin/busybox insmod /modules/$name.ko 2>/dev/null
done
/bin/busybox mount -t ext4 /dev/vda /root || /bin/busybox poweroff -f
exec /bin/busybox switch_root /root /lib/systemd/systemd
END
chmod +x early/init
(cd early && find . | cpio -o -H newc 2>/dev/null | gzip -1) >early.gz

strip -o root/usr/bin/prony "$prony"
cp task.sh user.sh delay.sh root/
rm -rf root/lib/modules
mkdir -p root/lib/modules/$version/kernel/drivers/net
cp -r "$modules/net" root/lib/modules/$version/kernel/
cp "$modules/drivers/net/veth.ko" root/lib/modules/$version/kernel/drivers/net/
cp "$modules"/../modules.order "$modules"/../modules.builtin* root/lib/modules/$version/
depmod -b root "$version"
system=root/etc/systemd/system
for unit in postgresql getty@tty1 serial-getty@ttyS0 systemd-timesyncd e2scrub_reap; do
	ln -sf /dev/null $system/$unit.service
done
cat >$system/task.service <<'END'
[Unit]
After=systemd-user-sessions.service
[Service]
Type=oneshot
ExecStart=/bin/sh /task.sh
ExecStopPost=/bin/systemctl poweroff -f -f
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
END
mkdir -p $system/multi-user.target.wants
ln -sf ../task.service $system/multi-user.target.wants/task.service
grep -q ^operator: root/etc/passwd || {
	echo operator:x:1000:1000::/data/operator:/bin/sh >>root/etc/passwd
	echo operator:x:1000: >>root/etc/group
	echo 'operator:!:19000:0:99999:7:::' >>root/etc/shadow
	mkdir -p root/data/operator
	chown 1000:1000 root/data/operator
	chmod 777 root/data
}
rm -f disk.img
mke2fs -q -t ext4 -d root disk.img 3G
timeout 1500 qemu-system-x86_64 -M q35 -accel tcg,thread=multi -smp 2 -m 1500 -nographic -no-reboot -nic none \
	-kernel "$kernel" -initrd early.gz -drive file=disk.img,format=raw,if=virtio,cache=none \
	-append 'console=ttyS0 panic=-1 quiet systemd.unified_cgroup_hierarchy=1 systemd.show_status=0' </dev/null
