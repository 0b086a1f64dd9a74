// Package adaptcont sizes the container of a MapReduce application's master to the waves of workers the
// master will have to look after (Memishi, Pérez, Antoniu: Feedback-Based Resource Allocation in
// MapReduce-Based Systems, Scientific Programming 2016).
//
//	mechanism                    file          source                    deviation
//	input generation             input.go      2.1, 3.2                  maps are counted from the job's facts, or from its input and the split size
//	constraint filtering         constrain.go  2.2, 3.2, 4.1             a user's limit bounds the wave, not the queue's waves
//	wave by queue discipline     decide.go     4.2, Fig. 5               whole waves are skipped over, with the same result
//	memory and processors        decide.go     3.2, 4.2                  Options.UnitTasks: a master of many tasks is not made smaller than they need
//	pool of masters              pool.go       2.4, 4.2                  none
//	feedback                     adaptcont.go  2, Fig. 1, 4.1            a running master is only enlarged unless Options.Shrink says otherwise
//	what an MRAppMaster takes    heap.go       none                      all of it: the paper has nothing of a master's process
//
// The paper's masters have memory, and as they are given more or less of it they serve more or fewer workers. A real
// one is a process with a Java heap of a size, and with metaspace, code and threads beside it that take 150 to 190 MiB. Its
// heap is as large as it was started and does not follow its container. So where some node is not [heddle.Elastic] the
// mechanism differs from the paper's in these:
//
//   - The heap is cut to the container as the master starts. A master whose command does not let it is left alone.
//   - The paper's least container, 256 MiB, has 80 MiB of heap. As long as nothing is measured a master has Options.Least.
//   - What the last master of the same user and name was measured to take counts instead of the wave, with room to spare:
//     live objects grow with tasks, not with how many of them run at once.
//   - A master that fails in a cut heap is followed by one with what was asked for, and so is the next of that name.
//   - Nothing is above what was asked for. The paper enlarges masters that a user made too small; here they are the user's.
//   - Running masters are left as they are. Sizes are revised as long as they wait.
//
// What the package leaves alone: workers, and masters of anything but MapReduce; and masters of jobs of
// which nobody knows how many maps there are, which get what they asked for. It knows nothing of time:
// waves follow each other as if every map lasted as long as every other.
package adaptcont
