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

// understood is the only value of insecure_open.
const understood = "I understand"

// maxFile is the maximum size of heddle.yaml in bytes.
const maxFile = 16 << 10

// A file is the content of heddle.yaml.
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

// beats configures the heartbeats of nodes: intervals such as 100ms, and heartbeats a second in total.
type beats struct {
	Fast   string `yaml:"fast,omitempty"`
	Normal string `yaml:"normal,omitempty"`
	Idle   string `yaml:"idle,omitempty"`
	Load   int    `yaml:"load,omitempty"`

	fast, normal, idle time.Duration // 0 if not set
}

// nodes says what the site's NodeManagers can do to containers; it holds for all of them.
type nodes struct {
	Can *[]string `yaml:"can,omitempty"` // nil: what stock NodeManagers can do
}

// told are the capabilities that heddle.yaml may name: those of a NodeManager without a node agent that is configured
// for them.
const told = heddle.Stock | heddle.Parks

// caps returns the named capabilities; ok is false if a name is unknown.
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

// facts says what to find out about jobs besides YARN's protocols. The default is everything.
type facts struct {
	Masters     *bool `yaml:"masters,omitempty"`
	Submissions *bool `yaml:"submissions,omitempty"`
}

// A Listen says where to listen, each as host:port, host or :port; "" leaves the choice to the next source.
type Listen struct {
	Host      string `yaml:"host,omitempty"` // for all ports
	Client    string `yaml:"client,omitempty"`
	Scheduler string `yaml:"scheduler,omitempty"`
	Tracker   string `yaml:"tracker,omitempty"`
	Admin     string `yaml:"admin,omitempty"`
	Web       string `yaml:"web,omitempty"`
	Agents    string `yaml:"agents,omitempty"` // "": no such port
}

type logging struct {
	Level  string `yaml:"level,omitempty"`
	Format string `yaml:"format,omitempty"`
}

// A Log configures the daemon's log.
type Log struct {
	Level slog.Level
	JSON  bool // otherwise text
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
		return f, nil // everything is commented out
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

// check checks the values that need a certain format.
func (f *file) check() error {
	for _, c := range []struct {
		bad  bool
		key  string
		text string
	}{
		{f.InsecureOpen != "" && f.InsecureOpen != understood, "insecure_open", fmt.Sprintf("the only value is %q", understood)},
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
		{!f.knownWatchdog(), "watchdog", fmt.Sprintf("wanted a time of at least %v, or 0s for never", minWatchdog)},
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

const badCount = "wanted a number of at least 1"

// none reports whether a number is given and below 1.
func none(count *int) bool { return count != nil && *count < 1 }

// interval parses the time between heartbeats of a node, if given, and reports whether it is valid.
func interval(text string, into *time.Duration) bool {
	if text == "" {
		return true
	}
	var err error
	*into, err = time.ParseDuration(text)
	return err == nil && *into >= minBeat
}

// How long the loop may hang before the process ends: the default, and the minimum. Nothing the loop does takes as long
// as the minimum on a machine that is merely busy.
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
		_ = l.Level.UnmarshalText([]byte(f.Logging.Level)) // already checked
	}
	return l
}

// beside returns the path of something that the file names. A relative path is relative to the file's folder.
func (f *file) beside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}

// errorOf returns an error about the value of a key such as beats.fast.
func (f *file) errorOf(key, format string, args ...any) error {
	return &plain.Fault{Place: f.placeOf(key), Err: fmt.Errorf(format, args...)}
}

// placeOf returns the place of a key's value; it has no line if the key is missing.
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

// keysBeside returns the keys that are valid in the place of an unknown one.
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
