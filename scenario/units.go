package scenario

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"heddle"
	"heddle/workload"
)

// The scalars of a scenario file. Each knows its position, and whether it is present at all.

// scalarText returns a scalar as written.
func scalarText(n ast.Node, want string) (string, position, error) {
	p := positionOf(n)
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, p, nil
	case *ast.LiteralNode:
		return s.Value.Value, p, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, p, nil
	}
	return "", p, p.errorf("wanted %s", want)
}

// text is any text.
type text struct {
	position
	value string
}

func (t *text) UnmarshalYAML(n ast.Node) (err error) {
	t.value, t.position, err = scalarText(n, "text")
	return err
}

// flag is true or false.
type flag struct {
	position
	set, value bool
}

func (f *flag) UnmarshalYAML(n ast.Node) error {
	b, ok := n.(*ast.BoolNode)
	f.position, f.set = positionOf(n), true
	if !ok {
		return f.errorf("wanted true or false")
	}
	f.value = b.Value
	return nil
}

// whole is a whole number of at least 0.
type whole struct {
	position
	set   bool
	value int
}

const maxWhole = workload.MaxTasksPerJob

func (w *whole) UnmarshalYAML(n ast.Node) error {
	s, p, err := scalarText(n, "a whole number")
	if err != nil {
		return err
	}
	v, err := strconv.Atoi(s)
	if err != nil || v < 0 || v > maxWhole {
		return p.errorf("%s: wanted a whole number from 0 to %d", clip(s), maxWhole)
	}
	w.position, w.set, w.value = p, true, v
	return nil
}

// or returns the number, or other if there is none.
func (w whole) or(other int) int {
	if w.set {
		return w.value
	}
	return other
}

// number is any number of at least 0.
type number struct {
	position
	set   bool
	value float64
}

func (f *number) UnmarshalYAML(n ast.Node) error {
	s, p, err := scalarText(n, "a number")
	if err != nil {
		return err
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || v > 1e12 {
		return p.errorf("%s: wanted a number from 0", clip(s))
	}
	f.position, f.set, f.value = p, true, v
	return nil
}

var quantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([A-Za-z/]*)$`)

// parts splits a value such as 1.5GiB into its number and its unit.
func parts(s string) (v float64, unit string, ok bool) {
	m := quantity.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, "", false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v, m[2], err == nil
}

// scaled reads a number with a unit. units maps each unit to its value; plain is the value of a missing unit. A value
// that is not allowed is refused with the text in want.
func scaled(n ast.Node, units map[string]float64, plain float64, want string, allowed func(float64) bool) (float64, position, error) {
	s, p, err := scalarText(n, strings.TrimPrefix(want, "wanted "))
	if err != nil {
		return 0, p, err
	}
	v, unit, ok := parts(s)
	scale, known := units[unit]
	if unit == "" {
		scale, known = plain, true
	}
	if v *= scale; !ok || !known || !allowed(v) {
		return 0, p, p.errorf("%s: %s", clip(s), want)
	}
	return v, p, nil
}

var byteUnits = map[string]float64{
	"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50,
}

// size is an amount of data in bytes.
type size struct {
	position
	set   bool
	bytes int64
}

const wantSize = "wanted bytes, or an amount like 64MiB, 28GB or 1.5TiB"

func (z *size) UnmarshalYAML(n ast.Node) error {
	v, p, err := scaled(n, byteUnits, 1, wantSize, func(v float64) bool { return v <= workload.MaxBytes })
	if err == nil {
		z.position, z.set, z.bytes = p, true, int64(math.Round(v))
	}
	return err
}

// memory is an amount of memory in MiB.
type memory struct {
	position
	set bool
	mib int64
}

const wantMemory = "wanted MiB, or an amount like 8GiB or 512MiB that is a whole number of MiB"

func (m *memory) UnmarshalYAML(n ast.Node) error {
	const mib = 1 << 20
	v, p, err := scaled(n, byteUnits, mib, wantMemory, func(v float64) bool {
		return v/mib == math.Trunc(v/mib) && v/mib <= workload.MaxMemory
	})
	if err == nil {
		m.position, m.set, m.mib = p, true, int64(v/mib)
	}
	return err
}

var spanUnits = map[string]float64{
	"ms": float64(heddle.Millisecond), "s": float64(heddle.Second), "m": float64(heddle.Minute), "min": float64(heddle.Minute),
	"h": float64(heddle.Hour), "d": float64(24 * heddle.Hour),
}

// span is a length of time.
type span struct {
	position
	set   bool
	value heddle.Span
}

const wantSpan = "wanted seconds, or a time like 500ms, 90s, 1.5m, 2h"

func (t *span) UnmarshalYAML(n ast.Node) error {
	v, p, err := scaled(n, spanUnits, float64(heddle.Second), wantSpan, func(v float64) bool { return v <= float64(workload.MaxSpan) })
	if err == nil {
		t.position, t.set, t.value = p, true, heddle.Span(math.Round(v))
	}
	return err
}

var rateUnits = map[string]float64{"MB/s": 1e6, "GB/s": 1e9, "MiB/s": 1 << 20, "Mb/s": 1e6 / 8, "Gb/s": 1e9 / 8}

// rate is a transfer rate in bytes/s.
type rate struct {
	position
	set bool
	bps float64
}

const wantRate = "wanted MB/s above 0, or a rate like 150MB/s or 10Gb/s"

func (r *rate) UnmarshalYAML(n ast.Node) error {
	v, p, err := scaled(n, rateUnits, 1e6, wantRate, func(v float64) bool { return v > 0 && v <= 1e15 })
	if err == nil {
		r.position, r.set, r.bps = p, true, v
	}
	return err
}

// amount is data in bytes or, if written as a plain number, a ratio of a job's input.
type amount struct {
	position
	set   bool
	bytes int64
	ratio float64 // used if bytes is 0
}

// maxRatio distinguishes a ratio from bytes whose unit was forgotten.
const maxRatio = 100

func (a *amount) UnmarshalYAML(n ast.Node) error {
	const want = "wanted a ratio of the input like 0.3, or an amount like 64MiB"
	s, p, err := scalarText(n, strings.TrimPrefix(want, "wanted "))
	if err != nil {
		return err
	}
	a.position, a.set = p, true
	if v, unit, ok := parts(s); ok && unit == "" {
		if v > maxRatio {
			return p.errorf("%s: a ratio above %d; bytes are written with a unit: %gB", clip(s), maxRatio, v)
		}
		a.ratio = v
		return nil
	}
	var z size
	if err := z.UnmarshalYAML(n); err != nil {
		return p.errorf("%s: %s", clip(s), want)
	}
	a.bytes = z.bytes
	return nil
}

// of returns the bytes for a job with the given input.
func (a amount) of(input int64) int64 {
	if a.bytes > 0 {
		return a.bytes
	}
	return int64(min(math.Round(a.ratio*float64(input)), workload.MaxBytes))
}

// clip quotes a value in shortened form.
func clip(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}
