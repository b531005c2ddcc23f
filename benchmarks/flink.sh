#!/usr/bin/env bash
# Sets up Apache Flink in a folder of its own, builds the generated tree on it with one and
# with two task managers, compares the files with those of a build without Beam, and stops
# everything. Everything listens on loopback alone.
#
#   benchmarks/flink.sh FOLDER [--setup-only | arguments of benchmarks/flink.py]
#
# Needs Java 11 or 17, Maven and pip, and PYTHON (python3) with this package installed. The job
# server is put together from Beam's artifacts: the pom names the newest that could be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
python=${PYTHON:-python3}
flink=1.19.0

if [ ! -e "$folder/flink/lib/flink-dist-$flink.jar" ]; then
  # Only a source archive is published; what counts in it are the jars.
  "$python" -m pip download --quiet --no-deps --dest "$folder" "apache-flink-libraries==$flink"
  mkdir -p "$folder/flink"
  tar -xzf "$folder"/apache-flink-libraries-$flink.tar.gz -C "$folder/flink" \
    --strip-components=2 --wildcards '*/deps/lib/*'
  rm "$folder"/apache-flink-libraries-$flink.tar.gz
fi

if [ ! -d "$folder/jars" ]; then
  cat > "$folder/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>voc-seg-tfrecord</groupId><artifactId>job-server</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.beam</groupId><artifactId>beam-runners-flink-1.19</artifactId>
      <version>2.70.0</version>
    </dependency>
    <dependency>
      <groupId>org.apache.beam</groupId><artifactId>beam-runners-java-job-service</artifactId>
      <version>2.65.0</version>
    </dependency>
  </dependencies>
</project>
POM
  mvn --quiet --batch-mode --file "$folder/pom.xml" dependency:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$folder/jars.part"
  mv "$folder/jars.part" "$folder/jars"
fi

[ "${1:-}" = --setup-only ] || exec "$python" "$here/flink.py" "$folder" "$@"
