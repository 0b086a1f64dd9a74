package heddle

// Why is the reason for a refusal: small, so that refusing costs no allocation, and stable, so that metrics can count
// it.
type Why uint8

// The reasons.
const (
	Fine            Why = iota // not refused
	NothingPending             // asks for nothing at present
	NoRoom                     // the node has too little free
	NodeTooSmall               // the node could not hold it even when empty
	NodeReserved               // the node is reserved for another request
	NodeExcluded               // the application wants nothing on the node
	NodeGone                   // the node is down
	WaitLocal                  // waiting for a node that holds the data
	WaitRack                   // waiting for a rack that holds the data
	StrictElsewhere            // the ask names other places and allows no others
	QueueLimit                 // the queue is at its maximum
	UserLimit                  // the user is at the limit of the queue
	AMLimit                    // masters already hold all that the queue allows for masters
	UserAMLimit                // … all that the user may have for masters
	AppLimit                   // the maximum number of applications is already running
	ShareLimit                 // the policy's share for this application is used up
	GateClosed                 // the policy does not let more of this kind start yet
	NotPicked                  // the policy chose another node
	HoldsBooking               // holds a reservation for this ask elsewhere
	NoSuchQueue                // no such queue, or it has children
	NodeCrowded                // the node's disk, network or processors are already busy
	TooLarge                   // above the largest container the cluster allows
	Silent                     // the node is up but does not report, has yet to do so, or is being decommissioned

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
