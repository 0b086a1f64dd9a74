package heddle

// A Decision is something to be done. The set is closed; the values are pointers into the core's own
// buffers, valid until its next Step.
//
//sumtype:decl
type Decision interface{ decision() }

type (
	// Admit says that an application was taken in.
	Admit struct{ App AppID }

	// Reject says that an application was not taken in, an ask of it not, or that it was not moved, and why.
	Reject struct {
		App AppID
		Why Why
	}

	// Launch grants a container. The application is told Told; the node enforces Limit. They differ
	// where a policy shrinks a container: a stock master refuses one smaller than it asked for, so
	// shrinking happens below it.
	Launch struct {
		Container   ContainerID
		App         AppID
		Node        NodeID
		Kind        Kind
		Priority    int32 // of the ask it answers
		AllocID     int64
		At          Locality
		Told, Limit Resource
	}

	// Adopt answers a container that was found running: it is held under this id from now on.
	Adopt struct {
		Container ContainerID
		Ref       int64 // as in Found
	}

	// Book reserves a node for an ask that fits it when it is emptier.
	Book struct {
		Container ContainerID
		App       AppID
		Node      NodeID
	}

	// Unbook gives a reservation up.
	Unbook struct {
		Container ContainerID
		App       AppID
		Node      NodeID
	}

	// Resize changes what a node enforces for a running container. By is the policy that wants it, as slot and name in the
	// profile; it is "" where no policy of the profile does, or its name is not known.
	Resize struct {
		Container ContainerID
		Limit     Resource
		By        string
	}

	// Weigh changes a running container's part of a busy processor against others of its node; idle processors stay
	// open to everybody. The weight is in milli-vcores; a container that was never weighed has what it was told or is
	// limited to, whichever is more. An agent writes it as cpu.shares (1024 for 1000) or cpu.weight (100 for 1000).
	// Nobody's books change. A node that can bound it has it use no more than Bound thousandths of a processor even where
	// others are idle; 0 is no bound. By is as of Resize.
	Weigh struct {
		Container ContainerID
		Weight    int64
		Bound     int64
		By        string
	}

	// Suspend has a container yield its processors, which are lent out; its memory stays. A node that can park it keeps it
	// from using them meanwhile; on another it goes on, beside who borrowed them. With Freeze its node [Freezes], and it
	// does not run at all for so long at the most. By is as of Resize.
	Suspend struct {
		Container ContainerID
		Freeze    Span // 0 for not
		By        string
	}

	// Resume ends that. By is as of Resize.
	Resume struct {
		Container ContainerID
		By        string
	}

	// Kill ends a container.
	Kill struct {
		Container ContainerID
		Status    ExitStatus
	}
)

func (*Admit) decision()   {}
func (*Reject) decision()  {}
func (*Launch) decision()  {}
func (*Adopt) decision()   {}
func (*Book) decision()    {}
func (*Unbook) decision()  {}
func (*Resize) decision()  {}
func (*Weigh) decision()   {}
func (*Suspend) decision() {}
func (*Resume) decision()  {}
func (*Kill) decision()    {}
