package policy

import "heddle"

// Patience checks all applications that ask and are passed over. ended reports whether any application's patience has
// run out since looked, the time of the last check; waits reports whether any application still has patience left.
func Patience(v View, patience heddle.Span, looked heddle.Time) (ended, waits bool) {
	for i := range v.AppIDs() {
		if a := v.App(heddle.AppID(i)); a != nil && !a.Pending().IsZero() {
			over := v.Now().Since(a.PassedOver()) - patience
			ended = ended || over > 0 && over <= v.Now().Since(looked)
			waits = waits || over <= 0
		}
	}
	return ended, waits
}
