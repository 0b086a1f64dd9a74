// Package adaptcont sizes the container of a MapReduce application's master by the waves of workers that the master
// will manage (Memishi, Pérez, Antoniu: Feedback-Based Resource Allocation in MapReduce-Based Systems, Scientific
// Programming 2016).
//
//	mechanism                    file          source                    deviation
//	input generation             input.go      2.1, 3.2                  maps are counted from the job's facts, or from its input and the split size
//	constraint filtering         constrain.go  2.2, 3.2, 4.1             a user's limit bounds the wave, not the queue's waves
//	wave by queue discipline     decide.go     4.2, Fig. 5               whole waves are skipped, with the same result
//	memory and processors        decide.go     3.2, 4.2                  Options.UnitTasks: a master of many tasks is not made smaller than they need
//	pool of masters              pool.go       2.4, 4.2                  none
//	feedback                     adaptcont.go  2, Fig. 1, 4.1            a running master is only enlarged unless Options.Shrink says otherwise
//	memory of an MRAppMaster     heap.go       none                      all of it: the paper does not cover a master's process
//
// The paper's masters have memory, and serve more or fewer workers as they get more or less of it. A real master is a
// process with a Java heap of a fixed size; its metaspace, code and threads take 150 to 190 MiB beside it. The heap
// keeps the size it was started with and does not follow its container. So if some node is not [heddle.Elastic], the
// mechanism differs from the paper's as follows:
//
//   - The heap is cut to the container when the master starts. A master whose command does not allow that is left
//     alone.
//   - The paper's smallest container, 256 MiB, has 80 MiB of heap. As long as nothing is measured, a master has
//     Options.Least.
//   - The measured need of the last master of the same user and name counts instead of the wave, with room to spare:
//     live objects grow with tasks, not with how many of them run at once.
//   - A master that fails in a cut heap is followed by one with the size that was asked for, and so is the next of that
//     name.
//   - No master is larger than what was asked for. The paper enlarges masters that a user made too small; here their
//     size is the user's choice.
//   - Running masters are left as they are. Sizes are revised as long as masters wait.
//
// The package leaves alone workers, masters of anything but MapReduce, and masters of jobs whose number of maps is
// unknown, which get what they asked for. It knows nothing of time: waves follow each other as if all maps took equally
// long.
package adaptcont
