"""What the processes of `flink_cluster` are started with."""

# Flink's own list for Java 17, as far as Beam's jobs need it.
OPENS = tuple(
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        *("java.lang", "java.lang.reflect", "java.net", "java.io", "java.text", "java.time"),
        *("java.util", "java.util.concurrent", "java.util.concurrent.atomic", "sun.net.util"),
        *("java.util.concurrent.locks", "java.nio", "sun.nio.ch"),
    )
)

# Every size is given, since Flink's start scripts, which would work them out, are not there.
CONFIG = """\
jobmanager.rpc.address: localhost
jobmanager.rpc.port: {rpc}
jobmanager.bind-host: localhost
rest.address: localhost
rest.bind-address: localhost
rest.port: {rest}
taskmanager.host: localhost
taskmanager.bind-host: localhost
taskmanager.numberOfTaskSlots: {slots}
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

LOG = """\
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
appender.console.name = console
appender.console.type = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %-5p %c{1} %m%n
"""
