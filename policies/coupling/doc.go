// Package coupling lets reduces keep pace with maps, as the Coupling Scheduler does (Tan, Meng, Zhang,
// Coupling Task Progress for MapReduce Resource-Aware Scheduling, INFOCOM 2013): reduces start gradually
// as maps end, near the data they will fetch, and maps without local data start at random, the more
// readily the less there is to wait for.
//
// No profile uses wait scheduling: in every mix tried jobs take as long or longer with it, though a large Sort that has
// the cluster for itself gains a few percent.
//
// It is for masters that ask for all reduces at once. It knows no fair shares: who gets the next map is
// another policy's business.
//
//	mechanism                file         source          used as
//	map and reduce progress  mismatch.go  Alg. 1          gate of reduces, order of their lane
//	wait scheduling          wait.go      Alg. 2, Eq. 1   place of reduces
//	centrality               central.go   Eq. 1, II-A.2   by wait
//	random peeking           peek.go      Alg. 3, Eq. 3   place of maps
//
// What differs from the paper, and why:
//
//	rounds of N heartbeats   Only nodes with a free reduce slot are offered here. A round, in which every node
//	                         reports once, therefore ends when the node that began it is offered again,
//	                         or at the latest after N offers.
//	a node of L refuses      A node that has no room is not offered, so that no round ends by line 16.
//	a sample of K nodes      The books say how many nodes hold input of a job, so that only free slots are
//	                         looked for in the sample.
//	one draw a heartbeat     The listing draws for every candidate, and the text has a job skip the heartbeat that
//	                         chance denies it: a job has one candidate in a heartbeat. See [PeekOptions].
//	a heartbeat of 3 s       Where nodes report sooner, a draw counts for less: see [Within].
//	drawing for map slots    A slot that a job's draw leaves empty is offered to the next job of the fair order
//	                         in the same heartbeat, where the paper's list of candidates is fixed.
//	δ by output              The paper names the direction only: see [DeltaByOutput].
package coupling
