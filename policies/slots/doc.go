// Package slots orders jobs as the fair scheduler of Hadoop 0.20 does on a cluster of fixed map and
// reduce slots: whoever holds the fewest slots of a kind against its weight goes first.
//
// It knows nothing of memory, processors or places. How many slots a node has is a lane's per_node or per_vcore; when
// reduces may start and how long maps wait for their data are policies of their own.
//
//	mechanism                                      file      source
//	fair sharing of one kind's slots among jobs    slots.go  Hadoop 0.20 and 0.21, SchedulingAlgorithms.FairShareComparator
//
// What differs from Hadoop: jobs share one pool, as they do with one user and no pools set up, so there
// are no minimum shares and nothing is preempted.
package slots
