package heddle

// A Decision is something to be done. The set of types is closed; the values are pointers into the core's own buffers,
// valid until its next Step.
//
//sumtype:decl
type Decision interface{ decision() }

type (
	// Admit says that an application was accepted.
	Admit struct{ App AppID }

	// Reject says that an application was not accepted, that an ask of it was not, or that it was not moved, and why.
	Reject struct {
		App AppID
		Why Why
	}

	// Launch grants a container. The application is told the size Told; the node enforces Limit. They differ if a
	// policy shrinks a container: a stock ApplicationMaster refuses a container smaller than it asked for, so
	// containers are shrunk without its knowledge.
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

	// Adopt answers a Found event: the container is held under this id from now on.
	Adopt struct {
		Container ContainerID
		Ref       int64 // as in Found
	}

	// Book reserves a node for an ask that will fit once the node is emptier.
	Book struct {
		Container ContainerID
		App       AppID
		Node      NodeID
	}

	// Unbook gives up a reservation.
	Unbook struct {
		Container ContainerID
		App       AppID
		Node      NodeID
	}

	// Resize changes what a node enforces for a running container. By is the policy that wants it, as slot and name in
	// the profile; it is "" if no policy of the profile wants it, or its name is not known.
	Resize struct {
		Container ContainerID
		Limit     Resource
		By        string
	}

	// Weigh changes a running container's share of a busy processor relative to others on its node; idle processors
	// stay open to every container. The weight is in milli-vcores. The weight of a container that was never weighed is
	// its told size or its limit, whichever is larger. An agent writes it as cpu.shares (1024 for 1000) or cpu.weight
	// (100 for 1000). The books do not change. A node that can bound the container keeps it from using more than Bound
	// thousandths of a processor even if others are idle; 0 means no bound. By is as in Resize.
	Weigh struct {
		Container ContainerID
		Weight    int64
		Bound     int64
		By        string
	}

	// Suspend makes a container yield its processors, which are lent out; it keeps its memory. A node that can park the
	// container keeps it from using them meanwhile; on any other node it goes on running beside the borrowers. With
	// Freeze, a node that [Freezes] does not run it at all, for at most that long. By is as in Resize.
	Suspend struct {
		Container ContainerID
		Freeze    Span // 0 for no freeze
		By        string
	}

	// Resume ends a suspension. By is as in Resize.
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
