package rest

import (
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// flushAt is how many bytes are collected before they are written out.
const flushAt = 32 << 10

type form uint8

const (
	formNatural form = iota
	formMapped
	formXML
)

// An encoder writes values in one form. The standard library's encoders write neither Java's floats nor YARN's maps, and
// would need two sets of tags.
type encoder struct {
	w    io.Writer
	form form
	buf  []byte
	err  error
}

func (e *encoder) str(s string) { e.buf = append(e.buf, s...) }

func (e *encoder) flush() {
	if e.err == nil && len(e.buf) > 0 {
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// full writes out the collected bytes if there are enough, and reports whether writing has failed.
func (e *encoder) full() bool {
	if len(e.buf) >= flushAt {
		e.flush()
	}
	return e.err != nil
}

func (e *encoder) end() error {
	e.flush()
	return e.err
}

// value writes v as JSON.
func (e *encoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.str("null")
			return
		}
		e.value(v.Elem())
	case reflect.Struct:
		e.object(v)
	case reflect.Slice:
		if v.Type() == entriesType {
			e.entries(v.Interface().(Entries))
			return
		}
		e.list(v)
	case reflect.String:
		e.quote(v.String())
	default:
		if e.form == formMapped {
			e.str(`"`)
			e.scalar(v)
			e.str(`"`)
			return
		}
		e.scalar(v)
	}
}

func (e *encoder) object(v reflect.Value) {
	e.str("{")
	first := true
	for _, f := range fieldsOf(v.Type()) {
		fv := v.Field(f.index)
		if f.leaveOut(fv) {
			continue
		}
		if !first {
			e.str(",")
		}
		first = false
		e.quote(f.name)
		e.str(":")
		e.value(fv)
	}
	e.str("}")
}

func (e *encoder) list(v reflect.Value) {
	if e.form == formMapped && v.Len() == 1 {
		e.value(v.Index(0))
		return
	}
	e.str("[")
	for i := range v.Len() {
		if i > 0 {
			e.str(",")
		}
		e.value(v.Index(i))
		if e.full() {
			return
		}
	}
	e.str("]")
}

// entries writes a map. Natural notation repeats the member "entry" for each entry, as YARN's clients expect.
func (e *encoder) entries(m Entries) {
	e.str("{")
	collect := e.form == formMapped && len(m) > 1
	for i, entry := range m {
		switch {
		case i > 0 && collect:
			e.str(",")
		case i > 0:
			e.str(`,"entry":`)
		case collect:
			e.str(`"entry":[`)
		default:
			e.str(`"entry":`)
		}
		e.str(`{"key":`)
		e.quote(entry.Key)
		e.str(`,"value":`)
		e.quote(entry.Value)
		e.str("}")
	}
	if collect {
		e.str("]")
	}
	e.str("}")
}

// element writes v as the XML element called name; a list becomes one element per item.
func (e *encoder) element(name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			e.element(name, v.Elem())
		}
		return
	case reflect.Slice:
		if v.Type() != entriesType {
			for i := range v.Len() {
				e.element(name, v.Index(i))
				if e.full() {
					return
				}
			}
			return
		}
	default:
	}
	e.str("<")
	e.str(name)
	if v.Kind() == reflect.Struct {
		e.children(name, v)
		return
	}
	if v.Kind() == reflect.Slice {
		e.xmlEntries(name, v.Interface().(Entries))
		return
	}
	e.str(">")
	if v.Kind() == reflect.String {
		e.text(v.String())
	} else {
		e.scalar(v)
	}
	e.closing(name)
}

func (e *encoder) closing(name string) {
	e.str("</")
	e.str(name)
	e.str(">")
}

// children ends the start tag of a struct's element and writes its content.
func (e *encoder) children(name string, v reflect.Value) {
	fields := fieldsOf(v.Type())
	empty := true
	for _, f := range fields {
		fv := v.Field(f.index)
		switch {
		case f.leaveOut(fv):
		case f.xsi:
			e.str(` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="`)
			e.text(fv.String())
			e.str(`"`)
		case fv.Kind() == reflect.Slice && fv.Len() == 0 && fv.Type() != entriesType:
		default:
			if empty {
				e.str(">")
			}
			empty = false
			e.element(f.name, fv)
		}
	}
	if empty {
		e.str("/>")
		return
	}
	e.closing(name)
}

func (e *encoder) xmlEntries(name string, m Entries) {
	if len(m) == 0 {
		e.str("/>")
		return
	}
	e.str(">")
	for _, entry := range m {
		e.str("<entry><key>")
		e.text(entry.Key)
		e.str("</key><value>")
		e.text(entry.Value)
		e.str("</value></entry>")
	}
	e.closing(name)
}

// scalar writes a number or a boolean as it is.
func (e *encoder) scalar(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.buf = strconv.AppendUint(e.buf, v.Uint(), 10)
	case reflect.Float32:
		e.float(v.Float(), 32)
	case reflect.Float64:
		e.float(v.Float(), 64)
	default:
		panic("rest: no form for a " + v.Type().String()) // a mistake in one of our structs, found by its first test
	}
}

// float writes a number with a decimal point, as Java does: some readers recognise integers by its absence.
func (e *encoder) float(f float64, bits int) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		s := strings.Replace(strconv.FormatFloat(f, 'E', -1, bits), "E+", "E", 1)
		mantissa, exponent, _ := strings.Cut(s, "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		e.str(mantissa)
		e.str("E")
		n, _ := strconv.Atoi(exponent)
		e.buf = strconv.AppendInt(e.buf, int64(n), 10)
		return
	}
	start := len(e.buf)
	e.buf = strconv.AppendFloat(e.buf, f, 'f', -1, bits)
	if !slices.Contains(e.buf[start:], '.') {
		e.str(".0")
	}
}

const hex = "0123456789abcdef"

// quote writes s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func (e *encoder) quote(s string) {
	e.str(`"`)
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 || r == '\u2028' || r == '\u2029' {
				e.str(s[start:i])
				e.str(`\u`)
				for shift := 12; shift >= 0; shift -= 4 {
					e.buf = append(e.buf, hex[r>>shift&15])
				}
				start = i + n
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		e.str(s[start:i])
		switch c {
		case '"', '\\':
			e.buf = append(e.buf, '\\', c)
		case '\n':
			e.str(`\n`)
		case '\r':
			e.str(`\r`)
		case '\t':
			e.str(`\t`)
		default:
			e.buf = append(e.buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	e.str(s[start:])
	e.str(`"`)
}

// text writes s as XML text. Characters that XML does not allow become U+FFFD.
func (e *encoder) text(s string) {
	for _, r := range s {
		switch {
		case r == '&':
			e.str("&amp;")
		case r == '<':
			e.str("&lt;")
		case r == '>':
			e.str("&gt;")
		case r == '"':
			e.str("&quot;")
		case r == '\r':
			e.str("&#13;")
		case r < ' ' && r != '\n' && r != '\t', r == 0xFFFE, r == 0xFFFF:
			e.str("\uFFFD")
		default:
			e.buf = utf8.AppendRune(e.buf, r)
		}
	}
}

// A field is one member of a struct.
type field struct {
	index     int
	name      string
	omitempty bool
	xsi       bool // in XML it is the element's type
}

// leaveOut reports whether the field is omitted: it may be, and is empty.
func (f field) leaveOut(v reflect.Value) bool {
	if !f.omitempty {
		return v.Kind() == reflect.Pointer && v.IsNil()
	}
	if v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}

var plans sync.Map // reflect.Type → []field

// fieldsOf returns the members of a struct type, from the tags `json:"name,omitempty"` and `rest:"xsi"`.
func fieldsOf(t reflect.Type) []field {
	if p, ok := plans.Load(t); ok {
		return p.([]field)
	}
	var out []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, rest, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		out = append(out, field{index: i, name: name, omitempty: rest == "omitempty", xsi: sf.Tag.Get("rest") == "xsi"})
	}
	plans.Store(t, out)
	return out
}
