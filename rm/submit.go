package rm

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle"
	"heddle/yarn/ids"
)

// Limits of a submission, as in YARN.
const (
	maxTypeLength = 20
	maxLists      = 16                // access lists, and lifetimes, of an application; there are two kinds of the former and one of the latter
	maxRest       = 64 << 10          // bytes of a submission that are kept after the application's end: all but what starts its master
	maxLogContext = 16 << 10          // bytes
	maxUnwritten  = 8 << 20           // bytes on their way to the disk above which submissions are refused for now
	maxLifetime   = 100 * 365 * 86400 // seconds
)

// MaxContext is the most bytes of a submission.
const MaxContext = 4 << 20

// MaxName is the most bytes of the names of users and queues, and the most that is kept of application names.
const MaxName = 1024

// submit accepts an application.
func (m *Machine) submit(q *SubmitApp) {
	id := q.App.ID
	a := m.byApp[id]
	switch {
	case a == nil:
	case a.user != q.Who.User:
		m.answer(q.Call, nil, invalid(classYarn, "%s is another user's; ask for an id with getNewApplication", id))
		return
	case a.state == appSaving:
		a.saved = append(a.saved, q.Call)
		return
	default:
		m.answer(q.Call, nil, nil)
		return
	}
	a, err := m.newApp(q)
	if err != nil {
		m.answer(q.Call, nil, err)
		return
	}
	why := q.Misplaced
	if why == "" {
		if err := m.create(q.Queue); err != nil {
			why = err.Error()
		}
	}
	if why != "" { // it is accepted all the same, and fails: its client polls for that
		a.kill, a.why = text("Failed to submit application %s: %s", id, why), heddle.NoSuchQueue
	}
	m.byApp[id] = a
	m.holds(a)
	if id.Cluster == m.began {
		m.given.drop(id.Seq)
		m.recent.add(a)
	}
	m.stale(a)
	m.counts.submitted++
	a.saved = append(a.saved, q.Call)
	if a.kill == "" {
		m.read(a)
	}
	m.commit(func() { m.appStored(a) }, Change{App: a.record()})
}

// newApp checks a submission and creates its application.
func (m *Machine) newApp(q *SubmitApp) (*app, error) {
	s, id, user := &q.App, q.App.ID, q.Who.User
	if err := m.hasRoom("is not accepted", id); err != nil {
		return nil, err
	}
	size, largest := s.Master, m.largest(q.Queue)
	if err := m.mayUse(id, user); err != nil {
		return nil, err
	}
	switch {
	case q.Unwritten > maxUnwritten:
		return nil, invalid(classRetry, "%s is not accepted: the disk is %d bytes behind; try again", id, q.Unwritten)
	case s.Unmanaged:
		return nil, invalid(classYarn, "%s has an unmanaged ApplicationMaster; only masters that run in containers are supported", id)
	case len(user) > MaxName || len(q.Queue) > MaxName:
		return nil, invalid(classYarn, "the user or queue name of %s has more than %d bytes", id, MaxName)
	case q.Wrong != "":
		return nil, invalid(classInvalidAsk, "%s", q.Wrong)
	case s.Label != "":
		return nil, labelled(s.Label)
	case size.AnyNegative() || !size.Fits(largest):
		return nil, m.tooLarge(size, largest)
	case len(s.LogContext) > maxLogContext:
		return nil, invalid(classYarn, "the log aggregation context of %s has %d bytes; at most %d go into the token of every container", id, len(s.LogContext), maxLogContext)
	case len(s.Tags) > m.cfg.MaxTags:
		return nil, invalid(classYarn, "Too many applicationTags, a maximum of only %d are allowed; %s has %d", m.cfg.MaxTags, id, len(s.Tags))
	case len(s.Access) > maxLists || len(s.Lifetimes) > maxLists:
		return nil, invalid(classYarn, "%s has %d access lists and %d lifetimes; at most %d of each are kept", id, len(s.Access), len(s.Lifetimes), maxLists)
	case len(s.Rest) > maxRest:
		return nil, invalid(classYarn, "the submission of %s has %d bytes beside what starts its master; at most %d are kept", id, len(s.Rest), maxRest)
	case len(s.Context) > MaxContext:
		return nil, invalid(classYarn, "the submission of %s has %d bytes; at most %d are kept of one", id, len(s.Context), MaxContext)
	}
	for _, t := range s.Tags {
		if len(t) > m.cfg.MaxTagLength || strings.ContainsFunc(t, func(x rune) bool { return x >= utf8.RuneSelf }) {
			return nil, invalid(classYarn, "A tag can only have ASCII characters and at most %d of them; %q is not one", m.cfg.MaxTagLength, t)
		}
	}
	for _, n := range s.Lifetimes {
		if n <= 0 {
			return nil, invalid(classYarn, "Invalid application timeout, value=%d: the lifetime of %s must be more than 0 s", n, id)
		}
	}
	if q.Misplaced == "" {
		if err := m.maySubmit(q.Who, q.Queue); err != nil {
			return nil, err
		}
	}
	if err := m.tooMany(user, s); err != nil {
		return nil, err
	}
	a := m.appOf(user, s)
	a.priority = min(max(m.priority(q.Queue, s), 0), m.cfg.MaxPriority)
	a.submitted, a.started, a.queue = m.today(), m.today(), q.Queue
	for _, n := range s.Lifetimes {
		a.lifetime = m.today() + 1000*min(n, maxLifetime)
	}
	return a, nil
}

// tooLarge returns the error for a container below 0 or above the largest possible.
func (m *Machine) tooLarge(size, largest heddle.Resource) error {
	return invalid(classInvalidAsk, "Invalid resource request! Cannot allocate containers as requested resource is less than 0 or greater than maximum allowed allocation. Requested %s, maximum allowed %s", m.text(size), m.text(largest))
}

// appOf creates an application from its submission, new or from the store.
func (m *Machine) appOf(user string, s *Submission) *app {
	a := &app{Submission: *s, aid: heddle.NoApp, user: user}
	a.Name = Clip(cmp.Or(a.Name, noName), MaxName)
	if a.Name != noName { // clients also send noName for an application without a name
		a.Facts.Name = cmp.Or(a.Facts.Name, a.Name)
	}
	a.Type = Clip(cmp.Or(a.Type, typeDefault), maxTypeLength)
	a.framework = frameworkOf(a.Type)
	a.Master = a.Master.Max(heddle.Of(1, 0)) // with no size at all the core would take it for running; the core has the minimum size
	a.Tags = slices.Clone(a.Tags)
	for i, t := range a.Tags {
		a.Tags[i] = strings.ToLower(t)
	}
	if a.MaxAttempts <= 0 {
		a.MaxAttempts = m.cfg.MaxAttempts
	}
	a.MaxAttempts = min(a.MaxAttempts, m.cfg.GlobalAttempts)
	if a.MaxAttempts == 1 { // it has no second attempt if its master gets too little
		a.Facts.MasterHeap = 0
	}
	return a
}

// priority returns the priority that a submission asks for, or its queue's default.
func (m *Machine) priority(queue string, s *Submission) int32 {
	if s.Priority != nil {
		return *s.Priority
	}
	if q, ok := m.queues[queue]; ok {
		return m.sch.Queues[q].Priority
	}
	return 0
}

// appStored is called when a submission is durable: its client is told, and the core gets the application.
func (m *Machine) appStored(a *app) {
	m.stale(a)
	saved := a.saved
	a.saved, a.killers = a.killers, nil
	switch {
	case a.kill != "" && a.final == Killed:
		a.become(appSubmitted)
		m.end(a, appKilled, Killed, a.kill)
	case a.kill != "":
		a.become(appSubmitted)
		m.end(a, appFailed, Failed, a.kill)
	case !m.Ready() || a.reading != nil:
		a.become(appSubmitted) // handed over after the wait that follows a restart, or after the reading
	default:
		m.start(a)
		if a.state == appAccepted {
			m.offer(a)
		}
	}
	for _, c := range saved {
		m.answer(c, nil, nil)
	}
	m.log(Info, "application submitted", "app", a.ID, "user", a.user, "queue", a.queue, "type", a.Type, "name", a.Name)
}

// start creates an application's next attempt and hands it to the core. An application from before the restart was
// accepted then, whatever its queue would say now.
func (m *Machine) start(a *app) {
	m.newAttempt(a)
	m.begin(a, a.recovered)
}

// killApp ends an application.
func (m *Machine) killApp(q *KillApp) {
	a, err := m.mine(q.Who, "kill", q.App)
	if err != nil || a.state.isOver() || a.state == appFinishing {
		m.answer(q.Call, nil, err)
		return
	}
	why := text("Application %s was killed by user %s", q.App, q.Who.User)
	if q.Who.Addr != "" {
		why += " at " + q.Who.Addr
	}
	if q.Diagnostics != "" {
		why += " with diagnostic message: " + q.Diagnostics
	}
	if a.state == appSaving { // those who wait for the submission are answered earlier
		a.kill, a.final = why, Killed
		a.killers = append(a.killers, q.Call)
		return
	}
	a.saved = append(a.saved, q.Call)
	m.end(a, appKilled, Killed, why)
}

// mine returns an application, if this person may change it.
func (m *Machine) mine(who Person, do string, id ids.App) (*app, error) {
	a := m.byApp[id]
	if a == nil {
		return nil, &NotFound{"application " + id.String()}
	}
	if !m.mayChange(who, a) {
		return nil, &Denied{who.User, do, id.String(), m.inChangers(a, ACL.NamesGroups)}
	}
	return a, nil
}

// failByUser ends an attempt as if its master had failed.
func (m *Machine) failByUser(q *FailAttempt) error {
	a, err := m.mine(q.Who, "fail an attempt of", q.Attempt.App)
	if err != nil {
		return err
	}
	t := m.findAttempt(q.Attempt)
	if t == nil {
		return &NotFound{"attempt " + q.Attempt.String()}
	}
	if t == a.newest() && a.aid != heddle.NoApp && !a.state.ending() { // otherwise it is over already
		m.failAttempt(t, exitInvalid, "Attempt failed by user "+q.Who.User)
	}
	return nil
}

// move moves an application to another leaf queue.
func (m *Machine) move(q *MoveApp) {
	a, err := m.mine(q.Who, "move", q.App)
	path := ""
	if err == nil {
		err = m.hasRoom("cannot be moved", q.App)
	}
	if err == nil {
		path, err = m.leaf(q.Queue)
	}
	if err == nil {
		err = m.maySubmit(q.Who, path)
	}
	switch {
	case err != nil:
	case a.aid == heddle.NoApp || a.state.ending():
		err = invalid(classYarn, "%s is %s and cannot be moved", q.App, string(a.public()))
	default:
		a.moveWhy = heddle.Fine
		if m.step(heddle.Move{App: a.aid, Queue: m.queues[path]}); a.moveWhy != heddle.Fine {
			err = invalid(classYarn, "%s cannot be moved to %s: %s", q.App, path, whyText(a.moveWhy))
		}
	}
	if err != nil {
		m.answer(q.Call, nil, err)
		return
	}
	m.counts.move(a.queue, path)
	to := a.standing
	to.queue = path
	m.change(a, to, func() { m.answer(q.Call, nil, nil) })
	m.offer(a)
}

// leaf returns the path of a leaf queue named in full or by its last part.
func (m *Machine) leaf(name string) (string, error) {
	if q, ok := m.queues[name]; ok && m.sch.Queues[q].Leaf {
		return name, nil
	}
	found := ""
	for i := range m.sch.Queues {
		q := &m.sch.Queues[i]
		if q.Leaf && strings.HasSuffix(q.Path, "."+name) {
			if found != "" {
				return "", invalid(classYarn, "the queue name %s is ambiguous: %s and %s end with it; give the full path", name, found, q.Path)
			}
			found = q.Path
		}
	}
	if found == "" {
		return "", invalid(classYarn, "there is no leaf queue %s", name)
	}
	return found, nil
}

// setPriority gives an application another priority, limited to the cluster's maximum.
func (m *Machine) setPriority(q *SetPriority) {
	a, err := m.mine(q.Who, "change the priority of", q.App)
	if err == nil {
		err = m.hasRoom("keeps its priority", q.App)
	}
	if err != nil || a.public().Final() || a.state == appFinalSaving {
		value := int32(0)
		if a != nil {
			value = a.shown().priority
		}
		m.answer(q.Call, value, err)
		return
	}
	to := a.standing
	to.priority = min(max(q.Priority, 0), m.cfg.MaxPriority)
	if a.aid != heddle.NoApp { // otherwise the core learns it with the application
		m.step(heddle.Reprioritise{App: a.aid, Priority: to.priority})
	}
	m.change(a, to, func() { m.answer(q.Call, to.priority, nil) })
}

// setLifetime sets when an unfinished application is killed.
func (m *Machine) setLifetime(q *SetLifetime) {
	a, err := m.mine(q.Who, "change the lifetime of", q.App)
	switch {
	case err != nil:
	case m.short != "":
		err = m.hasRoom("keeps its lifetime", q.App)
	case a.public().Final():
		err = invalid(classYarn, "%s is %s; its lifetime cannot be changed", q.App, string(a.public()))
	case q.Until <= m.today():
		err = invalid(classYarn, "the expire time of %s is not in the future", q.App)
	}
	if err != nil {
		m.answer(q.Call, nil, err)
		return
	}
	to := a.standing
	to.lifetime = q.Until
	m.change(a, to, func() {
		m.watchLife(a)
		m.answer(q.Call, nil, nil)
	})
}

// signal has a node signal a container at its next heartbeat.
func (m *Machine) signal(q *SignalContainer) error {
	if _, err := m.mine(q.Who, "signal containers of", q.Container.Attempt.App); err != nil {
		return err
	}
	c := m.container(q.Container)
	if c == nil {
		return &NotFound{"container " + q.Container.String()}
	}
	if len(c.node.order().signals) >= maxSignals {
		return invalid(classYarn, "%d signals wait for the next report of %s already; try again after it", maxSignals, c.node.id)
	}
	o := c.node.order()
	o.signals = append(o.signals, Signal{q.Container, q.Command})
	return nil
}
