package conf

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
)

// A property is one <property> of a Hadoop configuration file.
type property struct {
	name, raw string
	file      string
	line      int // of the value
	nameLine  int
	final     bool
	used      bool // something asked for it
}

// A propReader reads Hadoop's property files, with what they include.
type propReader struct {
	open  func(path string) ([]byte, error)
	log   *log
	path  string // of the file that was asked for
	props []*property
	files int
}

// read returns the properties of a file in order. A file that does not exist is fs.ErrNotExist.
func (r *propReader) read(path string, data []byte) ([]*property, error) {
	r.path, r.props, r.files = path, nil, 0
	if err := r.file(path, data, 0); err != nil {
		return nil, err
	}
	return r.props, nil
}

func (r *propReader) file(path string, data []byte, depth int) error {
	s, err := newScanner(path, data)
	if err != nil {
		return err
	}
	if _, err := s.root("configuration"); err != nil {
		return err
	}
	if err := r.properties(s, depth); err != nil {
		return err
	}
	return s.tail()
}

// properties reads to the end of the element that was just started: a <configuration>, or the
// <fallback> of an include.
func (r *propReader) properties(s *scanner, depth int) error {
	for {
		t, err := s.next()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.CharData:
			if text := bytes.TrimSpace(t); len(text) > 0 {
				r.log.note(Remark, s.file, s.line, "", "text outside of a <property> is ignored: %.40q", text)
			}
		case xml.StartElement:
			switch t.Name.Local {
			case "property":
				err = r.property(s, t)
			case "configuration":
				err = r.properties(s, depth)
			case "include":
				err = r.include(s, t, depth)
			default:
				r.log.note(Unknown, s.file, s.line, t.Name.Local, "no such element; expected <property>")
				err = s.skip()
			}
			if err != nil {
				return err
			}
		}
	}
}

// property reads one <property>, whose parts may be elements or attributes.
func (r *propReader) property(s *scanner, start xml.StartElement) error {
	p := &property{file: s.file, line: s.line, nameLine: s.line}
	name, hasName := attr(start.Attr, "name")
	value, hasValue := attr(start.Attr, "value")
	empty := false // an element without content, which counts as none
	if f, _ := attr(start.Attr, "final"); f == "true" {
		p.final = true
	}
	for {
		t, err := s.next()
		if err != nil {
			return err
		}
		if _, ok := t.(xml.EndElement); ok {
			break
		}
		e, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		line := s.line
		switch e.Name.Local {
		case "name", "value", "final":
			var text string
			if text, err = s.text(e.Name.Local); err != nil {
				return err
			}
			switch e.Name.Local {
			case "name":
				name, hasName, p.nameLine = text, true, line
			case "value":
				if empty = text == ""; !empty {
					value, hasValue, p.line = text, true, line
				}
			default:
				p.final = text == "true"
			}
		case "description", "source", "tag":
			err = s.skip()
		default:
			r.log.note(Unknown, s.file, line, e.Name.Local, "no such element; a <property> has <name>, <value>, <final>")
			err = s.skip()
		}
		if err != nil {
			return err
		}
	}
	p.name, p.raw = strings.TrimSpace(name), value
	switch {
	case !hasName || p.name == "":
		r.log.note(Remark, s.file, p.line, "property", "has no <name> and is ignored")
	case !hasValue && empty:
	case !hasValue:
		r.log.note(Remark, s.file, p.nameLine, p.name, "has no <value> and is ignored")
	case len(p.name) > maxName:
		return Error{s.file, p.nameLine, "name", "is longer than 4096 bytes"}
	case len(value) > maxValue:
		return Error{s.file, p.line, p.name, "the value is longer than a mebibyte"}
	default:
		if now, old := renamed[p.name]; old {
			r.log.note(Remark, s.file, p.nameLine, p.name, "is an old name of %s, and counts as that", now)
			p.name = now
		}
		r.props = append(r.props, p)
	}
	return nil
}

// renamed are the names in use by the old ones that Hadoop still accepts, of what is read or reported.
var renamed = map[string]string{
	"fs.default.name":                            "fs.defaultFS",
	"topology.script.file.name":                  topologyScript,
	"topology.node.switch.mapping.impl":          topologyClass,
	"yarn.resourcemanager.display.per-user-apps": "yarn.webapp.filter-entity-list-by-user",
	"mapred.job.map.memory.mb":                   "mapreduce.map.memory.mb",
	"mapred.job.reduce.memory.mb":                "mapreduce.reduce.memory.mb",
	"mapred.map.child.java.opts":                 "mapreduce.map.java.opts",
	"mapred.reduce.child.java.opts":              "mapreduce.reduce.java.opts",
	"mapred.map.tasks":                           "mapreduce.job.maps",
	"mapred.reduce.tasks":                        "mapreduce.job.reduces",
	"mapred.reduce.slowstart.completed.maps":     "mapreduce.job.reduce.slowstart.completedmaps",
	"mapred.task.timeout":                        "mapreduce.task.timeout",
}

// include reads the file an <xi:include> names, or what its <fallback> holds where there is no such file. A relative path
// is beside the file that was asked for, or else beside the one that includes.
func (r *propReader) include(s *scanner, start xml.StartElement, depth int) error {
	line := s.line
	href, ok := attr(start.Attr, "href")
	if !ok || href == "" {
		return Error{s.file, line, "include", "has no href; expected href=\"file.xml\""}
	}
	path, ok := localPath(href)
	if !ok {
		return Error{s.file, line, "include", "href " + href + " is not a file of this machine; only files can be included"}
	}
	if r.files++; depth >= maxIncludes || r.files > 5*maxIncludes {
		return Error{s.file, line, "include", "too many files include each other; does one include itself?"}
	}
	at := beside(r.path, path)
	data, err := r.open(at)
	if errors.Is(err, fs.ErrNotExist) && depth > 0 {
		at = beside(s.file, path)
		data, err = r.open(at)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.fallback(s, href, line, depth)
	case err != nil:
		return Error{s.file, line, "include", "cannot read " + href + ": " + err.Error()}
	}
	if err := r.file(at, data, depth+1); err != nil {
		return err
	}
	return s.skip()
}

// localPath returns the path of a file of this machine, which may be given as a URL.
func localPath(name string) (string, bool) {
	if !strings.HasPrefix(name, "file:") {
		return name, !strings.Contains(name, "://")
	}
	u, err := url.Parse(name)
	if err != nil || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	return cmp.Or(u.Path, u.Opaque), true
}

// beside returns the path of what a file names: a relative one is beside the file.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

func (r *propReader) fallback(s *scanner, href string, line, depth int) error {
	found := false
	for {
		t, err := s.next()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			if !found {
				return Error{s.file, line, "include", "there is no file " + href + ", and no <xi:fallback> for that case"}
			}
			return nil
		case xml.StartElement:
			if t.Name.Local != "fallback" {
				return Error{s.file, s.line, t.Name.Local, "only <xi:fallback> may stand inside an include"}
			}
			found = true
			if err := r.properties(s, depth); err != nil {
				return err
			}
		}
	}
}
