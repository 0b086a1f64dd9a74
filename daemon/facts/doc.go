// Package facts finds out what is known of jobs beside YARN's protocols: how far tasks are and what they used, which
// masters tell over REST, and what clients leave beside their submissions. It does what the machine wants done with
// [rm.AskMaster] and [rm.ReadJob].
//
// MapReduce masters are asked for their tasks, their attempts and counters, and for what their heap holds; Spark drivers
// for executors and stages. Masters are strangers: they are reached as by the proxy ([proxy.Way]), with bounds on time,
// bytes and numbers, and whatever of an answer is not as it should be takes the whole answer with it.
//
// Beside a submission lie the splits and the configuration of a MapReduce job, or that of a Spark application. Their places
// are the client's to name, so nothing is read but the cluster's own HDFS, with the rights of the user who submitted. HDFS
// has to take callers at their word (hadoop.security.authentication=simple): of one with Kerberos nothing is read.
//
// The package knows nothing of when to ask, or of what becomes of the answers.
package facts
