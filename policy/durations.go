package policy

import "heddle"

// Durations estimates how long containers are held. It learns from those that ended well, since nothing tells it in
// advance.
type Durations struct {
	kinds [heddle.NumKinds]usual
	tasks usual // of maps and reduces together
}

// usual is how long containers are usually held, learned from those that ended recently.
type usual struct {
	mean  float64     // in seconds
	count int         // of containers that had ended at the last update of the mean
	held  heddle.Span // … and how long they were held in total
}

// memory is the number of new containers that halves the weight of the earlier mean.
const memory = 1000

// learn updates the mean, given that count containers have ended by now and were held for held in total. It reports
// whether any of them is new.
func (u *usual) learn(count int, held heddle.Span) bool {
	n := count - u.count
	if n == 0 {
		return false
	}
	mean, weight := (held-u.held).Seconds()/float64(n), 1.0
	if u.count > 0 {
		weight = float64(n) / float64(n+memory)
	}
	u.mean += (mean - u.mean) * weight
	u.count, u.held = count, held
	return true
}

// Learn updates how long containers are usually held, and reports whether any has ended since the last call.
func (d *Durations) Learn(v View) (moved bool) {
	for k := range d.kinds {
		moved = d.kinds[k].learn(v.Finished(heddle.Kind(k)), v.Held(heddle.Kind(k))) || moved
	}
	d.tasks.learn(v.Finished(heddle.Map)+v.Finished(heddle.Reduce), v.Held(heddle.Map)+v.Held(heddle.Reduce))
	return moved
}

// Of returns how many seconds a container of an application is held: the mean over its own containers that ended and
// one usual container of the kind. ok is false if none of the kind has ended yet.
func (d *Durations) Of(a *App, k heddle.Kind) (seconds float64, ok bool) {
	if d.kinds[k].count == 0 {
		return 0, false
	}
	return (a.Held(k).Seconds() + d.kinds[k].mean) / float64(a.Finished(k)+1), true
}

// Usual returns how many seconds the containers that a kind is compared with are usually held. Maps, reduces and
// executors are compared with maps and reduces together if some have ended, other kinds with their own kind.
func (d *Durations) Usual(k heddle.Kind) (seconds float64) {
	if d.tasks.count > 0 && (k == heddle.Map || k == heddle.Reduce || k == heddle.Executor) {
		return d.tasks.mean
	}
	return d.kinds[k].mean
}
