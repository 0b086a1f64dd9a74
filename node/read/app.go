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
	maxEntries = 20_000  // outputs in a local directory
	maxFigures = 4 << 20 // partitions of all outputs: 32 MiB
	maxSaid    = 8       // files that are named in an error
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
	// Parts are the bytes for each reduce. They are not the caller's to change.
	Parts []int64
}

// NewApp returns what reads of an application in the local directories of a NodeManager (yarn.nodemanager.local-dirs). The
// user is the one who submitted it: whoever may write there may put what looks like an application of another one's into
// their own folder.
func NewApp(dirs []string, user string, id ids.App) *App {
	return &App{dirs: dirs, folder: path.Join("usercache", user, "appcache", id.String()), id: id}
}

// Outputs returns what the maps of a MapReduce job have written and not yet been rid of, by attempt. A file that it has
// returned before is read again only if its time or its size is another one. The error says what could not be read: what it
// does not name is there.
func (a *App) Outputs() ([]Output, error) {
	seen := map[string]output{}
	figures := 0
	var wrong problems
	a.each(&wrong, func(root *os.Root, list []string) {
		for _, name := range list {
			if _, twice := seen[name]; twice || !a.isMap(name) {
				continue
			}
			o, err := a.output(root, name)
			if err == nil && figures+len(o.said.Parts) > maxFigures {
				err = fmt.Errorf("%s is left out: the outputs of its job have more than %d partitions together", name, maxFigures)
			}
			if err != nil {
				wrong.add(err)
				continue
			}
			figures += len(o.said.Parts)
			seen[name] = o
		}
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
	parts, err := ParseIndex(data)
	if err != nil {
		return output{}, fmt.Errorf("%s/%s: %w", root.Name(), file, err)
	}
	o.said = Output{Attempt: name, Parts: parts}
	for _, n := range parts {
		o.said.Bytes += n
	}
	return o, nil
}

// isMap reports whether this is the name of an attempt of one of the maps.
func (a *App) isMap(name string) bool {
	app, reduce, _, ok := ids.ParseTaskAttempt(name)
	return ok && !reduce && app == a.id
}

// each visits the folder of outputs in each local directory that has it, with the names in it.
func (a *App) each(wrong *problems, visit func(root *os.Root, list []string)) {
	for _, dir := range a.dirs {
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
		visit(root, list)
		_ = root.Close()
	}
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
