"""A Slurm of one node on loopback, from a distribution's packages, in a folder of its own."""

import getpass
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

CPUS = 4
"""And 16 GB: as Slurm is told, whatever the machine has."""
CONFIGURATION = f"""
ClusterName=flowlimit
SlurmctldHost={{host}}(127.0.0.1)
SlurmUser={{user}}
SlurmdUser={{user}}
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmctldPort={{ports[0]}}
SlurmdPort={{ports[1]}}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={{folder}}/state
SlurmdSpoolDir={{folder}}/spool
SlurmctldPidFile={{folder}}/slurmctld.pid
SlurmdPidFile={{folder}}/slurmd.pid
SlurmctldLogFile={{folder}}/slurmctld.log
SlurmdLogFile={{folder}}/slurmd.log
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=localhost NodeHostname={{host}} NodeAddr=127.0.0.1 CPUs={CPUS} RealMemory=16000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class OneNode:
    """A running Slurm: its environment, its commands, and its logs."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment | {"SLURM_CONF": str(folder / "slurm.conf")}

    def call(self, *words: str, **variables: str) -> str:
        """Return what a command prints; what it says and the logs if it fails."""
        done = subprocess.run(
            words, env=self.environment | variables, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}\n{self.logs()}"
        return done.stdout

    def submit(self, *words: str, **variables: str) -> str:
        """Return the id of a job."""
        return self.call("sbatch", "--parsable", *words, **variables).strip()

    def states(self, job: str) -> list[str]:
        """Return the state of every task of a job that Slurm still knows of."""
        return self.call("squeue", "--noheader", "--array", "--states=all", "--format=%T", "--jobs", job).split()

    def wait(self, job: str, seconds: float = 120.0) -> list[str]:
        """Wait until a job is over; return the states in which its tasks ended."""
        over = lambda states: not set(states) & {"PENDING", "RUNNING", "COMPLETING"}
        return self.until(lambda: self.states(job), over, seconds)

    def until(self, look, is_so, seconds: float = 60.0):
        """Look again and again, until it is so."""
        end = time.monotonic() + seconds
        while not is_so(seen := look()):
            assert time.monotonic() < end, f"after {seconds} s: {seen}\n{self.logs()}"
            time.sleep(0.2)
        return seen

    def logs(self) -> str:
        """Return the ends of all logs, of the daemons' and the jobs'."""
        files = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        texts = {path.name: path.read_text(errors="replace")[-3000:] for path in files}
        return "\n".join(f"--- {name}\n{text}" for name, text in texts.items())


@contextmanager
def one_node(folder: Path, environment: dict[str, str]):
    """Start the daemons; end them."""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    host = socket.gethostname().partition(".")[0]
    configuration = CONFIGURATION.format(host=host, user=getpass.getuser(), ports=free_ports(2), folder=folder)
    (folder / "slurm.conf").write_text(configuration)
    slurm = OneNode(folder, environment)
    daemons = []
    try:
        for daemon in ("slurmctld", "slurmd"):
            with (folder / f"{daemon}-says.log").open("w") as says:
                command = [daemon, "-D"]
                daemons.append(subprocess.Popen(command, env=slurm.environment, cwd=folder, stdout=says, stderr=says))
        slurm.until(lambda: _idle(slurm, daemons), lambda state: state == "idle", 30.0)
        yield slurm
        slurm.call("scancel", "--user", getpass.getuser())  # jobs outlive the daemons
        slurm.until(lambda: slurm.call("squeue", "--noheader"), lambda jobs: not jobs)
    finally:
        for process in reversed(daemons):
            process.terminate()
        for process in daemons:
            process.wait(30)


def _idle(slurm: OneNode, daemons: list[subprocess.Popen]) -> str:
    ended = [process.args for process in daemons if process.poll() is not None]
    assert not ended, f"{ended} ended\n{slurm.logs()}"
    words = ["sinfo", "--noheader", "--format=%t"]
    return subprocess.run(words, env=slurm.environment, capture_output=True, text=True, check=False).stdout.strip()


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for own in sockets:
            own.bind(("127.0.0.1", 0))
        return [own.getsockname()[1] for own in sockets]
    finally:
        for own in sockets:
            own.close()
