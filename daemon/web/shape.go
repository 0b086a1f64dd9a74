package web

import (
	"strconv"
	"time"

	"heddle"
	"heddle/rm"
	"heddle/yarn/rest"
)

// A shaper converts reports to the shapes of package rest.
type shaper struct {
	now   func() time.Time
	extra []string // names of the two additional resources
	units []string // theirs
}

// vcores rounds milli-vcores up to whole vcores, which is all that YARN can express.
func vcores(milli int64) int64 {
	if milli < 0 {
		return milli / 1000
	}
	return (milli + 999) / 1000
}

func (sh shaper) resource(r heddle.Resource) rest.Resource {
	if len(sh.extra) == 0 {
		return rest.NewResource(r[heddle.Memory], vcores(r[heddle.CPU]))
	}
	extra := make([]rest.Amount, 0, len(sh.extra))
	for i, name := range sh.extra {
		if d := int(heddle.Extra1) + i; d < len(r) {
			a := rest.Amount{Name: name, Value: r[d]}
			if i < len(sh.units) {
				a.Units = sh.units[i]
			}
			extra = append(extra, a)
		}
	}
	return rest.NewResource(r[heddle.Memory], vcores(r[heddle.CPU]), extra...)
}

// dims converts an amount of a report to one to calculate with.
func (sh shaper) dims(a rm.Amount) heddle.Resource { return a.Resource(sh.extra...) }

// told converts an amount of a report to YARN's shape.
func (sh shaper) told(a rm.Amount) rest.Resource { return sh.resource(sh.dims(a)) }

// elapsed returns how long something has been running, or ran, in milliseconds.
func (sh shaper) elapsed(start, finish int64) int64 {
	switch {
	case start <= 0:
		return 0
	case finish <= 0:
		finish = sh.now().UnixMilli()
	}
	return max(0, finish-start)
}

// seconds returns what an application used, by resource.
func seconds(memory, vcore int64) rest.Entries {
	return rest.Entries{
		{Key: "memory-mb", Value: strconv.FormatInt(memory, 10)},
		{Key: "vcores", Value: strconv.FormatInt(vcore, 10)},
	}
}

// lifetime returns when an application is ended, in YARN's form.
func (sh shaper) lifetime(a rm.AppReport) rest.Timeout {
	if a.Lifetime <= 0 {
		return rest.Timeout{Type: lifetimeType, Expiry: "UNLIMITED", Remaining: -1}
	}
	t := rest.Timeout{Type: lifetimeType, Expiry: time.UnixMilli(a.Lifetime).UTC().Format(isoTime)}
	if !a.State.Final() {
		t.Remaining = max(0, (a.Lifetime-sh.now().UnixMilli())/1000)
	}
	return t
}

const (
	lifetimeType = "LIFETIME"
	isoTime      = "2006-01-02T15:04:05.000-0700"
)
