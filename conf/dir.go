package conf

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"heddle/policies/capacity"
	"heddle/policies/fair"
)

// Hadoop is what a configuration folder says about scheduling.
type Hadoop struct {
	Site   *Site
	Daemon *Daemon

	Capacity          *capacity.Config // nil when there is no capacity-scheduler.xml
	CapacityPlacement *CapacityPlacement

	Fair          *fair.Config // nil when there is no fair-scheduler.xml
	FairPlacement *FairPlacement

	CapacityACLs map[string]QueueACL // by path; what is not there has none of its own
	FairACLs     map[string]QueueACL

	Files      []string   // that were read; nil where there is no folder
	Properties []Property // what the files set, by name
	Notices    []Notice   // in order of file and line

	fairSite  fair.Config // without queues: what yarn-site.xml says of the fair scheduler
	mapReduce Errors      // what is wrong with what the files say of MapReduce jobs
}

// A Property is what the files make of one property: every ${…} in its value is replaced.
type Property struct {
	Name, Value string
	Final       bool
	File        string
}

// ErrNoFiles is the error of a folder that has none of Hadoop's files.
var ErrNoFiles = errors.New("has none of the files of a Hadoop configuration")

// ReadDir reads a configuration folder. The error is an [Errors] of everything wrong with it, or says
// why the folder cannot be read; nothing is returned then.
func ReadDir(dir string) (*Hadoop, error) { return readDir(dir, true) }

// ReadCluster is ReadDir for a ResourceManager, which does not need what the files say of MapReduce jobs: what is wrong
// with that is a remark.
func ReadCluster(dir string) (*Hadoop, error) { return readDir(dir, false) }

func readDir(dir string, jobs bool) (*Hadoop, error) {
	var read []string
	l := newLoader(func(path string) ([]byte, error) {
		data, err := readFile(path)
		if err == nil {
			read = append(read, path)
		}
		return data, err
	}, outside)
	f, err := l.folder(dir)
	if err != nil {
		return nil, err
	}
	h := l.load(f)
	if jobs {
		l.log.errs = append(l.log.errs, h.mapReduce...)
		l.log.sort()
	}
	if err := l.log.err(); err != nil {
		return nil, err
	}
	h.Files = read
	return h, nil
}

// The files of a folder, in the order in which they are read.
const (
	coreSite     = "core-site.xml"
	yarnSite     = "yarn-site.xml"
	typesFile    = "resource-types.xml"
	capacityFile = "capacity-scheduler.xml"
	fairFile     = "fair-scheduler.xml"
	mapredSite   = "mapred-site.xml"
)

// files are paths by what they are; what is missing is not there.
type files struct {
	dir  string
	path map[string]string
}

// A loader reads files into a Hadoop.
type loader struct {
	open    func(string) ([]byte, error)
	outside func(string) (string, bool)
	log     *log
}

func newLoader(open func(string) ([]byte, error), outside func(string) (string, bool)) *loader {
	return &loader{open, outside, &log{}}
}

// readFile reads a regular file, and of one that is too large only so much that it is found out.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}

// folder finds the files of a folder.
func (l *loader) folder(dir string) (files, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return files{}, err
	}
	if !info.IsDir() {
		return files{}, fmt.Errorf("%s is not a folder; expected a Hadoop configuration folder", dir)
	}
	f := files{dir, map[string]string{}}
	for _, name := range []string{coreSite, yarnSite, typesFile, capacityFile, fairFile, mapredSite} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			f.path[name] = filepath.Join(dir, name)
		}
	}
	if len(f.path) == 0 {
		return f, fmt.Errorf("%s %w: %s, %s, %s, %s", dir, ErrNoFiles, capacityFile, fairFile, yarnSite, mapredSite)
	}
	if path := filepath.Join(dir, hdfsSite); exists(path) {
		f.path[hdfsSite] = path
	}
	return f, nil
}

// properties reads a property file of the folder; ok is false where it is not there or is not one.
func (l *loader) properties(f files, name string) (props []*property, ok bool) {
	path, ok := f.path[name]
	if !ok {
		return nil, false
	}
	data, err := l.open(path)
	if err == nil {
		r := &propReader{open: l.open, log: l.log}
		props, err = r.read(path, data)
	}
	if err != nil {
		l.log.errs = append(l.log.errs, asError(path, err))
		return nil, false
	}
	return props, true
}

// load reads the files; what is wrong is in l.log.
func (l *loader) load(f files) *Hadoop {
	h := &Hadoop{}
	base := newProperties(l.log, l.outside)
	for _, name := range []string{coreSite, yarnSite, typesFile} {
		props, _ := l.properties(f, name)
		base = base.over(props)
	}
	h.Site = readSite(base)
	h.Daemon = l.daemon(base)
	h.Daemon.checkKeys(base, h.Site.NodeExpiry)
	l.reconnect(f, base, h.Daemon)
	h.Daemon.Files = l.fileSystem(f, base)
	mr := l.mapReduce(f, base, h)
	props, ok := l.properties(f, capacityFile)
	cs := base.over(props)
	queues := map[string]bool{}
	if ok || base.m[csPrefix+"root.queues"] != nil {
		h.Capacity, h.CapacityPlacement = readCapacity(cs, h.Site, f.path[capacityFile])
		if h.Capacity != nil {
			h.CapacityACLs = cs.queueACLs(h.Capacity)
			for i := range h.Capacity.Queues {
				queues[h.Capacity.Queues[i].Path] = true
			}
		}
	}
	site := readFairSite(base, h.Site)
	h.fairSite = *site
	if path, data := l.allocations(f, base, h.Site); data != nil {
		h.Fair = site
		h.FairPlacement, h.FairACLs = readFair(l.log, site, h.Site.Extra, path, data)
	}
	l.missing(h, base)
	cs.join(mr, base)
	cs.leftovers(queues)
	h.Properties = cs.list()
	l.log.sort()
	h.Notices = l.log.notices
	return h
}

// apart returns the properties of a file over base, with a log of their own: what is wrong with them may be no error.
func (l *loader) apart(f files, name string, base *properties) *properties {
	own := &loader{l.open, l.outside, &log{}}
	props, _ := own.properties(f, name)
	ps := newProperties(own.log, l.outside)
	ps.m = base.m
	return ps.over(props)
}

// mapReduce reads what the files say of MapReduce jobs, and returns the properties of mapred-site.xml over base. What is
// wrong is an error if a file is read alone; in a folder it is one only for those who need it.
func (l *loader) mapReduce(f files, base *properties, h *Hadoop) *properties {
	mr := l.apart(f, mapredSite, base)
	readMapReduce(mr, h.Site)
	mr.log.sort()
	l.log.notices = append(l.log.notices, mr.log.notices...)
	if f.dir == "" {
		l.log.errs = append(l.log.errs, mr.log.errs...)
		return mr
	}
	h.mapReduce = mr.log.errs
	for _, e := range mr.log.errs {
		text := e.Text + ". A ResourceManager does not need it, but heddle sim does not start with it"
		h.Daemon.Remarks = append(h.Daemon.Remarks, Notice{Remark, e.File, e.Line, e.Field, text})
	}
	return mr
}

// allocations returns the fair scheduler's file: the one of the folder, by the name that yarn-site.xml
// gives, else the one yarn-site.xml names elsewhere.
func (l *loader) allocations(f files, ps *properties, s *Site) (string, []byte) {
	own, given := f.path[fairFile], ps.m["yarn.scheduler.fair.allocation.file"]
	path := own
	if given != nil && f.dir != "" {
		path = filepath.Join(f.dir, s.fairFile)
		if filepath.IsAbs(s.fairFile) {
			if path = s.fairFile; !exists(path) {
				path = filepath.Join(f.dir, filepath.Base(s.fairFile))
			}
		}
		if !exists(path) {
			l.log.note(Remark, given.file, given.line, given.name, "there is no file %s", s.fairFile)
			return "", nil
		}
	}
	if path == "" {
		return "", nil
	}
	data, err := l.open(path)
	if err != nil {
		l.log.errs = append(l.log.errs, asError(path, err))
		return "", nil
	}
	return path, append([]byte{}, data...) // not nil, even when the file is empty
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// missing notes when the folder asks for a scheduler of which it has no file.
func (l *loader) missing(h *Hadoop, ps *properties) {
	p := ps.m[schedulerClass]
	switch {
	case p == nil:
	case h.Site.Scheduler == "fair" && h.Fair == nil:
		l.log.note(Remark, p.file, p.line, p.name, "asks for the fair scheduler, but there is no %s", fairFile)
	case h.Site.Scheduler == "capacity" && h.Capacity == nil:
		l.log.note(Remark, p.file, p.line, p.name, "asks for the capacity scheduler, but there is no %s", capacityFile)
	}
}

// guess tells which of Hadoop's files one is, by its name, its top-level element and what it sets.
func guess(path string, data []byte) string {
	name := filepath.Base(path)
	for _, known := range []string{coreSite, yarnSite, typesFile, capacityFile, fairFile, mapredSite} {
		if name == known {
			return known
		}
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = charset
	for {
		t, err := d.Token()
		if err != nil {
			return yarnSite // whose reader says what is wrong
		}
		if s, ok := t.(xml.StartElement); ok {
			switch {
			case s.Name.Local == "allocations":
				return fairFile
			case strings.Contains(string(data), csPrefix):
				return capacityFile
			case strings.Contains(string(data), "mapreduce."):
				return mapredSite
			}
			return yarnSite
		}
	}
}

// CheckFile reads one of Hadoop's files, or a folder of them, and reports what it comes to. The error
// says only why it cannot be read at all; what is wrong in it is in the report.
func CheckFile(path string) (*Report, error) {
	l := newLoader(readFile, outside)
	f, err := l.folder(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if info, e := os.Stat(path); e != nil || info.IsDir() {
			return nil, err
		}
		data, err := l.open(path)
		if err != nil {
			return nil, err
		}
		f = files{path: map[string]string{guess(path, data): path}}
	}
	h := l.load(f)
	return &Report{Path: path, Hadoop: h, Errors: l.log.errs, Notices: l.log.notices}, nil
}
