package ids

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTexts(t *testing.T) {
	app := App{1700000000000, 1}
	for text, id := range map[string]interface{ String() string }{
		"application_1700000000000_0001":             app,
		"application_1700000000000_12345":            App{1700000000000, 12345},
		"appattempt_1700000000000_0001_000001":       Attempt{app, 1},
		"container_1700000000000_0001_01_000001":     Container{Attempt{app, 1}, 1},
		"container_e17_1700000000000_0001_01_000002": Container{Attempt{app, 1}, 17<<EpochShift | 2},
		"127.0.0.2:8041":                             Node{"127.0.0.2", 8041},
	} {
		if id.String() != text {
			t.Errorf("String of %#v = %s, want %s", id, id, text)
		}
		if back, err := parse(text); err != nil || back != id {
			t.Errorf("%s reads as %#v, %v", text, back, err)
		}
	}
}

// In JSON an id is its text, which is empty for a zero id.
func TestJSON(t *testing.T) {
	type all struct {
		App       App
		Attempt   Attempt
		Container Container
		Node      Node
	}
	attempt := Attempt{App{1700000000000, 1}, 2}
	for want, v := range map[string]all{
		`{"App":"","Attempt":"","Container":"","Node":""}`: {},
		`{"App":"application_1700000000000_0001","Attempt":"appattempt_1700000000000_0001_000002",` +
			`"Container":"container_1700000000000_0001_02_000003","Node":"h:1"}`: {attempt.App, attempt, Container{attempt, 3}, Node{"h", 1}},
	} {
		text, err := json.Marshal(v)
		if err != nil || string(text) != want {
			t.Errorf("%+v is %s, %v; want %s", v, text, err, want)
		}
		back := all{App: App{7, 7}, Node: Node{"old", 1}}
		if err := json.Unmarshal(text, &back); err != nil || back != v {
			t.Errorf("%s reads as %+v, %v", text, back, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"App":"job_1_1"}`), &all{}); err == nil {
		t.Error("an id of a job reads as one of an application")
	}
}

func parse(s string) (interface{ String() string }, error) {
	switch {
	case strings.HasPrefix(s, "application_"):
		return ParseApp(s)
	case strings.HasPrefix(s, "appattempt_"):
		return ParseAttempt(s)
	case strings.HasPrefix(s, "container_"):
		return ParseContainer(s)
	}
	return ParseNode(s)
}

func TestWrong(t *testing.T) {
	for _, s := range []string{
		"", "application", "application_", "application_1", "application_1_", "application_1_x", "application_1_2_3", "application_-1_1",
		"application_1_+2", "application_1_99999999999", "container_1_1_1", "container_e_1_1_1_1", "container_e+1_1_1_1_1", "container_e-1_1_1_1_1",
		"container_1_1_1_1099511627776", "appattempt_1_1", "host", ":80", "host:", "host:x", "host:99999", "application_99999999999999999999_1",
	} {
		if id, err := parse(s); err == nil {
			t.Errorf("%q reads as %v", s, id)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("container_e17_1700000000000_0001_01_000002")
	f.Add("application_1700000000000_0001")
	f.Add("h:1")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := parse(s)
		if err != nil {
			return
		}
		if again, err := parse(id.String()); err != nil || again != id {
			t.Fatalf("%q reads as %v, which reads as %v, %v", s, id, again, err)
		}
	})
}
