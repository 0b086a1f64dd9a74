package read

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"heddle/yarn/ids"
)

// Limits for one application.
const (
	maxEntries = 50_000 // names in a local directory; the ResourceManager keeps as many tasks in mind
	maxName    = 64     // bytes in an attempt's name: four numbers and what is between them
	maxKept    = 5      // outputs kept from pass to pass, as a multiple of those that a pass may return
	maxSaid    = 8      // files named in an error
)

// An App reads the map outputs of one application on this node. It is not safe for concurrent use.
type App struct {
	dirs   []string
	folder string // in each of them
	id     ids.App
	last   map[string]output // by attempt, in the last pass
	kept   map[string]output // … in this round of passes and the one before, as many as there is room for
	round  int               // number of the round
	next   place             // where the next pass begins
}

// A place in the local directories is after the name in the dir of this number, "" for before all. Names are in order.
type place struct {
	dir  int
	name string
}

// output caches what was read from a file: while time and size stay the same it is not read again.
type output struct {
	dir   string // of all outputs
	time  time.Time
	size  int64
	round int // in which it was last seen
	said  Output
}

// An Output is the output of a map on this node.
type Output struct {
	Attempt string // attempt_1700000000000_0001_m_000000_0
	Bytes   int64  // of all partitions: compressed if the job compresses map outputs
}

// NewApp returns an App for the local directories of a NodeManager (yarn.nodemanager.local-dirs). The user is the one who
// submitted the application: anyone who may write there could put what looks like another user's application into their
// own folder.
func NewApp(dirs []string, user string, id ids.App) *App {
	return &App{dirs: dirs, folder: path.Join("usercache", user, "appcache", id.String()), id: id, kept: map[string]output{}}
}

// Outputs returns what the maps of a MapReduce job have written and not yet removed, by attempt: at most this many
// outputs, and only those that it gets to before a deadline. If there are more than that many, the next call returns
// those after them, and so on; the call after that with the last begins again. A file that the call before returned is
// read again only if its time or size has changed, so that after a deadline the next call gets further in the same time.
// So is one that any call of this round or of the one before returned, except for some if there are more than five times
// that many. The error says what could not be read; the calls of a round return everything that no error names.
func (a *App) Outputs(most int, until time.Time) ([]Output, error) {
	pass := map[string]output{}
	var wrong problems
	next := a.next
	over := a.each(&wrong, until, func(dir int, root *os.Root, list []string) (more bool) {
		last := ""
		if dir == a.next.dir {
			last = a.next.name
		}
		for _, name := range list {
			if _, twice := pass[name]; twice || name <= last || !a.isMap(name) {
				continue
			}
			if len(pass) == most {
				next = place{dir, last}
				return false
			}
			if late(&wrong, until, pathOf(root)) {
				return false
			}
			o, err := a.output(root, name)
			if wrong.add(err); err == nil {
				pass[name] = o
				a.keep(o, most)
			}
			last = name
		}
		return true
	})
	if over {
		next = place{}
		left := len(a.kept) - maxKept*most // too many, if most was more before
		maps.DeleteFunc(a.kept, func(_ string, o output) bool {
			left--
			return o.round != a.round || left >= 0
		})
		a.round++
	}
	a.last, a.next = pass, next
	out := make([]Output, 0, len(pass))
	for _, o := range pass {
		out = append(out, o.said)
	}
	slices.SortFunc(out, func(x, y Output) int { return strings.Compare(x.Attempt, y.Attempt) })
	return out, wrong.err()
}

// keep keeps an output until the end of the next round, if there is room: a pass may return most.
func (a *App) keep(o output, most int) {
	name := o.said.Attempt
	if _, known := a.kept[name]; known || len(a.kept) < maxKept*most {
		o.round = a.round
		a.kept[name] = o
	}
}

// output reads one output, or returns it from the cache.
func (a *App) output(root *os.Root, name string) (output, error) {
	file := name + "/file.out.index"
	info, err := root.Stat(file)
	if err != nil {
		return output{}, at(root, err)
	}
	o := output{dir: pathOf(root), time: info.ModTime(), size: info.Size()}
	for _, known := range []map[string]output{a.last, a.kept} {
		if old, ok := known[name]; ok && old.dir == o.dir && old.size == o.size && old.time.Equal(o.time) {
			return old, nil
		}
	}
	data, err := load(root, file, maxIndex)
	if err != nil {
		return output{}, err
	}
	bytes, err := ParseIndex(data)
	if err != nil {
		return output{}, fmt.Errorf("%s/%s: %w", pathOf(root), file, err)
	}
	o.said = Output{Attempt: name, Bytes: bytes}
	return o, nil
}

// isMap reports whether this is the name of an attempt of one of the maps. A name padded with endless zeros is not: it
// would be stored and reported.
func (a *App) isMap(name string) bool {
	if len(name) > maxName {
		return false
	}
	app, reduce, _, ok := ids.ParseTaskAttempt(name)
	return ok && !reduce && app == a.id
}

// each visits the output folder in each local directory that has one, from where the pass begins, with the names in it
// in order, until a deadline or until a visit wants no more. It reports whether it has visited all.
func (a *App) each(wrong *problems, until time.Time, visit func(dir int, root *os.Root, list []string) (more bool)) (all bool) {
	for i := a.next.dir; i < len(a.dirs); i++ {
		dir := a.dirs[i]
		if late(wrong, until, dir) {
			return false
		}
		local, err := os.OpenRoot(dir)
		if err != nil {
			wrong.put(err)
			continue
		}
		root, err := below(local, path.Join(a.folder, "output"))
		_ = local.Close() // it was only read
		if err != nil {
			wrong.add(err)
			continue
		}
		list, err := names(root, maxEntries)
		wrong.add(err)
		slices.Sort(list)
		more := visit(i, root, list)
		_ = root.Close()
		if !more {
			return false
		}
	}
	return true
}

// late reports whether the deadline has passed, and if so records that there is more to read.
func late(wrong *problems, until time.Time, where string) bool {
	if !time.Now().After(until) {
		return false
	}
	wrong.put(fmt.Errorf("%s has too many outputs to read in the time available; the next pass continues", where))
	return true
}

// problems collects what went wrong with some files while others were read.
type problems struct {
	said []error
	more int
}

// add records an error. A missing file is none: files come and go.
func (p *problems) add(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.put(err)
	}
}

// put records any error.
func (p *problems) put(err error) {
	if len(p.said) < maxSaid {
		p.said = append(p.said, err)
	} else {
		p.more++
	}
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.said, fmt.Errorf("and %d more", p.more))...)
	}
	return errors.Join(p.said...)
}
