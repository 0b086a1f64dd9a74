package setup

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"heddle"
	"heddle/internal/near"
	"heddle/internal/plain"
)

// understood is what insecure_open must say.
const understood = "I understand"

// maxFile is how large heddle.yaml may be, in bytes.
const maxFile = 16 << 10

// A file is heddle.yaml.
type file struct {
	Profile      string   `yaml:"profile,omitempty"`
	Set          []string `yaml:"set,omitempty"`
	Data         string   `yaml:"data,omitempty"`
	Beats        beats    `yaml:"beats,omitempty"`
	Nodes        nodes    `yaml:"nodes,omitempty"`
	Listen       Listen   `yaml:"listen,omitempty"`
	Facts        facts    `yaml:"facts,omitempty"`
	Memory       memory   `yaml:"memory,omitempty"`
	Limits       limits   `yaml:"limits,omitempty"`
	Watchdog     string   `yaml:"watchdog,omitempty"` // how long the loop may hang before the process ends
	InsecureOpen string   `yaml:"insecure_open,omitempty"`
	Logging      logging  `yaml:"log,omitempty"`

	path string
	tree ast.Node
}

// beats are how often nodes report in: times such as 100ms, and reports a second in all.
type beats struct {
	Fast   string `yaml:"fast,omitempty"`
	Normal string `yaml:"normal,omitempty"`
	Idle   string `yaml:"idle,omitempty"`
	Load   int    `yaml:"load,omitempty"`

	fast, normal, idle time.Duration // 0 for what is not said
}

// nodes are what the site's NodeManagers can do to containers; all of them alike.
type nodes struct {
	Can *[]string `yaml:"can,omitempty"` // nil: what stock ones do
}

// told are the capabilities that heddle.yaml may name: what a NodeManager without a node agent does where it is set up for
// it.
const told = heddle.Stock | heddle.Parks

// caps is what the names stand for; ok is false where one is not known.
func (n nodes) caps() (can heddle.Caps, ok bool) {
	if n.Can == nil {
		return heddle.Stock, true
	}
	for _, name := range *n.Can {
		c, known := heddle.CapOf(name)
		if !known || !told.Has(c) {
			return 0, false
		}
		can |= c
	}
	return can, true
}

// facts are what is found out of jobs beside YARN's protocols; what is not said is.
type facts struct {
	Masters     *bool `yaml:"masters,omitempty"`
	Submissions *bool `yaml:"submissions,omitempty"`
}

// A Listen says where to listen, each as host:port, host or :port; "" leaves it to what comes after.
type Listen struct {
	Host      string `yaml:"host,omitempty"` // for all
	Client    string `yaml:"client,omitempty"`
	Scheduler string `yaml:"scheduler,omitempty"`
	Tracker   string `yaml:"tracker,omitempty"`
	Admin     string `yaml:"admin,omitempty"`
	Web       string `yaml:"web,omitempty"`
	Agents    string `yaml:"agents,omitempty"` // "": there is no such port
}

type logging struct {
	Level  string `yaml:"level,omitempty"`
	Format string `yaml:"format,omitempty"`
}

// A Log is how the daemon logs.
type Log struct {
	Level slog.Level
	JSON  bool // text otherwise
}

// readFile reads heddle.yaml.
func readFile(path string) (*file, error) {
	data, err := plain.ReadFile(path, maxFile)
	if err != nil {
		return nil, err
	}
	return parseFile(path, data)
}

func parseFile(path string, data []byte) (*file, error) {
	f := &file{path: path}
	var err error
	if f.tree, err = plain.Document(data); err != nil {
		return nil, f.yamlError(err)
	}
	if f.tree == nil {
		return f, nil // all commented out
	}
	if k := f.tree.Type(); k == ast.NullType {
		return f, nil
	} else if k != ast.MappingType && k != ast.MappingValueType {
		return nil, f.errorAt(f.tree.GetToken(), "wanted a mapping with %s", strings.Join(plain.Keys(reflect.TypeFor[file]()), ", "))
	}
	if err := yaml.NodeToValue(f.tree, f, yaml.Strict()); err != nil {
		return nil, f.yamlError(err)
	}
	return f, f.check()
}

// check looks at values that have a form of their own.
func (f *file) check() error {
	for _, c := range []struct {
		bad  bool
		key  string
		text string
	}{
		{f.InsecureOpen != "" && f.InsecureOpen != understood, "insecure_open", fmt.Sprintf("the only thing to say is %q", understood)},
		{!interval(f.Beats.Fast, &f.Beats.fast), "beats.fast", badBeat},
		{!interval(f.Beats.Normal, &f.Beats.normal), "beats.normal", badBeat},
		{!interval(f.Beats.Idle, &f.Beats.idle), "beats.idle", badBeat},
		{f.Beats.Load < 0, "beats.load", "wanted reports a second, at least 1"},
		{!amount(f.Memory.Limit, &f.Memory.limit), "memory.limit", badBytes},
		{!amount(f.Memory.Calls, &f.Memory.calls), "memory.calls", badBytes},
		{!amount(f.Memory.PerAddress, &f.Memory.perAddress), "memory.per_address", badBytes},
		{!amount(f.Memory.Stored, &f.Memory.stored), "memory.stored", badBytes},
		{none(f.Limits.Calls), "limits.calls_per_address", badCount},
		{none(f.Limits.Connections), "limits.connections_per_address", badCount},
		{none(f.Limits.Web), "limits.web_connections_per_address", badCount},
		{none(f.Limits.Nodes), "limits.nodes_per_address", badCount},
		{none(f.Limits.Apps), "limits.applications_per_user", badCount},
		{!amount(f.Limits.Stored, &f.Limits.stored), "limits.stored_per_user", badBytes},
		{!f.knownWatchdog(), "watchdog", fmt.Sprintf("wanted a time from %v on, or 0s for never", minWatchdog)},
		{f.Logging.Level != "" && !f.knownLevel(), "log.level", "wanted debug, info, warn or error"},
		{f.Logging.Format != "" && f.Logging.Format != "text" && f.Logging.Format != "json", "log.format", "wanted text or json"},
	} {
		if c.bad {
			return f.errorOf(c.key, "%s", c.text)
		}
	}
	if _, ok := f.Nodes.caps(); !ok {
		return f.errorOf("nodes.can", "wanted a list of some of %s", told)
	}
	return nil
}

const badCount = "wanted how many, at least 1"

// none reports whether a number is there that is none of anything.
func none(count *int) bool { return count != nil && *count < 1 }

// interval reads a time between reports of a node, if there is one, and reports whether it is one.
func interval(text string, into *time.Duration) bool {
	if text == "" {
		return true
	}
	var err error
	*into, err = time.ParseDuration(text)
	return err == nil && *into >= minBeat
}

// How long the loop may hang before the process ends: unless it is said, and at the least, since nothing that it does may
// take that long on a machine that is merely busy.
const (
	defaultWatchdog = time.Minute
	minWatchdog     = 10 * time.Second
)

func (f *file) knownWatchdog() bool {
	d, err := f.watchdog()
	return err == nil && (d == 0 || d >= minWatchdog)
}

func (f *file) watchdog() (time.Duration, error) {
	if f.Watchdog == "" {
		return defaultWatchdog, nil
	}
	return time.ParseDuration(f.Watchdog)
}

func (f *file) knownLevel() bool {
	var l slog.Level
	return l.UnmarshalText([]byte(f.Logging.Level)) == nil && !strings.ContainsAny(f.Logging.Level, "+-")
}

func (f *file) log() Log {
	l := Log{JSON: f.Logging.Format == "json"}
	if f.Logging.Level != "" {
		_ = l.Level.UnmarshalText([]byte(f.Logging.Level)) // was checked
	}
	return l
}

// beside returns the path of something the file names: a relative one is beside the file.
func (f *file) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}

// errorOf is an error about the value of a key such as beats.fast.
func (f *file) errorOf(key, format string, args ...any) error {
	return &plain.Fault{Place: f.placeOf(key), Err: fmt.Errorf(format, args...)}
}

// placeOf is where the value of a key stands; without a line where it is left out.
func (f *file) placeOf(key string) plain.Place {
	at := plain.Place{File: f.path}
	p, err := yaml.PathString("$." + key)
	if err == nil && f.tree != nil {
		if n, err := p.FilterNode(f.tree); err == nil && n != nil {
			at = plain.At(f.path, n.GetToken())
		}
	}
	at.Key = key
	return at
}

func (f *file) errorAt(t *token.Token, format string, args ...any) error {
	return &plain.Fault{Place: plain.At(f.path, t), Err: fmt.Errorf(format, args...)}
}

// yamlError turns an error of the YAML library into one line with a place.
func (f *file) yamlError(err error) error {
	if unknown, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		return f.errorAt(unknown.GetToken(), "unknown key %q; %s", unknown.GetToken().Value, near.Names(unknown.GetToken().Value, f.keysBeside(unknown.GetToken())))
	}
	at, _, text := plain.YAML(err)
	return f.errorAt(at, "%s", text)
}

// keysBeside are the keys that could stand where an unknown one does.
func (f *file) keysBeside(t *token.Token) []string {
	kind := reflect.TypeFor[file]()
	for field := range kind.Fields() {
		if field.Type.Kind() != reflect.Struct {
			continue
		}
		p, err := yaml.PathString("$." + tag(field))
		if err != nil {
			continue
		}
		n, err := p.FilterNode(f.tree)
		if m, ok := n.(ast.MapNode); ok && err == nil {
			for it := m.MapRange(); it.Next(); {
				if it.Key().GetToken() == t {
					return plain.Keys(field.Type)
				}
			}
		}
	}
	return plain.Keys(kind)
}

func tag(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}
