package rest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// sample has a member of every kind.
type sample struct {
	Type  string   `json:"type,omitempty" rest:"xsi"`
	Text  string   `json:"text"`
	Maybe string   `json:"maybe,omitempty"`
	N     int64    `json:"n"`
	U     uint32   `json:"u"`
	F     float32  `json:"f"`
	D     float64  `json:"d"`
	B     bool     `json:"b"`
	Map   Entries  `json:"map"`
	List  []string `json:"list"`
	None  []string `json:"none,omitempty"`
	Ptr   *inner   `json:"ptr"`
	Any   any      `json:"any"`
	Skip  int      `json:"-"`
}

type inner struct {
	V int `json:"v"`
}

func write(t *testing.T, a Answer, f func(Answer, io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(a, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestForms(t *testing.T) {
	v := sample{
		Type: "kind", Text: `a"<&>` + "\n\x01\xff", N: -5, U: 7, F: 20.833332, D: 5, B: true,
		Map: Entries{{"a", "1"}, {"b", "2"}}, List: []string{"x"}, Ptr: &inner{1}, Any: inner{2},
	}
	const members = `"type":"kind","text":"a\"<&>\n\u0001\ufffd"`
	for _, tt := range []struct {
		name string
		got  string
		want string
	}{
		{
			"natural", write(t, Answer{"root", Natural, v}, Answer.WriteJSON),
			`{"root":{` + members + `,"n":-5,"u":7,"f":20.833332,"d":5.0,"b":true,"map":{"entry":{"key":"a","value":"1"},` +
				`"entry":{"key":"b","value":"2"}},"list":["x"],"ptr":{"v":1},"any":{"v":2}}}`,
		},
		{
			"mapped", write(t, Answer{"root", Mapped, v}, Answer.WriteJSON),
			`{` + members + `,"n":"-5","u":"7","f":"20.833332","d":"5.0","b":"true","map":{"entry":[{"key":"a","value":"1"},` +
				`{"key":"b","value":"2"}]},"list":"x","ptr":{"v":"1"},"any":{"v":"2"}}`,
		},
		{"bare, empty", write(t, Answer{"root", Bare, sample{}}, Answer.WriteJSON), `{"text":"","n":0,"u":0,"f":0.0,"d":0.0,"b":false,"map":{},"list":[],"any":null}`},
		{
			"xml", write(t, Answer{"root", Natural, v}, Answer.WriteXML),
			`<?xml version="1.0" encoding="UTF-8" standalone="yes"?><root xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="kind">` +
				"<text>a&quot;&lt;&amp;&gt;\n\uFFFD\uFFFD</text><n>-5</n><u>7</u><f>20.833332</f><d>5.0</d><b>true</b>" +
				`<map><entry><key>a</key><value>1</value></entry><entry><key>b</key><value>2</value></entry></map><list>x</list><ptr><v>1</v></ptr><any><v>2</v></any></root>`,
		},
		{"empty map in xml", write(t, Answer{"root", Natural, struct {
			M Entries `json:"m"`
		}{}}, Answer.WriteXML), `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><root><m/></root>`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, tt.got, tt.want)
		}
	}
}

func TestFloatsAsJavaPrintsThem(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 5: "5.0", -1: "-1.0", 0.25: "0.25", 0.001: "0.001", 0.0001: "1.0E-4", 1e7: "1.0E7", 9999999: "9999999.0",
		12345678: "1.2345678E7", 1.5e-10: "1.5E-10", math.Inf(1): "0.0", math.NaN(): "0.0",
	} {
		e := encoder{}
		e.float(f, 64)
		if got := string(e.buf); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}

func TestParseTakesWhatYARNWrites(t *testing.T) {
	for _, text := range []string{`{}`, `{"apps":null}`, `{"apps":{}}`} {
		apps := Apps{}
		if err := Parse([]byte(text), "apps", &apps); err != nil || len(apps.List) != 0 {
			t.Errorf("%s: %v, %v", text, err, apps)
		}
	}
	want := Entries{{"memory-mb", "1"}, {"vcores", "2"}}
	for _, text := range []string{
		`{"entry":{"key":"memory-mb","value":"1"},"entry":{"key":"vcores","value":"2"}}`,
		`{"entry":[{"key":"memory-mb","value":1},{"key":"vcores","value":"2"}]}`,
	} {
		var m Entries
		if err := json.Unmarshal([]byte(text), &m); err != nil || cmp.Diff(want, m) != "" {
			t.Errorf("%s: %v, %v", text, err, m)
		}
	}
	for _, text := range []string{`{"container":{"allocatedMB":"512"}}`, `{"container":[{"allocatedMB":512}]}`} {
		var c Containers
		if err := Parse([]byte(text), "", &c); err != nil || len(c.List) != 1 || c.List[0].MB != 512 {
			t.Errorf("%s: %v, %v", text, err, c)
		}
	}
	for _, text := range []string{`{"apps":[]}`, `nonsense`, `{"apps":{"app":[{"id":7}]}}`, `{"apps":{"app":[{"resourceSecondsMap":[]}]}}`} {
		if err := Parse([]byte(text), "apps", &Apps{}); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
	if err := Parse([]byte(`{"container":{"allocatedMB":"many"}}`), "", &Containers{}); err == nil {
		t.Error("a number that is none was taken")
	}
}

func TestWithin(t *testing.T) {
	r := NewResource(0, 0, Amount{Name: "gpu"}).Within(NewResource(128, 1), NewResource(4096, 8, Amount{Name: "gpu", Value: 2}))
	for i, want := range []Information{
		{Name: "memory-mb", Type: "COUNTABLE", Units: "Mi", Minimum: 128, Maximum: 4096},
		{Name: "vcores", Type: "COUNTABLE", Minimum: 1, Maximum: 8},
		{Name: "gpu", Type: "COUNTABLE", Maximum: 2},
	} {
		if diff := cmp.Diff(want, r.Informations.List[i]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("full")

func TestWriteErrors(t *testing.T) {
	apps := Apps{List: make([]App, 1000)}
	if err := (Answer{"apps", Natural, apps}).WriteJSON(full{}); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v", err)
	}
	if err := (Answer{"apps", Natural, apps}).WriteXML(full{}); !errors.Is(err, errFull) {
		t.Errorf("XML: %v", err)
	}
}

// After a write error nothing more is encoded: the value without a form is never reached.
func TestNobodyReads(t *testing.T) {
	type odd struct {
		List []any `json:"x" xml:"x"`
	}
	long := odd{[]any{strings.Repeat("a", 2*flushAt), make(chan int)}}
	if err := (Answer{"apps", Natural, long}).WriteJSON(full{}); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v", err)
	}
	if err := (Answer{"apps", Natural, long}).WriteXML(full{}); !errors.Is(err, errFull) {
		t.Errorf("XML: %v", err)
	}
}

// A long answer is written in pieces, so that it is never in memory as a whole.
func TestPieces(t *testing.T) {
	var p pieces
	if err := (Answer{"apps", Natural, Apps{List: make([]App, 10_000)}}).WriteJSON(&p); err != nil {
		t.Fatal(err)
	}
	if p.n < 10 || p.most > 2*flushAt {
		t.Errorf("%d pieces, the longest of %d bytes", p.n, p.most)
	}
}

type pieces struct{ n, most int }

func (p *pieces) Write(b []byte) (int, error) {
	p.n, p.most = p.n+1, max(p.most, len(b))
	return len(b), nil
}

// JSON and XML readers read back any text that is written, except for what neither can hold.
func FuzzText(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\x1f\"\\/<>&'\u2028\u2029\uFFFE\xff é 🙂\r\n\t]]>")
	f.Fuzz(func(t *testing.T, s string) {
		a := Answer{"r", Bare, struct {
			S string `json:"s" xml:"s"`
		}{s}}
		var got struct {
			S string `json:"s" xml:"s"`
		}
		data := write(t, a, Answer.WriteJSON)
		if err := json.Unmarshal([]byte(data), &got); err != nil {
			t.Fatalf("%v: %q", err, data)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); utf8.ValidString(s) && got.S != want {
			t.Errorf("JSON: %q came back as %q", s, got.S)
		}
		data = write(t, a, Answer.WriteXML)
		got.S = ""
		if err := xml.Unmarshal([]byte(data), &got); err != nil {
			t.Fatalf("%v: %q", err, data)
		}
		if printable(s) && got.S != s {
			t.Errorf("XML: %q came back as %q", s, got.S)
		}
	})
}

// printable reports whether XML can hold s.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0xFFFE || r == 0xFFFF
	})
}

// Answers from other servers never cause a panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"apps":{"app":[{"id":"x","resourceSecondsMap":{"entry":{"key":"a","value":"1"},"entry":[]}}]}}`))
	f.Add([]byte(`{"container":{"allocatedMB":"1","allocatedResources":null}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_ = Parse(data, "apps", &Apps{})
		_ = Parse(data, "", &Containers{})
		_ = Parse(data, "scheduler", &Scheduler{})
	})
}

// A list in our own shape is written element by element, with the same bytes as if it were encoded as a whole.
func TestOurLists(t *testing.T) {
	type element struct {
		Name string `json:"name"`
		List []int  `json:"list"`
	}
	type elements struct {
		List []element `json:"elements"`
	}
	for _, v := range []any{
		nil,
		elements{},
		elements{[]element{}},
		elements{[]element{{"<a&b>", nil}}},
		elements{[]element{{"ä", []int{1, 2}}, {"", []int{}}, {"c", nil}}},
		element{Name: "d"},
		[]string{"x", "y"},
	} {
		var want, got bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := errors.Join(e.Encode(v), Answer{Shape: Ours, Value: v}.WriteJSON(&got)); err != nil || got.String() != want.String() {
			t.Errorf("%v: %q, wanted %q; %v", v, got.String(), want.String(), err)
		}
	}
}
