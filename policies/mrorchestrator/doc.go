// Package mrorchestrator re-allocates the processors and memory of running maps and reduces every epoch,
// as MROrchestrator does (B. Sharma, R. Prabhakar, S.-H. Lim, M. T. Kandemir and C. R. Das, Technical
// Report CSE-12-001, Pennsylvania State University, 2012).
//
// It knows containers, what they use and how far they are. It knows neither cgroups nor hypervisors, and
// not what a task reads or computes.
//
//	mechanism                              file           source
//	profiles of tasks and of phases        profile.go     III, step 1
//	deficit and hogging against peers      detect.go      III, step 2
//	stragglers by rate, and their cause    detect.go      III, step 2
//	UNIFORM                                uniform.go     III-B-2, Alg. 2, line 4
//	REGRESSION, target finish and α        regression.go  III-A, Eq. 1 and 2, Alg. 2, line 6
//	REGRESSION, use against run time       regression.go  III-B-1, Alg. 2, line 7
//	raise by the difference, lower by it   balance.go     Alg. 1
//	in step with peers on other nodes      balance.go     II-B and III, step 4
//
// What differs from the paper:
//
//   - Peers are tasks of one job in the same step (map; copy, sort, reduce of a reduce): a copying reduce
//     and a writing one do not perform similar operations.
//   - Windows are as long as profiles are apart, so that a tenth of them is more than one.
//   - The memory windows kept of a task are the last 32.
//   - What a raise needs is taken from the node's free room first; only what is taken from neighbours must be
//     in step.
//   - Nobody's processors are lowered to below what it uses unless it hogs, nor its memory to below what it
//     holds: a cap below use costs more than it gives where processors are shared by whoever has work.
//   - A map or reduce is one thread: its processors are not raised beyond one core.
package mrorchestrator
