# Runs in the guest, as a user without rights who is logged in.
export HOME=/data/operator XDG_RUNTIME_DIR=/run/user/1000
cd /data/operator
result() { if [ "$1" = 0 ]; then echo "CHECK $2: ok"; else echo "CHECK $2: failed: $(tail -3 said | tr '\n' ' ')"; fi; }
prony instance start postgres --name b --data /data/operator --memory 256MiB --cpus 0.5 >said 2>&1
result $? 'systemd gives a scope, as a user'
prony instance stop b >said 2>&1
result $? 'the server of a user ends'
prony instance start postgres --name c --data /data/operator --read-iops 200 >said 2>&1
grep -q 'Delegate=cpu cpuset io memory' said
result $? 'a user is told what to delegate for I/O'
env -u XDG_RUNTIME_DIR -u DBUS_SESSION_BUS_ADDRESS prony instance start postgres --name d --memory 256MiB >said 2>&1
grep -q 'run as root, or where you are logged in' said
result $? 'a user who is not logged in is told so'
