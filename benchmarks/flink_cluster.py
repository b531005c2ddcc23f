"""A small Apache Flink cluster on this machine, and Beam's job server for it.

What it is made of is put into a folder by `benchmarks/flink.sh`: `flink/lib` with Flink's jars
and `jars` with Beam's. Everything listens on the loopback address alone, and is ended with the
`with` block.
"""

from collections.abc import Callable, Iterator, Sequence
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from flink_config import CONFIG, LOG, OPENS
import psutil


def missing(folder: pathlib.Path) -> str:
    """Returns what a cluster lacks in this folder, in words. Empty if it can be started."""
    if subprocess.run(["which", "java"], capture_output=True).returncode:
        return "no java"
    for jar in ("flink/lib/flink-dist-*.jar", "jars/beam-runners-flink-*.jar"):
        if not list(folder.glob(jar)):
            return f"no {jar} in {folder}"
    return ""


class Cluster:
    """A running cluster.

    Attributes:
      beam_flags: the flags that send a Beam pipeline to it.
      task_managers: the processes that do the work.
    """

    def __init__(
        self,
        software: pathlib.Path,
        folder: pathlib.Path,
        task_managers: int,
        slots: int,
        parallelism: int,
        stack: contextlib.ExitStack,
    ):
        self._software = software
        self._folder = folder
        self._stack = stack
        self._processes: list[psutil.Process] = []
        rpc, rest, job, artifacts, expansion, pool = _free_ports(6)
        (folder / "conf").mkdir(parents=True)
        (folder / "tmp").mkdir()
        config = CONFIG.format(
            rpc=rpc,
            rest=rest,
            slots=slots,
            folder=folder / "tmp",
        )
        (folder / "conf" / "config.yaml").write_text(config)
        (folder / "log4j.properties").write_text(LOG)
        self._rest = f"http://localhost:{rest}"
        runtime = "org.apache.flink.runtime"
        self._flink("jobmanager", f"{runtime}.entrypoint.StandaloneSessionClusterEntrypoint")
        self.task_managers = [
            self._flink(f"taskmanager{n}", f"{runtime}.taskexecutor.TaskManagerRunner")
            for n in range(task_managers)
        ]
        pool_command = [sys.executable, __file__, str(pool)]
        # The pool starts workers with the `python` that it finds first.
        path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._start("pool", pool_command, env={**os.environ, "PATH": path})
        self._java(
            "jobserver",
            [f"{software}/jars/*", f"{software}/flink/lib/log4j-*.jar"],
            "org.apache.beam.runners.flink.FlinkJobServerDriver",
            *("--job-host=localhost", f"--job-port={job}", f"--artifact-port={artifacts}"),
            *(f"--expansion-port={expansion}", f"--artifacts-dir={folder / 'tmp'}"),
            f"--flink-master=localhost:{rest}",
            f"--flink-conf-dir={folder / 'conf'}",
        )
        _wait_for(lambda: self._get("/overview")["taskmanagers"] == task_managers, "task managers")
        _wait_for(lambda: _listens(job), "job server")
        self.beam_flags = (
            *("--runner=PortableRunner", f"--job_endpoint=localhost:{job}"),
            *("--environment_type=EXTERNAL", f"--environment_config=localhost:{pool}"),
            f"--parallelism={parallelism}",
        )

    def cpu_seconds(self) -> float:
        """Returns the CPU seconds of all processes of the cluster so far, and of their workers."""
        return sum(_cpu(process) for process in self._processes)

    def _get(self, path: str):
        with urllib.request.urlopen(self._rest + path, timeout=5) as answer:
            return json.load(answer)

    def _flink(self, name: str, main: str) -> subprocess.Popen:
        classpath = [f"{self._software}/flink/lib/*"]
        return self._java(name, classpath, main, "--configDir", str(self._folder / "conf"))

    def _java(self, name: str, classpath: Sequence[str], main: str, *args: str):
        log = f"-Dlog4j.configurationFile={self._folder / 'log4j.properties'}"
        command = ["java", "-Xmx3g", *OPENS, log, "-cp", os.pathsep.join(classpath), main, *args]
        return self._start(name, command)

    def _start(self, name: str, command: Sequence[str], env=None) -> subprocess.Popen:
        output = self._stack.enter_context((self._folder / f"{name}.log").open("wb"))
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=env, start_new_session=True
        )
        self._stack.callback(_end, process)
        self._processes.append(psutil.Process(process.pid))
        return process


@contextlib.contextmanager
def cluster(
    software: pathlib.Path,
    folder: pathlib.Path,
    *,
    task_managers: int = 2,
    slots: int = 1,
    parallelism: int = 2,
) -> Iterator[Cluster]:
    """Starts a cluster and ends it.

    Args:
      software: what `benchmarks/flink.sh` has set up.
      folder: a new folder for its logs and temporary files.
      task_managers: how many, a process each.
      slots: how many tasks each may run at a time.
      parallelism: how many tasks run at a time; at most as many as there are slots.

    Yields:
      The cluster, ready to take jobs.
    """
    with contextlib.ExitStack() as stack:
        yield Cluster(software, folder, task_managers, slots, parallelism, stack)


def serve_workers(port: int) -> None:
    """Starts Python workers on demand, as Beam's own worker pool does, but on loopback."""
    from apache_beam.portability.api import beam_fn_api_pb2, beam_fn_api_pb2_grpc
    from apache_beam.runners.worker import worker_pool_main
    from apache_beam.utils.thread_pool_executor import UnboundedThreadPoolExecutor
    import grpc

    class Pool(worker_pool_main.BeamFnExternalWorkerPoolServicer):
        def StopWorker(self, *_):  # noqa: N802
            # Every task manager numbers its workers from 1, so with two of them on one
            # machine an id does not say whose worker to stop. A worker ends anyway when
            # its task manager hangs up.
            return beam_fn_api_pb2.StopWorkerResponse()

    server = grpc.server(UnboundedThreadPoolExecutor())
    pool = Pool(use_process=True)
    beam_fn_api_pb2_grpc.add_BeamFnExternalWorkerPoolServicer_to_server(pool, server)
    server.add_insecure_port(f"localhost:{port}")
    server.start()
    signal.sigwait([signal.SIGTERM])
    server.stop(0)


def _end(process: subprocess.Popen) -> None:
    # The group, because the pool has workers of its own.
    for how in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, how)
            process.wait(5)


def _cpu(process: psutil.Process) -> float:
    """Returns the CPU seconds of a process, of its children that ended, and of those that run."""
    try:
        children = process.children(recursive=True)
        return sum(sum(one.cpu_times()[:4]) for one in (process, *children))
    except psutil.NoSuchProcess:
        return 0.0


def _wait_for(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if condition():
                return
        time.sleep(0.2)
    raise TimeoutError(f"Flink: no {what} after {seconds} seconds; see the logs")


def _listens(port: int) -> bool:
    with socket.create_connection(("localhost", port), 1):
        return True


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("localhost", 0))
        return [one.getsockname()[1] for one in sockets]


if __name__ == "__main__":
    serve_workers(int(sys.argv[1]))
