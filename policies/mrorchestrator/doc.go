// Package mrorchestrator re-allocates the processors and memory of running maps and reduces every epoch, as
// MROrchestrator does (B. Sharma, R. Prabhakar, S.-H. Lim, M. T. Kandemir and C. R. Das, Technical Report CSE-12-001,
// Pennsylvania State University, 2012).
//
// It knows containers, what they use and how far they have progressed. It knows neither cgroups nor hypervisors, nor
// what a task reads or computes.
//
//	mechanism                              file           source
//	profiles of tasks and of phases        profile.go     III, step 1
//	deficit and hogging against peers      detect.go      III, step 2
//	stragglers by rate, and their cause    detect.go      III, step 2
//	UNIFORM                                uniform.go     III-B-2, Alg. 2, line 4
//	REGRESSION, target finish and α        regression.go  III-A, Eq. 1 and 2, Alg. 2, line 6
//	REGRESSION, use against run time       regression.go  III-B-1, Alg. 2, line 7
//	raise by the difference, lower by it   balance.go     Alg. 1, memory
//	the same by weights                    weights.go     Alg. 1, processors; III-C-1, cpu.shares
//	in step with peers on other nodes      balance.go, weights.go    II-B and III, step 4
//
// Differences from the paper:
//
//   - Peers are tasks of one job in the same step (map; copy, sort, reduce of a reduce): a copying reduce and a writing
//     one do not perform similar operations.
//   - A window is as long as the time between two profiles, so that a tenth of the windows is more than one.
//   - The last 32 memory windows of a task are kept.
//   - A task that uses all the memory it is allocated is in deficit whatever its peers use, and asks for as much more
//     as α allows: what it would use cannot be seen. (peers_only leaves that out.) If its limit is below its size, it
//     asks for its size: its heap was made for that.
//   - A task is raised back to its size before another is raised beyond its own size. A task is raised beyond its size
//     only by room that no waiting container would take. What that takes from neighbours is taken only in step with
//     peers.
//   - Memory is taken only if a neighbour is to have more, and a part of what is used is left above the use: a heap is
//     fixed when its task starts, and a limit below what it holds makes the task swap. The algorithm as printed always
//     lowers every task. (lower_memory, room)
//   - Processors are divided by weights, which change nothing while a processor is idle. A task's part is raised and
//     lowered by the ratio of the estimate to the use in every epoch that finds one, up to a hundred times a
//     container's size either way. It is lowered only for hogs: other tasks can use what a task leaves in any case, and
//     a task that no longer hogs gets the part of its size back. (lower_cpu)
//   - No task is lowered below what it uses or holds unless it hogs.
//   - A map or reduce is one thread: its processors are not raised beyond one core.
//
// On the work of its paper, in a world whose heaps are fixed and whose idle processors are open to every task, its
// control of processors gains a few percent and its control of memory nothing (docs/experiments/mrorchestrator.md). The
// profile mrorchestrator controls processors alone, and no other profile uses the package.
package mrorchestrator
