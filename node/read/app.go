package read

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"heddle/yarn/ids"
)

// Limits of what is looked at for one application.
const (
	maxEntries = 20_000 // names in a local directory
	maxName    = 64     // bytes of an attempt's name: four numbers and what is between them
	maxSaid    = 8      // files that are named in an error
)

// An App reads what NodeManagers keep of one application on this node. It is not safe for concurrent use.
type App struct {
	dirs   []string
	folder string // in each of them
	id     ids.App
	seen   map[string]output // by attempt
}

// output is what is remembered of a file: while time and size are the same it is not read again.
type output struct {
	dir  string // of all outputs
	time time.Time
	size int64
	said Output
}

// An Output is the output of a map that lies on this node.
type Output struct {
	Attempt string // attempt_1700000000000_0001_m_000000_0
	Bytes   int64  // of all partitions: they are compressed where the job has it so
}

// NewApp returns what reads of an application in the local directories of a NodeManager (yarn.nodemanager.local-dirs). The
// user is the one who submitted it: whoever may write there may put what looks like an application of another one's into
// their own folder.
func NewApp(dirs []string, user string, id ids.App) *App {
	return &App{dirs: dirs, folder: path.Join("usercache", user, "appcache", id.String()), id: id}
}

// Outputs returns what the maps of a MapReduce job have written and not yet been rid of, by attempt: so many outputs at most,
// and those that it comes to before a time. A file that it has returned before is read again only if its time or its size is
// another one, so that the next call comes to more of them. The error says what could not be read: what it does not name is
// there.
func (a *App) Outputs(most int, until time.Time) ([]Output, error) {
	seen := map[string]output{}
	var wrong problems
	a.each(&wrong, until, func(root *os.Root, list []string) (more bool) {
		for _, name := range list {
			if _, twice := seen[name]; twice || !a.isMap(name) {
				continue
			}
			if late(&wrong, until, root.Name()) {
				return false
			}
			o, err := a.output(root, name)
			if err != nil {
				wrong.add(err)
				continue
			}
			if len(seen) == most {
				wrong.put(fmt.Errorf("%s has more outputs than the %d that are kept of %s", root.Name(), most, a.id))
				return false
			}
			seen[name] = o
		}
		return true
	})
	a.seen = seen
	out := make([]Output, 0, len(seen))
	for _, o := range seen {
		out = append(out, o.said)
	}
	slices.SortFunc(out, func(x, y Output) int { return strings.Compare(x.Attempt, y.Attempt) })
	return out, wrong.err()
}

// output reads one output, or remembers it.
func (a *App) output(root *os.Root, name string) (output, error) {
	file := name + "/file.out.index"
	info, err := root.Stat(file)
	if err != nil {
		return output{}, at(root, err)
	}
	o := output{dir: root.Name(), time: info.ModTime(), size: info.Size()}
	if old, ok := a.seen[name]; ok && old.dir == o.dir && old.size == o.size && old.time.Equal(o.time) {
		return old, nil
	}
	data, err := load(root, file, maxIndex)
	if err != nil {
		return output{}, err
	}
	bytes, err := ParseIndex(data)
	if err != nil {
		return output{}, fmt.Errorf("%s/%s: %w", root.Name(), file, err)
	}
	o.said = Output{Attempt: name, Bytes: bytes}
	return o, nil
}

// isMap reports whether this is the name of an attempt of one of the maps. One with zeros without end is not: it would be
// kept, and told.
func (a *App) isMap(name string) bool {
	if len(name) > maxName {
		return false
	}
	app, reduce, _, ok := ids.ParseTaskAttempt(name)
	return ok && !reduce && app == a.id
}

// each visits the folder of outputs in each local directory that has it, with the names in it, until a time or
// until a visit wants no more.
func (a *App) each(wrong *problems, until time.Time, visit func(root *os.Root, list []string) (more bool)) {
	for _, dir := range a.dirs {
		if late(wrong, until, dir) {
			return
		}
		local, err := os.OpenRoot(dir)
		if err != nil {
			wrong.put(err)
			continue
		}
		root, err := local.OpenRoot(path.Join(a.folder, "output"))
		_ = local.Close() // it was only read
		if err != nil {
			wrong.add(err)
			continue
		}
		list, err := names(root, maxEntries)
		wrong.add(err)
		more := visit(root, list)
		_ = root.Close()
		if !more {
			return
		}
	}
}

// late reports whether it is later than a time, and has it said where there is more to read.
func late(wrong *problems, until time.Time, where string) bool {
	if !time.Now().After(until) {
		return false
	}
	wrong.put(fmt.Errorf("%s has more outputs than there is time for; the next look goes on", where))
	return true
}

// problems are what went wrong with some files while others were read.
type problems struct {
	said []error
	more int
}

// add counts an error in. What is not there is none: files come and go.
func (p *problems) add(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.put(err)
	}
}

// put counts any error in.
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
