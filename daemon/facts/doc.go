// Package facts finds out about jobs what YARN's protocols do not tell: how far tasks are and what they used, which
// masters tell over REST, and what clients leave beside their submissions. It carries out [rm.AskMaster] and
// [rm.ReadJob] for the machine.
//
// It asks MapReduce masters for tasks, task attempts, counters and heap usage, and Spark drivers for executors and
// stages. Masters are not trusted: they are reached as the proxy reaches them ([proxy.Way]), with bounds on time, bytes
// and numbers, and one malformed part makes the whole answer invalid.
//
// Beside a submission lie the splits and the configuration of a MapReduce job, or the configuration of a Spark
// application. The client chooses where they lie, so the package reads only from the cluster's own HDFS, with the
// rights of the submitting user. HDFS has to trust the user names that callers give
// (hadoop.security.authentication=simple): from an HDFS with Kerberos nothing is read.
//
// The package does not know when to ask, or what becomes of the answers.
package facts
