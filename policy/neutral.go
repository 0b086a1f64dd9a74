package policy

import "heddle"

// AsAsked is the Size that changes nothing.
type AsAsked struct{}

// Size returns asked.
func (AsAsked) Size(_ View, _ *App, _ heddle.Kind, asked heddle.Resource) heddle.Resource {
	return asked
}

// Unsteady is the part of an Order whose keys may change whenever something touches an application.
type Unsteady struct{}

// Steady returns false.
func (Unsteady) Steady(*App) bool { return false }

// Whole is the Trim that enforces the requested size.
type Whole struct{}

// Trim returns the ask's size.
func (Whole) Trim(_ View, k *Ask, _ *Node, _ heddle.Resource) heddle.Resource { return k.Size() }

// Floor returns smallest: nothing starts in less room.
func (Whole) Floor(smallest heddle.Resource) heddle.Resource { return smallest }

// Anywhere is the Place that takes any node the ask's strictness allows.
type Anywhere struct{}

// Judge returns Yes.
func (Anywhere) Judge(View, *Ask, *Node, heddle.Locality) Verdict { return Yes }

// AlwaysOpen is the Gate that never closes.
type AlwaysOpen struct{}

// Open returns Yes.
func (AlwaysOpen) Open(View, *App, heddle.Kind) Verdict { return Yes }

// Unshared is the Share that lets every application use the whole cluster.
type Unshared struct{}

// Enter returns Yes.
func (Unshared) Enter(View, *Queue) Verdict { return Yes }

// Allow returns Yes.
func (Unshared) Allow(View, *App, heddle.Kind, heddle.Resource) Verdict { return Yes }

// Headroom returns what is free in the cluster.
func (Unshared) Headroom(v View, _ *App) heddle.Resource {
	return v.Total().Minus(v.Used()).Max(heddle.Resource{})
}

// Unbook returns zero: nothing needs to be freed.
func (Unshared) Unbook(View, *App, heddle.Resource) heddle.Resource { return heddle.Resource{} }

// Admit accepts every application.
func (Unshared) Admit(View, *heddle.Submit) heddle.Why { return heddle.Fine }

// Idle is the Control that does nothing.
type Idle struct{}

// Every returns 0, which means never.
func (Idle) Every() heddle.Span { return 0 }

// Run does nothing.
func (Idle) Run(View, *Plan) {}
