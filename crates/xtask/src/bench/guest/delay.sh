# Runs in the guest, as root, before all else of task.sh: packets between the first node of a quorum and the others are held back by 100 ms each way, and
# it is asked by other means how long each takes. A commit there waits for one of the others. This machine is so slow that only what
# changes is looked at.
cd /data
await() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 3000 ] && kill -0 "$prony" 2>/dev/null || return 1
		sleep 0.1
	done
}
# The mean time of a packet to an address of a node and back, from what is given before `ping`, in whole milliseconds.
rtt() {
	address=$(ip -n "$pair-$1" -4 -o addr show dev "$2" | sed 's/.* inet \([0-9.]*\).*/\1/')
	shift 2
	told=$("$@" ping -q -c 5 -i 0.3 -W 5 "$address") || return 1
	echo "$told" | sed -n 's|.*= [0-9.]*/\([0-9]*\)[./].*|\1|p'
}
from() { echo "ip netns exec $pair-$1"; }
has_quorum() {
	pair=$(ip netns list | sed -n 's/^\(prony-[0-9a-f]*\)-node3.*/\1/p')
	[ -n "$pair" ]
}
is_delayed() { tc -n "$pair-switch" qdisc show | grep -q 'netem.*delay 100ms'; }
is_over() { ! is_delayed; }
is_held() { await is_delayed || { tail -3 /tmp/delayed; return 1; }; }
is_longer() {
	case "$1 $2" in *' ' | ' '* | *[!0-9\ ]*) echo "unknown: '$1' and '$2' ms"; return 1 ;; esac
	[ "$(($1 - $2))" -ge "$3" ] && [ "$(($1 - $2))" -lt "$4" ] || { echo "$1 ms are not $3 to $4 ms longer than $2 ms"; return 1; }
}
# What stands in the report of the only fault.
of_fault() {
	prony report latest --json |
		FIELD=$1 perl -MJSON::PP -0777 -ne 'print decode_json($_)->{trials}[0]{faults}[0]{$ENV{FIELD}} // "none"'
}

check 'the kernel can hold packets back' modprobe sch_netem
prony failover --managed postgres --pair quorum --data /data --setting shared_buffers=16MB --clients 2 --rate 2/s --reads 0 --keys 10 \
	--timeout 30s --warm-up 5s --duration 75s --fault 'delay by 100ms for 40s at 15s' >/tmp/delayed 2>&1 &
prony=$!
check 'nodes are in a network of their own' await has_quorum
check 'packets of one are held back' is_held
held=$(rtt node2 nodes $(from node1))
others=$(rtt node3 nodes $(from node2))
clients=$(rtt node1 clients)
check 'and no longer once that is over' await is_over
free=$(rtt node2 nodes $(from node1))
echo "PROVED held back by 100 ms each way: ${held:-unknown} ms there and back, ${free:-unknown} ms afterwards;" \
	"meanwhile ${others:-unknown} ms between others, ${clients:-unknown} ms to clients"
check 'they take as much longer as was asked for' is_longer "$held" "$free" 190 300
check 'those between others are not held back' is_longer "$others" "$free" -100 100
check 'those to clients are not held back' is_longer "$clients" "$free" -100 100
wait $prony
ended=$?
# 4 and 5: this machine is so slow that its figures are not to be trusted, and nobody asks for them.
check 'the load came to its end' sh -c "case $ended in 0 | 4 | 5) ;; *) tail -3 /tmp/delayed; exit 1 ;; esac"
check 'the fault was done and undone' test "$(of_fault failed)" = none -a "$(of_fault mended_s)" != none
before=$(of_fault mean_ms_before | cut -d. -f1)
meanwhile=$(of_fault mean_ms_meanwhile | cut -d. -f1)
echo "PROVED a commit took ${before:-unknown} ms on average before, and ${meanwhile:-unknown} ms meanwhile"
check 'a commit that waits for another node takes longer' is_longer "$meanwhile" "$before" 150 5000
check 'nothing is left of the network' sh -c '[ -z "$(ip netns list)" ]'
