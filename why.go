package heddle

// Why is the reason of a refusal: small, so that refusing costs no allocation, and stable, so that a
// metric can count it.
type Why uint8

// The reasons.
const (
	Fine            Why = iota // not refused
	NothingPending             // asks for nothing now
	NoRoom                     // the node has too little free
	NodeTooSmall               // the node could not hold it even when empty
	NodeReserved               // the node is reserved for another application
	NodeExcluded               // the application wants nothing on the node
	NodeGone                   // the node is down
	WaitLocal                  // waiting for a node that holds the data
	WaitRack                   // waiting for a rack that holds the data
	StrictElsewhere            // the ask names other places and none but them
	QueueLimit                 // the queue is at its maximum
	UserLimit                  // the user is at the limit of the queue
	AMLimit                    // masters already hold what the queue gives to masters
	UserAMLimit                // … what the user may have for masters
	AppLimit                   // as many applications run as may
	ShareLimit                 // the policy's share for this application is used up
	GateClosed                 // the policy lets no more of this kind start yet
	NotPicked                  // the policy chose another node
	HoldsBooking               // holds a reservation for this ask elsewhere
	NoSuchQueue                // no such queue, or it has children
	NodeCrowded                // the node's disk or network is busy already
	TooLarge                   // above the largest container the cluster allows
	Silent                     // the node is up and does not report, or is on its way out

	NumWhys = 23
)

var whyNames = [NumWhys]string{
	"fine", "nothing-pending", "no-room", "node-too-small", "node-reserved", "node-excluded", "node-gone",
	"wait-local", "wait-rack", "strict-elsewhere", "queue-limit", "user-limit", "am-limit", "user-am-limit",
	"app-limit", "share-limit", "gate-closed", "not-picked", "holds-booking", "no-queue", "node-crowded", "too-large",
	"node-silent",
}

// String returns the reason's code.
func (w Why) String() string { return whyNames[w] }
