// Package coupling lets reduces keep pace with maps, as the Coupling Scheduler does (Tan, Meng, Zhang, Coupling Task
// Progress for MapReduce Resource-Aware Scheduling, INFOCOM 2013). Reduces start gradually as maps end, near the data
// they will fetch. Maps without local data start at random, the more readily the less there is to wait for.
//
// No profile uses wait scheduling: in every mix tried, jobs take as long or longer with it, though a large Sort that
// has the cluster to itself gains a few percent.
//
// The package is for masters that ask for all reduces at once. It knows no fair shares: another policy decides which
// job gets the next map.
//
//	mechanism                file         source          used as
//	map and reduce progress  mismatch.go  Alg. 1          gate for reduces, order of their lane
//	wait scheduling          wait.go      Alg. 2, Eq. 1   place of reduces
//	centrality               central.go   Eq. 1, II-A.2   part of wait scheduling
//	random peeking           peek.go      Alg. 3, Eq. 3   place of maps
//
// Differences from the paper, and why:
//
//	rounds of N heartbeats   Only nodes with a free reduce slot are offered here. A round, in which every node
//	                         reports once, therefore ends when the node that began it is offered again,
//	                         or at the latest after N offers.
//	a node of L refuses      A node that has no room is not offered, so no round ends by line 16.
//	a sample of K nodes      The nodes that hold input of a job are known, so the sample is only used to look for free
//	                         slots, and for input of asks that name more than K hosts while some node is down.
//	one draw a heartbeat     The listing draws for every candidate, but in the text a job skips the heartbeat that
//	                         chance denies it, so a job has one candidate in a heartbeat. See [PeekOptions].
//	a heartbeat of 3 s       If nodes report more often, a draw counts for less: see [Within].
//	drawing for map slots    A slot that a job's draw leaves empty is offered to the next job of the fair order
//	                         in the same heartbeat; the paper's list of candidates is fixed.
//	δ by output              The paper gives only the direction: see [DeltaByOutput].
package coupling
