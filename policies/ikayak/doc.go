// Package ikayak is iKayak: it makes room for Spark's large containers among MapReduce's small ones, takes
// processors from reduces that wait for maps, and shrinks maps so that more of them read from their own disk.
//
// It knows applications by what they ask for and report, and nothing of what Spark does inside its executors.
//
// After Cheng, Zhou, Lama, Wu and Jiang, Cross-Platform Resource Scheduling for Spark and MapReduce on YARN,
// IEEE Transactions on Computers, 2017.
//
//	mechanism                           file                          paper                  otherwise than there
//	executor placement                  executor.go, executor_books.go  Alg. 1, Alg. 2       several dimensions: enough is enough in each, and
//	                                                                                         the most is the largest dominant share of what is left;
//	                                                                                         a reserved executor still takes a node that becomes free first
//	remaining time of reduces           remaining.go and beside it    Eq. 1 to 6, Fig. 9
//	suspension of reduces               suspend.go                    section 3.2            γ is read every T, when it is used; at the arrival of an
//	                                                                                         application, where the paper has it, the newcomer holds nothing yet
//	shrinking of local maps             shrink.go                     Alg. 3, section 3.3    the size is that of the number of maps accepted in the
//	                                                                                         end; β is 1 until 20 maps ran
//	YARN-client, a baseline             client.go                     section 5.1            a gate in place of a deployment of its own
//
// What the paper leaves open is an option: when a reduce counts as waiting for maps ([SuspendOptions]),
// whether containers shrink in proportion or by what is scarce, and from when on β counts ([ShrinkOptions]).
package ikayak
