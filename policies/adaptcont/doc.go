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
//
// What the package leaves alone: workers, and masters of anything but MapReduce; and masters of jobs of
// which nobody knows how many maps there are, which get what they asked for. It knows nothing of time:
// waves follow each other as if every map lasted as long as every other.
package adaptcont
