// Package powercut records what a program writes, and derives from it what could be on the disk after a power cut:
// everything that was synced, and any part of the rest.
//
// A disk writes sectors in any order, each whole or not at all. So after a cut, each sector written since its file was
// last synced has one of the versions that it had since then. Likewise, the size of a file is one of the sizes that it
// had. The names in a folder are as they were at one moment since the folder was last synced, as with a journal. A
// file's name may be there without its content.
package powercut

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Sector is how many bytes a disk writes at once.
const Sector = 512

// An Op is one operation of a program.
type Op struct {
	Kind Kind
	File uint64 // the inode, for Create, Write, Resize, Sync
	Name string // within the folder, for Create, Rename, Remove
	To   string // for Rename
	At   int64  // for Write; for Resize the new size
	Data []byte // for Write and Say
}

// A Kind is the kind of an operation.
type Kind uint8

// The kinds. Say is a line to standard output: what the program has promised to others.
const (
	Create Kind = iota
	Write
	Resize
	Sync
	Rename
	Remove
	SyncFolder
	Say
)

// A Disk is a folder, with what is known to be on the disk and what may be there.
type Disk struct {
	files map[uint64]*file
	names map[string]uint64 // the durable ones
	moves []Op              // changes of names since
}

// A file is the content of a file.
type file struct {
	synced []byte
	since  []Op // writes and size changes
}

// NewDisk returns a folder that has the files in dir, all of them durable.
func NewDisk(dir string) (*Disk, error) {
	d := &Disk{files: map[uint64]*file{}, names: map[string]uint64{}}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		ino, err := inode(path)
		if err != nil {
			return nil, err
		}
		d.files[ino], d.names[e.Name()] = &file{synced: text}, ino
	}
	return d, nil
}

// Do applies an operation.
func (d *Disk) Do(o Op) {
	switch o.Kind {
	case Create:
		d.file(o.File)
		d.moves = append(d.moves, o)
	case Rename, Remove:
		d.moves = append(d.moves, o)
	case Write, Resize:
		f := d.file(o.File)
		f.since = append(f.since, o)
	case Sync:
		f := d.file(o.File)
		f.synced, f.since = f.after(func() bool { return true }, len(f.since)), nil
	case SyncFolder:
		d.names, d.moves = named(d.names, d.moves), nil
	case Say:
	}
}

func (d *Disk) file(ino uint64) *file {
	f := d.files[ino]
	if f == nil {
		f = &file{}
		d.files[ino] = f
	}
	return f
}

// after returns the file's content with the unsynced sectors for which keep returns true, and with the size that it had
// after the first sized unsynced operations.
func (f *file) after(keep func() bool, sized int) []byte {
	out, size := bytes.Clone(f.synced), int64(len(f.synced))
	for i, o := range f.since {
		end := o.At
		if o.Kind == Write {
			end += int64(len(o.Data))
			out = grown(out, end)
			for at := o.At; at < end; {
				next := min((at/Sector+1)*Sector, end)
				if keep() {
					copy(out[at:next], o.Data[at-o.At:next-o.At])
				}
				at = next
			}
			end = max(end, size)
		} else {
			out = grown(out, end)
		}
		if i < sized {
			size = end
		}
	}
	out = grown(out, size)
	return out[:size]
}

func grown(b []byte, size int64) []byte {
	if n := size - int64(len(b)); n > 0 {
		b = append(b, make([]byte, n)...)
	}
	return b
}

// named returns the names after some moves.
func named(names map[string]uint64, moves []Op) map[string]uint64 {
	out := maps.Clone(names)
	for _, o := range moves {
		switch o.Kind {
		case Create:
			out[o.Name] = o.File
		case Rename:
			out[o.To] = out[o.Name]
			delete(out, o.Name)
		default:
			delete(out, o.Name)
		}
	}
	return out
}

// Cut returns what a power cut now would leave: the files by name. The dice choose among the possible outcomes.
func (d *Disk) Cut(dice *rand.Rand) map[string][]byte {
	names := named(d.names, d.moves[:dice.IntN(len(d.moves)+1)])
	out := make(map[string][]byte, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) { // order: of dice
		f := d.files[names[name]]
		often := []float64{0, 0.1, 0.5, 0.9, 1}[dice.IntN(5)]
		out[name] = f.after(func() bool { return dice.Float64() < often }, dice.IntN(len(f.since)+1))
	}
	return out
}

// Put replaces the content of a folder with what a cut left.
func Put(dir string, found map[string][]byte) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range found { // order: files
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Loose returns how many writes and size changes of a file are not known to be on the disk.
func (d *Disk) Loose(name string) int {
	if f := d.files[named(d.names, d.moves)[name]]; f != nil {
		return len(f.since)
	}
	return 0
}
