// Package ikayak is iKayak. It makes room for Spark's large containers among MapReduce's small ones, takes processors
// from reduces that wait for maps, and shrinks maps so that more of them read from their own disk.
//
// It knows applications by what they ask for and report, and nothing of what Spark does inside its executors.
//
// After Cheng, Zhou, Lama, Wu and Jiang, Cross-Platform Resource Scheduling for Spark and MapReduce on YARN, IEEE
// Transactions on Computers, 2017.
//
//	mechanism                     file                           paper            deviation
//	placement of executors        executor.go, executor_books.go Alg. 1, Alg. 2   a node must have enough in every dimension; the one with the most is that
//	                                                                              with the largest dominant share left; a reserved executor takes a node that
//	                                                                              becomes free before unless it is to stay; an executor passed over too long
//	                                                                              may reserve any node, by default none ([ExecutorOptions])
//	remaining time of reduces     remaining.go and those after   Eq. 1 to 6       see there
//	suspension of reduces         suspend.go                     section 3.2      γ is read when it is used, every T: the paper reads it when an application
//	                                                                              arrives, but the new application holds nothing yet
//	shrinking of local maps       shrink.go                      Alg. 3           the size is that of the number of maps accepted in the end; the listing has
//	                                                                              that of one more; β is 1 until 20 maps started
//	remote or shrunk local maps   local.go                       section 3.3      an option: not in the listing
//	SpreadOut, NonSpreadOut       spreadout.go                   section 5.2      baselines; what they reserve when no node has room is our choice
//	YARN-client                   client.go                      section 5.1      a baseline; a gate instead of a deployment of its own
//
// What the paper leaves open is an option: when a reduce counts as waiting for maps, whose γ counts, and whether
// suspended reduces lend memory too ([SuspendOptions]); whether containers shrink in proportion or by what is scarce,
// and from when on β counts ([ShrinkOptions]). The profile serves masters and executors before tasks, since placement
// is "event-driven by any application submissions" (section 4.1). Suspension and shrinking add nothing to the
// paper's mix, and the profile has them off; docs/mechanisms.md says what each gives.
package ikayak
