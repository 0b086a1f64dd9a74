package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/conf"
	"heddle/daemon"
	learn "heddle/daemon/facts"
	"heddle/internal/plain"
	"heddle/rm"
)

// FileName is the name of the file, beside Hadoop's own, with the settings that YARN does not have.
const FileName = "heddle.yaml"

// Options are the command line's settings. They override heddle.yaml, which overrides Hadoop's files.
type Options struct {
	// ConfDir is a Hadoop configuration folder; "" means the one that HADOOP_CONF_DIR names, if it is set.
	ConfDir string
	File    string   // heddle.yaml; "" for the one in ConfDir, if it exists
	Profile string   // name or file of a profile; "" for the configured one
	Sets    []string // changes to the profile, such as place.map=delay
	Data    string   // folder of the store
	Listen  Listen   // where to listen
}

// A Daemon is everything needed to start a ResourceManager.
type Daemon struct {
	Config    daemon.Config
	Scheduler *rm.Scheduler
	Refresh   daemon.RefreshFunc // reads all files again, with the same options

	Facts   learn.Options // what to find out about jobs, and where
	DataDir string        // folder of the store; it need not exist yet
	Log     Log
	Open    bool // the user accepts that everybody who reaches the ports can act as anybody

	Properties []conf.Property // what Hadoop's files set
	Notices    []conf.Notice   // settings that have a different effect than they seem to have, or none where they should have one
	Deviations []Deviation     // defaults that differ from YARN's
	Remarks    []string        // for people, at the start: what was read, which scheduler is used, and why
}

// A source is everything that was read.
type source struct {
	Options
	hadoop *conf.Hadoop // complete
	file   *file        // never nil
	had    found
}

// found says which of Hadoop's files exist, before defaults are added.
type found struct {
	dir            bool
	capacity, fair bool
}

// Load reads the configuration. Errors name the file and line, and say what would be right.
func Load(o Options) (*Daemon, error) {
	s, err := serving(o)
	if err != nil {
		return nil, err
	}
	d := &Daemon{Properties: s.hadoop.Properties, Notices: append(notable(s.hadoop.Notices), s.hadoop.Daemon.Remarks...), Deviations: Deviations(), Log: s.file.log()}
	if d.DataDir, err = s.dataDir(); err != nil {
		return nil, err
	}
	if d.Config, err = s.config(room(os.DirFS("/"))); err != nil {
		return nil, err
	}
	if d.Open, err = s.listen(&d.Config); err != nil {
		return nil, err
	}
	var why []string
	members := newGroups(s.hadoop.Daemon.GroupOverrides) // what it knows outlives a refresh
	if d.Scheduler, why, err = s.scheduler(members); err != nil {
		return nil, err
	}
	d.Facts = s.facts()
	d.Config.ReadJobs, d.Config.AskNobody = d.Facts.Submissions, !d.Facts.Masters
	var unknown []string
	if d.Config.ProxyUsers, unknown = s.proxyUsers(); len(unknown) > 0 {
		why = append(why, "the addresses of these hosts are not known: "+strings.Join(unknown, ", ")+"; proxy users cannot act for others from there (hadoop.proxyuser.*.hosts)")
	}
	d.Remarks = append(s.remarks(), why...)
	d.Refresh = func() (*rm.Scheduler, error) {
		again, err := serving(s.Options)
		if err == nil {
			err = again.fits(s)
		}
		if err != nil {
			return nil, err
		}
		sch, _, err := again.scheduler(members)
		return sch, err
	}
	return d, nil
}

// fits returns an error if a setting on which a scheduler depends is not what it was at the start, and all that was told
// or stored since then depends on it too.
func (s *source) fits(start *source) error {
	is, was := s.hadoop.Site, start.hadoop.Site
	if !slices.Equal(is.Extra, was.Extra) {
		return changed(s.propertyOf("yarn.resource-types"), strings.Join(was.Extra, ","), strings.Join(is.Extra, ","))
	}
	for i, name := range is.Extra {
		if is.ExtraUnits[i] != was.ExtraUnits[i] {
			return changed(s.propertyOf("yarn.resource-types."+name+".units"), was.ExtraUnits[i], is.ExtraUnits[i])
		}
	}
	if s.agents() != start.agents() {
		return changed(s.file.placeOf("listen.agents"), start.file.Listen.Agents, s.file.Listen.Agents)
	}
	return nil
}

// changed returns the error that a setting was changed that is read only at the start.
func changed(at plain.Place, was, is string) error {
	return &plain.Fault{Place: at, Err: fmt.Errorf("was %q at the start and is %q now: restart the ResourceManager, or change it back; until then nothing is read again", was, is)}
}

// propertyOf returns the place of one of Hadoop's properties; it has no file if none sets it.
func (s *source) propertyOf(name string) plain.Place {
	at := plain.Place{Key: name}
	for _, p := range s.hadoop.Properties {
		if p.Name == name {
			at.File = p.File
		}
	}
	return at
}

// DataDir returns the absolute path of the store's folder for a ResourceManager that is started with these options.
func DataDir(o Options) (string, error) {
	if o.Data != "" { // whatever is wrong with the configuration
		return filepath.Abs(o.Data)
	}
	s, err := read(o)
	if err != nil {
		return "", err
	}
	return s.dataDir()
}

// notable returns the notices except those about settings that do not concern a scheduler.
func notable(all []conf.Notice) (out []conf.Notice) {
	for _, n := range all {
		if n.Kind != conf.Harmless {
			out = append(out, n)
		}
	}
	return out
}

// serving reads the files for a ResourceManager, which must not do less than they ask for.
func serving(o Options) (*source, error) {
	s, err := read(o)
	if err == nil && len(s.hadoop.Daemon.Refused) > 0 {
		return nil, s.hadoop.Daemon.Refused
	}
	return s, err
}

// read reads the files.
func read(o Options) (*source, error) {
	s := &source{Options: o, hadoop: conf.Bare(), file: &file{}}
	named := ""
	if s.ConfDir == "" {
		s.ConfDir, named = os.Getenv("HADOOP_CONF_DIR"), "HADOOP_CONF_DIR: "
	}
	if s.ConfDir != "" && s.File == "" {
		if path := filepath.Join(s.ConfDir, FileName); exists(path) {
			s.File = path
		}
	}
	if s.File != "" {
		var err error
		if s.file, err = readFile(s.File); err != nil {
			return nil, err
		}
	}
	if s.ConfDir != "" {
		h, err := conf.ReadCluster(s.ConfDir)
		switch {
		case err == nil:
			s.hadoop, s.had = h, found{true, h.Capacity != nil, h.Fair != nil}
		case isErrors(err):
			return nil, err
		case !errors.Is(err, conf.ErrNoFiles) || !exists(filepath.Join(s.ConfDir, FileName)):
			return nil, fmt.Errorf("%s%w", named, err)
		}
	}
	s.hadoop = s.hadoop.Complete()
	return s, nil
}

// isErrors reports whether an error names its own place.
func isErrors(err error) bool {
	_, ok := errors.AsType[conf.Errors](err)
	return ok
}

// remarks says what was read.
func (s *source) remarks() []string {
	switch {
	case s.had.dir && s.File != "":
		return []string{fmt.Sprintf("configuration: %s and %s", s.ConfDir, s.File)}
	case s.had.dir:
		return []string{"configuration: " + s.ConfDir}
	case s.File != "":
		return []string{"configuration: " + s.File}
	}
	return []string{"no configuration: using defaults; --conf or HADOOP_CONF_DIR names a Hadoop configuration folder"}
}

// dataDir returns the absolute path of the store's folder.
func (s *source) dataDir() (string, error) {
	switch {
	case s.Data != "":
		return filepath.Abs(s.Data)
	case s.file.Data != "":
		return filepath.Abs(s.file.beside(s.file.Data))
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) { // a relative path must be ignored
		return filepath.Join(state, "heddle"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home directory to keep state in (%w); name a folder with --data", err)
	}
	return filepath.Join(home, ".local", "state", "heddle"), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
