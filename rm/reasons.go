package rm

import "heddle"

// A Reason is a [heddle.Why] in words: about an ask as a whole, about one node and about several.
type Reason struct{ Ask, Node, Nodes string }

// ReasonOf returns the words for a reason's code; ok is false for an unknown code.
func ReasonOf(code string) (r Reason, ok bool) {
	for w := range reasons {
		if heddle.Why(w).String() == code {
			return reasons[w], true
		}
	}
	return Reason{}, false
}

var reasons = [heddle.NumWhys]Reason{
	heddle.Fine:           {"the reason differs from node to node", "would take one when it next reports in", "would take one when they next report in"},
	heddle.NothingPending: {"it has no requests now", "is not asked for", "are not asked for"},
	heddle.NoRoom:         {"no node has room for one", "has too little free", "have too little free"},
	heddle.NodeTooSmall:   {"no node could hold one even when empty", "could not hold one even when empty", "could not hold one even when empty"},
	heddle.NodeReserved:   {"the nodes are reserved for other requests", "is reserved for another request", "are reserved for other requests"},
	heddle.NodeExcluded:   {"every node is on the application's blacklist", "is on the application's blacklist", "are on the application's blacklist"},
	heddle.NodeGone:       {"no node is up", "is down", "are down"},
	heddle.WaitLocal:      {"it waits for a node that holds its data", "is passed over for one that holds its data", "are passed over for one that holds its data"},
	heddle.WaitRack:       {"it waits for a rack that holds its data", "is passed over for a rack that holds its data", "are passed over for a rack that holds its data"},
	heddle.StrictElsewhere: {
		"it accepts only the nodes and racks that it names, and none of them is available",
		"is not among the nodes and racks that it names", "are not among the nodes and racks that it names",
	},
	heddle.QueueLimit:   {"its queue is at its maximum", "is closed to its queue", "are closed to its queue"},
	heddle.UserLimit:    {"its user is at the limit of the queue", "is closed to its user", "are closed to its user"},
	heddle.AMLimit:      {"masters hold all that the queue gives to masters", "may hold no more masters", "may hold no more masters"},
	heddle.UserAMLimit:  {"its user's masters hold all that a user may have for masters", "may hold no more masters of this user", "may hold no more masters of this user"},
	heddle.AppLimit:     {"the limit of running applications is reached", "may run no more applications", "may run no more applications"},
	heddle.ShareLimit:   {"the policy's share for it is used up", "is outside of its share", "are outside of its share"},
	heddle.GateClosed:   {"the policy lets no more of this kind start yet", "may start no more of this kind yet", "may start no more of this kind yet"},
	heddle.NotPicked:    {"the policy chose other nodes", "was not chosen by the policy", "were not chosen by the policy"},
	heddle.HoldsBooking: {"it has a reservation, and waits until there is room", "is reserved for it", "are reserved for it"},
	heddle.NoSuchQueue:  {"its queue does not exist, or is not a leaf queue", "is closed to it", "are closed to it"},
	heddle.Silent: {
		"every node is silent, has just registered or is about to leave",
		"is silent, has just registered or is about to leave", "are silent, have just registered or are about to leave",
	},
	heddle.NodeCrowded: {"disks, networks or processors are busy already", "is crowded: its disk, network or processors are busy already", "are crowded: their disks, networks or processors are busy already"},
	heddle.TooLarge:    {"one is larger than the largest container that the cluster allows", "cannot take a container this large", "cannot take containers this large"},
}
