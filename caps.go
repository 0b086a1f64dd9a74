package heddle

// Caps is the set of things a node can do to containers besides starting and ending them. Nodes of one cluster may
// differ.
type Caps uint16

// The things a node can do.
const (
	// Limits: it runs a container with less than the size its application was told ([Launch]).
	Limits Caps = 1 << iota
	// Resizes: it changes the size of a running container ([Resize]).
	Resizes
	// Lends: it runs more than it offers, so the processors of suspended containers can be lent ([Suspend]).
	Lends
	// Parks: a suspended container gets only what nothing else on the node wants.
	Parks
	// Weighs: it changes a running container's share of busy processors ([Weigh]).
	Weighs
	// Freezes: it can keep a container from running at all for some time ([Suspend]).
	Freezes
	// Bounds: it limits how much of the idle processors a running container may use ([Weigh]).
	Bounds
	// Reclaims: if a container's limit is below the size its application was told, the container's caches shrink to fit
	// the limit.
	Reclaims
	// Elastic: the memory that a process uses follows its container's limit, down and up. No Java virtual machine does
	// that: its heap keeps the size it was started with. The papers' simulations assume it.
	Elastic

	NumCaps = iota // the number of abilities
)

const (
	// Stock is what a NodeManager of Hadoop 3 can do by itself. It accounts for the sizes it is told.
	Stock = Limits | Resizes | Lends
	// AllCaps is the set of all abilities.
	AllCaps Caps = 1<<NumCaps - 1
)

// Has reports whether the set contains all of what.
func (c Caps) Has(what Caps) bool { return c&what == what }

// String returns the names separated by commas, such as "limits, resizes".
func (c Caps) String() string {
	text := ""
	for i, name := range c.Names() {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// Names returns the names of the members of the set, or an empty list if the set is empty.
func (c Caps) Names() []string {
	names := []string{}
	for i, name := range capNames {
		if c.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

var capNames = [NumCaps]string{"limits", "resizes", "lends", "parks", "weighs", "freezes", "bounds", "reclaims", "elastic"}

// CapOf returns the ability with a name as String writes it; ok is false if there is none.
func CapOf(name string) (c Caps, ok bool) {
	for i, n := range capNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}
