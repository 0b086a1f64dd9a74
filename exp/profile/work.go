package profile

// Forty nodes of 8 cores and 16 GiB: what a case of one kind of application runs on.
const fortyNodes = `
cluster:
  racks: 2
  uplink_mb_s: 10Gb/s
  nodes:
    - {count: 40, memory: 16GiB, vcores: 8, nic_mb_s: 1Gb/s}
`

// mapReduceOnly are MapReduce jobs of the sizes that clusters report: most small, a few that hold most of the work.
const mapReduceOnly = `name: mapreduce-only` + fortyNodes + `workload:
  jobs:
    - {id: sort, program: terasort, count: 4, arrival: {poisson: 300s}, input: 80GiB, reduces: 40, user: etl}
    - {id: words, program: wordcount, count: 8, submit: 20s, arrival: {poisson: 150s}, input: 24GiB, reduces: 12, user: etl}
    - {id: report, program: grep, count: 40, submit: 10s, arrival: {poisson: 30s}, input: 1GiB, reduces: 1, user: ann}
    - {id: adhoc, program: wordcount, count: 30, submit: 15s, arrival: {poisson: 40s}, input: 2GiB, reduces: 2, user: bob}
    - {id: estimate, program: pi, count: 8, submit: 30s, arrival: {poisson: 150s}, maps: 32, reduces: 1, user: cy}
`

// sparkOnly are Spark applications of as different sizes.
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
