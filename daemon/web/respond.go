package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"heddle/daemon"
	"heddle/internal/budget"
	"heddle/rm"
	"heddle/yarn/rest"
)

// Paths of the services.
const (
	restBase   = rest.Base
	heddleBase = rest.HeddleBase
)

// An answerFunc answers a request, or returns an error that [fail] writes.
type answerFunc func(*http.Request) (rest.Answer, error)

// answer makes a handler of an answerFunc, and list does so for answers that are lists: only a few are built at once.
func (s *site) answer(f answerFunc) http.Handler { return s.answers(f, false) }

func (s *site) list(f answerFunc) http.Handler { return s.answers(f, true) }

func (s *site) answers(f answerFunc, lists bool) http.Handler {
	expected := &budget.Expectation{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		ctx, held := s.Desk.Answer(ctx, addressOf(r), expected, lists)
		defer held.Left()
		ctx, reading := s.Readers.Begin(ctx, addressOf(r).String())
		defer func() { reading.End(written(w)) }()
		a, err := f(r.WithContext(ctx))
		if err == nil {
			err = daemon.Begin(ctx) // it mostly has already
		}
		if err == nil {
			err = reading.Turn(ctx)
		}
		held.Made(takesUp(reflect.ValueOf(a.Value), 3))
		if err != nil {
			reading.Pause()
			s.fail(w, r, err)
			return
		}
		s.write(w, r, http.StatusOK, a, reading)
	})
}

// begun is for answers that ask the daemon nothing: it takes memory and a turn before f makes the answer.
func begun(f answerFunc) answerFunc {
	return func(r *http.Request) (rest.Answer, error) {
		ctx := r.Context()
		if err := daemon.Begin(ctx); err != nil {
			return rest.Answer{}, err
		}
		if err := daemon.ReadingOf(ctx).Turn(ctx); err != nil {
			return rest.Answer{}, err
		}
		return f(r)
	}
}

// written returns how many bytes of an answer were written.
func written(w http.ResponseWriter) int {
	if rec, ok := w.(*recorder); ok {
		return rec.bytes
	}
	return 0
}

// busy tells the caller to try again.
func (s *site) busy(w http.ResponseWriter) {
	s.traffic.refused.Add(1)
	w.Header().Set("Retry-After", "1")
	http.Error(w, "too many requests at once; try again", http.StatusServiceUnavailable)
}

// addressOf returns the address a request comes from.
func addressOf(r *http.Request) netip.Addr {
	a, _ := netip.ParseAddrPort(r.RemoteAddr) // none in a test
	return a.Addr().Unmap()
}

// takesUp estimates how many bytes a value takes up in lists, down to a number of levels. It leaves out texts: most of
// them belong to the reported objects, and take up memory anyway.
func takesUp(v reflect.Value, levels int) (n int64) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return takesUp(v.Elem(), levels)
		}
	case reflect.Struct:
		for _, i := range fieldsWithLists(v.Type()) {
			n += takesUp(v.Field(i), levels)
		}
	case reflect.Slice:
		n = 2 * int64(v.Len()) * int64(v.Type().Elem().Size()) // in the form that is sent, and in the form that was reported
		if levels > 0 && hasLists(v.Type().Elem()) {
			for i := range v.Len() {
				n += takesUp(v.Index(i), levels-1)
			}
		}
	default: // it is part of what contains it
	}
	return n
}

// listFields are the indices of a struct's fields that may contain lists, by type.
var listFields sync.Map

// fieldsWithLists returns the indices of a struct's fields that may contain lists and are sent.
func fieldsWithLists(t reflect.Type) []int {
	if known, ok := listFields.Load(t); ok {
		return known.([]int)
	}
	out := []int{}
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("json") != "-" && hasLists(t.Field(i).Type) {
			out = append(out, i)
		}
	}
	listFields.Store(t, out)
	return out
}

// hasLists reports whether a value of a type may contain lists.
func hasLists(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice:
		return true
	case reflect.Struct:
		return len(fieldsWithLists(t)) > 0
	default:
		return false
	}
}

// An oops is an error with its status and the class by which YARN's clients know it.
type oops struct {
	status  int
	class   string // with its package
	message string
	plain   bool // as text, like YARN's answer to some refusals
}

func (e *oops) Error() string { return e.message }

const webapp = "org.apache.hadoop.yarn.webapp."

// badRequest and notFound add the prefix of YARN's own web exceptions.
func badRequest(message string) error {
	return &oops{status: http.StatusBadRequest, class: webapp + "BadRequestException", message: "java.lang.Exception: " + message}
}

func notFound(message string) error {
	return &oops{status: http.StatusNotFound, class: webapp + "NotFoundException", message: "java.lang.Exception: " + message}
}

// illegalArgument is YARN's error for some unreadable values.
func illegalArgument(message string) error {
	return &oops{status: http.StatusBadRequest, class: "java.lang.IllegalArgumentException", message: message}
}

// again tells a caller that is refused because too much waits when to come again.
func (s *site) again(w http.ResponseWriter, err error) {
	if errors.Is(err, daemon.ErrBusy) {
		s.traffic.refused.Add(1)
		w.Header().Set("Retry-After", "1")
	}
}

// fail writes an error in the shape that YARN's clients know.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	o := s.classify(r, err)
	s.again(w, err)
	if o.plain {
		http.Error(w, o.message, o.status)
		return
	}
	short := o.class[strings.LastIndexByte(o.class, '.')+1:]
	s.write(w, r, o.status, rest.Answer{Root: "RemoteException", Value: rest.RemoteException{
		Exception: short, Message: o.message, Class: o.class,
	}}, nil)
}

// classify returns the HTTP form of an error. YARN answers 503 to everything it has no better word for.
func (s *site) classify(r *http.Request, err error) *oops {
	var (
		known   *oops
		missing *rm.NotFound
		denied  *rm.Denied
		invalid *rm.Invalid
		tooBig  *http.MaxBytesError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &missing):
		return &oops{status: http.StatusNotFound, class: webapp + "NotFoundException", message: "java.lang.Exception: " + err.Error()}
	case errors.As(err, &denied):
		return &oops{status: http.StatusForbidden, class: webapp + "ForbiddenException", message: err.Error()}
	case errors.As(err, &invalid):
		class := invalid.Class
		if class == "" {
			class = webapp + "BadRequestException"
		}
		return &oops{status: http.StatusBadRequest, class: class, message: err.Error()}
	case errors.As(err, &tooBig):
		return &oops{
			status: http.StatusRequestEntityTooLarge, class: webapp + "BadRequestException",
			message: "the body is longer than " + strconv.Itoa(maxBody) + " bytes",
		}
	}
	if gone := errors.Is(r.Context().Err(), context.Canceled); !gone && !errors.Is(err, daemon.ErrBusy) {
		s.Log.Warn("request failed", "path", r.URL.Path, "error", err)
	}
	return &oops{
		status: http.StatusServiceUnavailable, class: "org.apache.hadoop.yarn.exceptions.YarnRuntimeException",
		message: err.Error(),
	}
}

var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
	return z
}}

// notAcceptable says that Accept allows none of the types of an answer.
func notAcceptable(hasXML bool) error {
	text := "this path serves application/json; Accept does not allow it"
	if hasXML {
		text = "this path serves application/json or application/xml; Accept allows neither"
	}
	return &oops{status: http.StatusNotAcceptable, plain: true, message: text}
}

// A document is an answer that is complete, whatever types the caller accepts.
type document struct {
	kind string
	data []byte
}

// write writes the document in pieces, between which others may have a turn.
func (d document) write(w io.Writer) error {
	const piece = 32 << 10 // bytes
	for part := range slices.Chunk(d.data, piece) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// indented returns a value as JSON for people, one member a line.
func indented(v any) (rest.Answer, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return rest.Answer{Value: document{typeJSON, data}}, err
}

// write writes an answer as JSON or XML, compressed if the caller accepts that. The answer is built in the turns of
// reading, which may be nil, so that a slow caller holds nobody up.
func (s *site) write(w http.ResponseWriter, r *http.Request, status int, a rest.Answer, reading *daemon.Reading) {
	h := w.Header()
	h.Add("Vary", "Accept")
	h.Add("Vary", "Accept-Encoding")
	hasXML := a.Shape != rest.Ours
	doc, whole := a.Value.(document)
	kind := doc.kind
	if !whole {
		kind = negotiate(r.Header.Values("Accept"), hasXML)
	}
	if kind == "" && status < http.StatusBadRequest {
		s.fail(w, r, notAcceptable(hasXML))
		return
	}
	if kind == "" {
		kind = typeJSON
	}
	h.Set("Content-Type", kind+";charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	turns := reading.Writer(r.Context(), w)
	defer func() { _ = turns.End() }() // the client is gone if this fails
	var out io.Writer = turns
	if accepts(r.Header.Values("Accept-Encoding"), "gzip") && r.Method != http.MethodHead {
		h.Set("Content-Encoding", "gzip")
		z := zippers.Get().(*gzip.Writer)
		z.Reset(out)
		defer func() {
			_ = z.Close() // the client is gone if this fails
			zippers.Put(z)
		}()
		out = packed{z, turns}
	}
	w.WriteHeader(status)
	var err error
	switch {
	case whole:
		err = doc.write(out)
	case kind == typeXML:
		err = a.WriteXML(out)
	default:
		err = a.WriteJSON(out)
	}
	if err != nil {
		s.Log.Debug("answer cut short", "path", r.URL.Path, "error", err)
		panic(http.ErrAbortHandler) // so that it does not look whole
	}
}

// packed writes to a gzip writer, and takes turns by the uncompressed bytes, which are ten times the compressed ones.
type packed struct {
	z     *gzip.Writer
	turns *daemon.TurnWriter
}

func (p packed) Write(b []byte) (int, error) {
	n, err := p.z.Write(b)
	if err == nil {
		err = p.turns.Passed(n)
	}
	return n, err
}

const (
	typeJSON = "application/json"
	typeXML  = "application/xml"
)

// negotiate returns the type that is accepted most, or "" if neither is. What Accept says of a type by name counts
// before what it says of all types. Of two types that are accepted equally, a named one comes before one that is not
// named, then the one that is named first, then JSON: as with YARN. It considers XML only if hasXML is set.
func negotiate(accept []string, hasXML bool) string {
	type wish struct {
		exact, at int
		q         float64
	}
	var asJSON, asXML wish
	n := 0
	take := func(exact int, q float64, into ...*wish) {
		for _, w := range into {
			if exact > w.exact || exact == w.exact && q > w.q {
				*w = wish{exact, n, q}
			}
		}
	}
	for part := range items(accept) {
		n++
		switch name, q := quality(part); name {
		case "*/*":
			take(1, q, &asJSON, &asXML)
		case "application/*":
			take(2, q, &asJSON, &asXML)
		case typeJSON:
			take(3, q, &asJSON)
		case typeXML, "text/xml":
			take(3, q, &asXML)
		}
	}
	order := cmp.Or(cmp.Compare(asJSON.q, asXML.q), cmp.Compare(asJSON.exact, asXML.exact), cmp.Compare(asXML.at, asJSON.at))
	switch {
	case n == 0:
		return typeJSON
	case hasXML && asXML.q > 0 && order < 0:
		return typeXML
	case asJSON.q > 0:
		return typeJSON
	}
	return ""
}

// accepts reports whether a coding is among the accepted ones.
func accepts(header []string, coding string) bool {
	for part := range items(header) {
		if name, q := quality(part); name == coding && q > 0 {
			return true
		}
	}
	return false
}

// items yields the comma-separated parts of a header, up to a maximum number.
func items(header []string) func(func(string) bool) {
	const most = 64
	return func(yield func(string) bool) {
		n := 0
		for _, line := range header {
			for part := range strings.SplitSeq(line, ",") {
				if n++; n > most {
					return
				}
				if strings.TrimSpace(part) != "" && !yield(part) {
					return
				}
			}
		}
	}
}

// quality splits name;q=0.5. An unreadable q counts as 0.
func quality(part string) (string, float64) {
	name, params, _ := strings.Cut(part, ";")
	q := 1.0
	for p := range strings.SplitSeq(params, ";") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(p), "q="); ok {
			q, _ = strconv.ParseFloat(v, 64)
		}
	}
	return strings.ToLower(strings.TrimSpace(name)), q
}
