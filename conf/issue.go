package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Error is something in a configuration that cannot be used: what is wrong, and what would be right.
type Error struct {
	File  string
	Line  int    // 1-based; 0 when the file as a whole is meant
	Field string // property, element or attribute; may be empty
	Text  string
}

// Error returns file:line: field: text.
func (e Error) Error() string { return place(e.File, e.Line, e.Field) + e.Text }

// Errors are all errors of a configuration, in order of file and line.
type Errors []Error

// Error returns one line per error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}

// NoticeKind says what a notice is about.
type NoticeKind uint8

// The kinds of notice, most important first.
const (
	Unsupported NoticeKind = iota // asks for something that is not in effect here
	Unknown                       // no property of this name, or of a queue that is not in the tree
	Remark                        // taken, but probably not what was meant
	Harmless                      // has nothing to do with what is scheduled when
)

// String returns the kind as it stands in reports.
func (k NoticeKind) String() string {
	return [...]string{"not supported", "unknown", "remark", "no effect"}[k]
}

// A Notice is something in a configuration that has no effect, or another effect than it seems to have.
type Notice struct {
	Kind     NoticeKind
	File     string
	Line     int
	Property string // property, element or attribute
	Text     string
}

// String returns file:line: property: text.
func (n Notice) String() string { return place(n.File, n.Line, n.Property) + n.Text }

// Together returns the notices of a kind, those of one text together: one property may ask for the same in a hundred
// queues.
func Together(all []Notice, kind NoticeKind) [][]Notice {
	var out [][]Notice
	at := map[string]int{}
	for _, n := range all {
		if n.Kind != kind {
			continue
		}
		i, ok := at[n.Text]
		if !ok {
			i = len(out)
			at[n.Text], out = i, append(out, nil)
		}
		out[i] = append(out[i], n)
	}
	return out
}

// Place returns file:line: property.
func (n Notice) Place() string { return strings.TrimSuffix(place(n.File, n.Line, n.Property), ": ") }

func place(file string, line int, field string) string {
	s := file
	if line > 0 {
		s = fmt.Sprintf("%s:%d", file, line)
	}
	if field != "" {
		s += ": " + field
	}
	return s + ": "
}

// A log collects what reading finds; nothing stops at the first error but a file that is not XML.
type log struct {
	errs    Errors
	notices []Notice
}

func (l *log) fail(file string, line int, field, format string, args ...any) {
	l.errs = append(l.errs, Error{file, line, field, fmt.Sprintf(format, args...)})
}

func (l *log) note(k NoticeKind, file string, line int, field, format string, args ...any) {
	l.notices = append(l.notices, Notice{k, file, line, field, fmt.Sprintf(format, args...)})
}

// sort puts both lists in order of file and line. What several queues inherit is said once.
func (l *log) sort() {
	slices.SortStableFunc(l.errs, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Field, b.Field))
	})
	l.errs = slices.Compact(l.errs)
	slices.SortStableFunc(l.notices, func(a, b Notice) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Property, b.Property))
	})
	l.notices = slices.Compact(l.notices)
}

func (l *log) err() error {
	if len(l.errs) == 0 {
		return nil
	}
	return l.errs
}
