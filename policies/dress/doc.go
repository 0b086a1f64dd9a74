// Package dress is DRESS, a dynamic resource reservation scheme. It puts jobs into categories by how much they ask for
// at once and reserves a part of the cluster for each category. It moves the parts by what waits and by what running
// jobs are about to give back (Mao et al., DRESS: Dynamic RESource-reservation Scheme for Congested Data-intensive
// Computing Platforms).
//
// It knows nothing of nodes or of how long work takes. Of queues it only knows which applications share a leaf. Inside
// a category, applications follow the order of the queues, or the profile's order.
//
// Where each mechanism is, with the paper's names:
//
//	mechanism                      file          paper            deviation
//	a job's demand, known when     demand.go     I, IV-C          if its facts do not say it, the larger of the last two
//	it is submitted                                               runs' of the same user and name, else the reserve is
//	                                                              kept while it starts
//	categories SD, LD, … by θ      classify.go   IV-C             R is the cluster's total by default (classify_against);
//	                                                              few containers are small in any cluster (few)
//	starting variation Δps         phase.go      Alg. 1           "no growth" is ≤ 0; the listing has = 0
//	starting release time γ        phase.go      Alg. 2           γ leaves heading tasks out by default (gamma)
//	release estimate p, f, F       release.go    Eq. 1, 5, 9      expected in the look-ahead by default (estimate);
//	                                                              off by default (release)
//	reserve ratio δ                ratio.go      Alg. 3           corrected listing; δ bounded; more categories; room that
//	                                                              is too little for a whole job is lent for a container (lend)
//	when δ is adjusted             interval.go   IV-C             each interval, and at once for what comes free (prompt)
//	which job begins               begin.go      Alg. 3, V-B      only large jobs wait, by queue, and not behind each other for
//	                                                              ever; one that asks for more than half of their part begins
//	                                                              in parts
//	order of the categories        order.go      –                the smaller first, up to its part of what a leaf holds
//	reservation                    dress.go      III              a category passed over too long may start one container
//
// Amounts. The paper counts containers of one size. YARN's differ, so everything that Alg. 3 adds up is a part of the
// cluster, by the dimension that is used most: with equal containers, that is the count over Tot_R. The thresholds t_s
// and t_e count containers in a cluster that has room for a hundred, like the paper's; in a smaller one they are fewer
// in proportion. A master counts as part of its job's demand and towards its category. A job of which only its request
// for a master is known is small. Masters belong to no phase: they last as long as the job.
//
// A job's demand counts in P from its submission, not from its master's first request: a master takes half a minute to
// start, and in that time jobs that want much would take everything. It counts until the master has run for the patience
// that the options give: one that asks for nothing by then is no longer waited for. If the master fails, what the job asked
// for counts again while the next one starts. Facts are trusted: if a master asks for more than they say, its job stays
// in its category, since a master that was just given containers asks for them once more.
//
// Corrections of Alg. 3 as printed: line 14 adds F_2 to A_c2, not F_1; "fits" is ≥ and not >; the loops begin with the
// first job; line 20 takes r_j; line 21 continues from the first small job that did not fit.
//
// No category waits for ever behind a reserve. A category without a running task may start one container an interval,
// whatever its part is, if no other category runs a task either, or if it has waited for the patience that the options
// give it; the others leave room for it. The paper has no such rule. With δ at 0 and a large category that takes
// whatever is freed, a small job would wait until the large category has nothing left to ask for. Reduces do not count
// as running while maps of their job wait for containers, nor do reservations.
package dress
