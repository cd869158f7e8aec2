#!/bin/sh
# A Slurm cluster of one node, this machine, for tests; nothing of the system's own is touched.
#   tests/slurm.sh start FOLDER    then use it with SLURM_CONF=FOLDER/slurm.conf
#   tests/slurm.sh stop FOLDER
# Needs munge, slurmctld, slurmd and slurm-client, and /sys/fs/cgroup, which some containers lack.
set -eu
PATH=$PATH:/usr/sbin
folder=$(mkdir -p "$2" && cd "$2" && pwd)
user=$(id -un)

start() {
  mkdir -m 700 "$folder/state" "$folder/spool"
  (umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")
  munged --force --origin=127.0.0.1 --socket="$folder/munge.socket" --key-file="$folder/munge.key" \
    --pid-file="$folder/munge.pid" --log-file="$folder/munge.log" --seed-file="$folder/munge.seed"
  # Ports that other clusters here are unlikely to have.
  port=$((20000 + $$ % 20000))
  cat >"$folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
  slurmctld -f "$folder/slurm.conf"
  slurmd -f "$folder/slurm.conf"
}

stop() {
  for daemon in slurmd slurmctld munge; do
    [ -f "$folder/$daemon.pid" ] || continue
    pid=$(cat "$folder/$daemon.pid")
    kill "$pid" || continue
    timeout 20 tail --pid="$pid" -f /dev/null || true # it writes into the folder to its end
  done
}

"$1"
