# Runs in the guest, as root. Each line that begins with CHECK says what was looked at, and `ok` or what was found.
export HOME=/root
check() {
	what=$1
	shift
	if "$@" >/tmp/said 2>&1; then echo "CHECK $what: ok"; else echo "CHECK $what: failed: $(tail -3 /tmp/said | tr '\n' ' ')"; fi
}
groups_are_gone() { sleep 1; [ -z "$(find /sys/fs/cgroup -path '*prony*' -type d)" ]; }
limits_hold() {
	cd /data
	prony historian --managed postgres --data /data --memory 256MiB --cpus 0.5 --read-iops 200 --write-iops 100 \
		--rate 50/s --duration 5s --warm-up 1s --details
	# 5: this machine is so slow that the load may be the limit; what was proved holds all the same.
	[ $? -le 5 ] && ls prony-results/*-historian/report.html
}
proved() { grep -rhoE '"(expected|achieved)": ?[0-9.]+' /data/prony-results | tr '\n' ' '; }

. /delay.sh
check 'all controllers are those of version 2' grep -q cpuset /sys/fs/cgroup/cgroup.controllers
check 'a trial within limits, as root' limits_hold
echo "PROVED $(proved)"
check 'nothing is left of its groups' groups_are_gone
check 'systemd gives a scope, as root' prony instance start postgres --name a --data /data --memory 256MiB --read-iops 200
check 'the server is in its scope' sh -c 'cat /sys/fs/cgroup/system.slice/prony-run-*.scope/prony-*-*/cgroup.procs | grep -q .'
check 'the server ends' prony instance stop a
check 'nothing is left of its scope' groups_are_gone
systemctl start user@1000.service
setpriv --reuid=1000 --regid=1000 --init-groups sh /user.sh
check 'nothing is left of the scope of a user' groups_are_gone
