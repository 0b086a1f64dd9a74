package policy

import "heddle"

// Durations is how long containers are held: learned from those that ended well, since nobody says it beforehand.
type Durations struct {
	kinds [heddle.NumKinds]usual
	tasks usual // of maps and reduces together
}

// usual is how long containers are held, as those that ended lately were.
type usual struct {
	mean  float64     // in seconds
	count int         // of containers that had ended when the mean was last brought up to date
	held  heddle.Span // … and how long they were held together
}

// memory is the number of containers after which what was usual before counts half.
const memory = 1000

// learn takes in that so many containers have ended by now and were held for so long together. It reports whether
// any of them is new.
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

// Learn brings up to date how long containers are usually held, and reports whether any has ended since.
func (d *Durations) Learn(v View) (moved bool) {
	for k := range d.kinds {
		moved = d.kinds[k].learn(v.Finished(heddle.Kind(k)), v.Held(heddle.Kind(k))) || moved
	}
	d.tasks.learn(v.Finished(heddle.Map)+v.Finished(heddle.Reduce), v.Held(heddle.Map)+v.Held(heddle.Reduce))
	return moved
}

// Of is how many seconds a container of an application is held: the mean of those of it that ended and of one as usual
// for its kind. ok is false where none of the kind has ended yet.
func (d *Durations) Of(a *App, k heddle.Kind) (seconds float64, ok bool) {
	if d.kinds[k].count == 0 {
		return 0, false
	}
	return (a.Held(k).Seconds() + d.kinds[k].mean) / float64(a.Finished(k)+1), true
}

// Usual is how many seconds containers are usually held that one of a kind is compared with: maps, reduces and executors with
// maps and reduces together, where some have ended, others with their kind.
func (d *Durations) Usual(k heddle.Kind) (seconds float64) {
	if d.tasks.count > 0 && (k == heddle.Map || k == heddle.Reduce || k == heddle.Executor) {
		return d.tasks.mean
	}
	return d.kinds[k].mean
}
