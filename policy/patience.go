package policy

import "heddle"

// Patience looks at all who ask for something and are passed over: ended is whether the patience of one ran out since looked,
// when it was looked last, and waits whether that of one is not over yet.
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
