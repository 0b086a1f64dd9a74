// Package slots orders jobs as the fair scheduler of Hadoop 0.20 does on a cluster of fixed map and reduce slots: the
// job with the fewest slots of a kind relative to its weight goes first.
//
// It knows nothing of memory, processors or places. A lane's per_node or per_vcore sets how many slots a node has.
// Other policies decide when reduces may start and how long maps wait for their data.
//
//	mechanism                                      file      source
//	fair sharing of one kind's slots among jobs    slots.go  Hadoop 0.20 and 0.21, SchedulingAlgorithms.FairShareComparator
//
// It differs from Hadoop in that jobs share one pool, as they do with one user and no pools set up. So there are no
// minimum shares and nothing is preempted.
package slots
