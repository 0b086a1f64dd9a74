package heddle

// Caps is what a node can do to containers beside starting and ending them: a set. Nodes of one cluster may differ.
type Caps uint16

// What a node can do.
const (
	// Limits: it runs a container in less than its application was told ([Launch]).
	Limits Caps = 1 << iota
	// Resizes: it changes the size of a running container ([Resize]).
	Resizes
	// Lends: it runs more than it offers, so that the processors of suspended containers can be lent ([Suspend]).
	Lends
	// Parks: a suspended container gets only what nobody else on the node wants.
	Parks
	// Weighs: it changes a running container's part of busy processors ([Weigh]).
	Weighs
	// Freezes: a container can be kept from running at all for some time ([Suspend]).
	Freezes
	// Bounds: it bounds how much of idle processors a running container may use ([Weigh]).
	Bounds
	// Reclaims: where a container's limit is below what it was told, its caches give way to it.
	Reclaims
	// Elastic: the memory that a process uses follows its container's limit, down and up. No Java virtual machine does
	// that: its heap is as large as it was started. The papers' simulations assume it.
	Elastic

	NumCaps = iota // how many there are
)

const (
	// Stock is what a NodeManager of Hadoop 3 does by itself. What it is told of sizes it accounts for.
	Stock = Limits | Resizes | Lends
	// AllCaps is all there is.
	AllCaps Caps = 1<<NumCaps - 1
)

// Has reports whether all of what is in the set.
func (c Caps) Has(what Caps) bool { return c&what == what }

// String returns the names with commas between, such as "limits, resizes".
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

// Names returns the names of what is in the set, an empty list where there is nothing.
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

// CapOf returns what a name of String means.
func CapOf(name string) (c Caps, ok bool) {
	for i, n := range capNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}
