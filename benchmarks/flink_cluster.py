"""A small Apache Flink cluster on this machine, and Beam's job server for it.

What it is made of is put into a folder by `benchmarks/flink.sh`: `flink/lib` with Flink's jars
and `jars` with Beam's. Everything listens on the loopback address alone, and is ended with the
`with` block.
"""

from collections.abc import Iterator
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import psutil

# Flink's own list for Java 17, as far as Beam's jobs need it.
OPENS = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        *("java.lang", "java.lang.reflect", "java.net", "java.io", "java.text", "java.time"),
        *("java.util", "java.util.concurrent", "java.util.concurrent.atomic", "sun.net.util"),
        *("java.util.concurrent.locks", "java.nio", "sun.nio.ch"),
    )
]

# Every size is given, since Flink's start scripts, which would work them out, are not there. If one
# of two task managers dies, the other one has slots for all tasks: Flink goes on then.
CONFIG = """\
jobmanager.rpc.address: localhost
jobmanager.rpc.port: {rpc}
jobmanager.bind-host: localhost
rest.address: localhost
rest.bind-address: localhost
rest.port: {rest}
taskmanager.host: localhost
taskmanager.bind-host: localhost
taskmanager.numberOfTaskSlots: 2
taskmanager.cpu.cores: 1.0
taskmanager.memory.task.heap.size: 2560m
taskmanager.memory.task.off-heap.size: 64m
taskmanager.memory.network.min: 256m
taskmanager.memory.network.max: 256m
taskmanager.memory.managed.size: 512m
taskmanager.memory.framework.heap.size: 128m
taskmanager.memory.framework.off-heap.size: 128m
taskmanager.memory.jvm-metaspace.size: 256m
taskmanager.memory.jvm-overhead.min: 192m
taskmanager.memory.jvm-overhead.max: 192m
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 100
restart-strategy.fixed-delay.delay: 1 s
heartbeat.interval: 1000
heartbeat.timeout: 10000
cluster.evenly-spread-out-slots: true
io.tmp.dirs: {folder}
blob.storage.directory: {folder}
"""


def missing(software: pathlib.Path) -> str:
    """Returns what a cluster lacks in this folder, in words. Empty if it can be started."""
    for jar in ("flink/lib/flink-dist-*.jar", "jars/beam-runners-flink-*.jar"):
        if not list(software.glob(jar)):
            return f"no {jar} in {software}"
    return "" if shutil.which("java") else "no java"


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A running cluster."""

    beam_flags: tuple[str, ...]
    """What sends a Beam pipeline to it."""
    task_managers: list[subprocess.Popen]
    """The processes that do the work."""
    processes: list[psutil.Process]
    """All of them."""

    def cpu_seconds(self) -> float:
        """Returns the CPU seconds of all processes of the cluster so far, and of their workers."""
        seconds = 0.0
        for process in self.processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                # Those of its children that ended are in its own times.
                everyone = [process, *process.children(recursive=True)]
                seconds += sum(sum(one.cpu_times()[:4]) for one in everyone)
        return seconds


@contextlib.contextmanager
def cluster(
    software: pathlib.Path, folder: pathlib.Path, *, task_managers: int = 2
) -> Iterator[Cluster]:
    """Starts a cluster and ends it.

    Args:
      software: what `benchmarks/flink.sh` has set up.
      folder: a new folder for its logs and temporary files.
      task_managers: how many, a process each; as many tasks run at a time.
    """
    rpc, rest, job, artifacts, expansion, pool = _free_ports(6)
    conf, temporary = folder / "conf", folder / "tmp"
    conf.mkdir(parents=True)
    temporary.mkdir()
    config = CONFIG.format(rpc=rpc, rest=rest, folder=temporary)
    (conf / "config.yaml").write_text(config)
    processes: list[subprocess.Popen] = []

    def start(name: str, *command: str) -> subprocess.Popen:
        output = stack.enter_context((folder / f"{name}.log").open("wb"))
        # Beam's pool starts workers with the `python` that it finds first.
        path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": path},
            start_new_session=True,
        )
        stack.callback(_end, process)
        processes.append(process)
        return process

    def java(name: str, jars: str, main: str, *arguments: str) -> subprocess.Popen:
        log = "-Dorg.apache.logging.log4j.level=INFO"
        return start(name, "java", "-Xmx3g", *OPENS, log, "-cp", jars, main, *arguments)

    def wait() -> None:
        for _ in range(300):
            with contextlib.suppress(OSError):  # a server does not answer yet
                socket.create_connection(("localhost", job), 1).close()
                with urllib.request.urlopen(f"http://localhost:{rest}/overview", timeout=5) as page:
                    if json.load(page)["taskmanagers"] == task_managers:
                        return
            time.sleep(0.2)
        raise TimeoutError(f"Flink did not start within a minute; see the logs in {folder}")

    def flink(name: str, main: str) -> subprocess.Popen:
        main = f"org.apache.flink.runtime.{main}"
        return java(name, f"{software}/flink/lib/*", main, "--configDir", str(conf))

    with contextlib.ExitStack() as stack:
        flink("jobmanager", "entrypoint.StandaloneSessionClusterEntrypoint")
        runner = "taskexecutor.TaskManagerRunner"
        workers = [flink(f"taskmanager{n}", runner) for n in range(task_managers)]
        start("pool", sys.executable, __file__, str(pool))
        java(
            "jobserver",
            f"{software}/jars/*",
            "org.apache.beam.runners.flink.FlinkJobServerDriver",
            *("--job-host=localhost", f"--job-port={job}", f"--artifact-port={artifacts}"),
            *(f"--expansion-port={expansion}", f"--artifacts-dir={temporary}"),
            *(f"--flink-master=localhost:{rest}", f"--flink-conf-dir={conf}"),
        )
        wait()
        flags = (
            *("--runner=PortableRunner", f"--job_endpoint=localhost:{job}"),
            *("--environment_type=EXTERNAL", f"--environment_config=localhost:{pool}"),
            f"--parallelism={task_managers}",
        )
        yield Cluster(flags, workers, [psutil.Process(process.pid) for process in processes])


def serve_workers(port: int) -> None:
    """Starts Python workers on demand, as Beam's own worker pool does, but on loopback."""
    from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc
    from apache_beam.runners.worker import worker_pool_main
    from apache_beam.utils.thread_pool_executor import UnboundedThreadPoolExecutor
    import grpc

    class Pool(worker_pool_main.BeamFnExternalWorkerPoolServicer):
        def StopWorker(self, *_):  # noqa: N802
            # Every task manager numbers its workers from 1, so an id does not say whose worker to
            # stop. A worker ends anyway when its task manager hangs up.
            return beam_fn_api_pb2.StopWorkerResponse()

    server = grpc.server(UnboundedThreadPoolExecutor())
    pool = Pool(use_process=True)
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.add_insecure_port(f"localhost:{port}")
    server.start()
    signal.sigwait([signal.SIGTERM])
    server.stop(0)


def _end(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # the group, because the pool has workers of its own
    process.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


if __name__ == "__main__":
    serve_workers(int(sys.argv[1]))
