package profile

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// fortyNodes is the cluster of the cases with one kind of application: forty nodes of 8 cores and 16 GiB.
const fortyNodes = `
cluster:
  racks: 2
  uplink_mb_s: 10Gb/s
  nodes:
    - {count: 40, memory: 16GiB, vcores: 8, nic_mb_s: 1Gb/s}
`

// mapReduceOnly has MapReduce jobs of the sizes that clusters report: most are small, and a few hold most of the work.
const mapReduceOnly = `name: mapreduce-only` + fortyNodes + `workload:
  jobs:
    - {id: sort, program: terasort, count: 4, arrival: {poisson: 300s}, input: 80GiB, reduces: 40, user: etl}
    - {id: words, program: wordcount, count: 8, submit: 20s, arrival: {poisson: 150s}, input: 24GiB, reduces: 12, user: etl}
    - {id: report, program: grep, count: 40, submit: 10s, arrival: {poisson: 30s}, input: 1GiB, reduces: 1, user: ann}
    - {id: adhoc, program: wordcount, count: 30, submit: 15s, arrival: {poisson: 40s}, input: 2GiB, reduces: 2, user: bob}
    - {id: estimate, program: pi, count: 8, submit: 30s, arrival: {poisson: 150s}, maps: 32, reduces: 1, user: cy}
`

// sparkOnly has Spark applications whose sizes differ as much.
const sparkOnly = `name: spark-only` + fortyNodes + `workload:
  jobs:
    - id: kmeans
      program: kmeans
      framework: spark
      user: science
      count: 8
      arrival: {poisson: 150s}
      input: 24GiB
      output: 1MiB
      spark: {executors: 24, executor: {memory: 4GiB, vcores: 2}, iterations: 10, cache: true}
    - id: pagerank
      program: pagerank
      framework: spark
      user: science
      count: 6
      submit: 40s
      arrival: {poisson: 200s}
      input: 6GiB
      shuffle: 0.5
      output: 0.05
      spark: {executors: 16, executor: {memory: 6GiB, vcores: 2}, iterations: 6, cache: true, in_memory: 2.0}
    - id: query
      program: index
      framework: spark
      user: search
      count: 50
      submit: 10s
      arrival: {poisson: 25s}
      input: 2GiB
      spark:
        executor: {memory: 2GiB, vcores: 1}
        dynamic: {min: 1, max: 8, initial: 2}
        stages:
          - {reads: hdfs, output: 0.4}
          - {tasks: 8, parents: [0], input: 0.4, output: 0.1}
`

// smallCluster has five nodes that departments share: a few jobs that could fill them, many of one to eight tasks, and
// Spark.
const smallCluster = `name: small-cluster
cluster:
  nodes:
    - {count: 5, memory: 16GiB, vcores: 8, nic_mb_s: 1Gb/s}
workload:
  jobs:
    - {id: sort, program: terasort, count: 4, arrival: {poisson: 300s}, input: 10GiB, reduces: 5, user: etl}
    - {id: words, program: wordcount, count: 8, submit: 20s, arrival: {poisson: 150s}, input: 4GiB, reduces: 3, user: etl}
    - {id: report, program: grep, count: 30, submit: 10s, arrival: {poisson: 40s}, input: 512MiB, reduces: 1, user: ann}
    - {id: adhoc, program: wordcount, count: 20, submit: 15s, arrival: {poisson: 60s}, input: 1GiB, reduces: 1, user: bob}
    - id: kmeans
      program: kmeans
      framework: spark
      user: science
      count: 4
      submit: 60s
      arrival: {poisson: 300s}
      input: 4GiB
      output: 1MiB
      spark: {executors: 4, executor: {memory: 6GiB, vcores: 2}, iterations: 8, cache: true}
    - id: query
      program: index
      framework: spark
      user: search
      count: 16
      submit: 30s
      arrival: {poisson: 75s}
      input: 1GiB
      spark:
        executor: {memory: 2GiB, vcores: 1}
        dynamic: {min: 1, max: 4, initial: 2}
        stages:
          - {reads: hdfs, output: 0.4}
          - {tasks: 4, parents: [0], input: 0.4, output: 0.1}
`

// threeNodes draws jobs by seed, on three nodes that take two tasks and a master each: one to three jobs that fill the
// cluster more than once, some of which have reduces; three to seven of up to four tasks that come after them; up to
// two of Spark.
func threeNodes(seed uint64) (string, error) {
	draw := rand.New(rand.NewPCG(seed, 3))
	from := func(least, most int) int { return least + draw.IntN(most-least+1) }
	const master = "start_up: 2.5s, master: {memory: 1GiB, vcores: 1}"
	var b strings.Builder
	b.WriteString("name: three-nodes\nworld: given\ncluster: {nodes: [{count: 3, memory: 5GiB, vcores: 8}]}\nworkload:\n  jobs:\n")
	job := func(id string, submit, maps, seconds, reduces int) {
		fmt.Fprintf(&b, "    - {id: %s, submit: %ds, maps: %d, map_time: %ds, map: {memory: 2GiB, vcores: 1}, ", id, submit, maps, seconds)
		fmt.Fprintf(&b, "reduces: %d, reduce_time: %ds, reduce: {memory: 2GiB, vcores: 1}, %s}\n", reduces, from(3, 8), master)
	}
	for i := range from(1, 3) {
		job(fmt.Sprintf("large-%d", i), from(0, 6), from(6, 16), from(6, 20), from(0, 3))
	}
	for i := range from(3, 7) {
		job(fmt.Sprintf("small-%d", i), from(4, 60), from(1, 4), from(2, 8), 0)
	}
	for i := range from(0, 2) {
		executors := from(2, 3)
		fmt.Fprintf(&b, "    - {id: spark-%d, framework: spark, submit: %ds, maps: %d, %s, ", i, from(4, 40), 3*executors, master)
		fmt.Fprintf(&b, "spark: {executors: %d, executor: {memory: %dGiB, vcores: 1}, ", executors, 1<<from(0, 2))
		fmt.Fprintf(&b, "stages: [{tasks: %d, task_time: %ds, reads: hdfs}]}}\n", 3*executors, from(2, 5))
	}
	return b.String(), nil
}
