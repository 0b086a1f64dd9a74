package hadoop

import (
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWiden(t *testing.T) {
	const before = "type = factory.\n  constructMapType(Map.class, String.class, String.class);\n"
	after, err := widen([]byte(before))
	if want := strings.Replace(before, "String.class)", "Object.class)", 1); err != nil || string(after) != want {
		t.Errorf("%s, %v", after, err)
	}
	for _, other := range []string{"", before + before} {
		if _, err := widen([]byte(other)); err == nil {
			t.Errorf("a source with the declaration not once is accepted: %q", other)
		}
	}
}

// loadSimulation returns a simulation whose simulator is a shell script.
func loadSimulation(t *testing.T, script string) *LoadSimulation {
	t.Helper()
	bin, conf := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(bin, "java"):                "#!/bin/sh\n" + script,
		filepath.Join(conf, "fair-scheduler.xml"): "<allocations/>",
		filepath.Join(conf, "jobs.json"):          "{}",
	} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return &LoadSimulation{
		Cache: Cache{Dir: t.TempDir()}, Dir: filepath.Join(t.TempDir(), "run"), Conf: conf,
		Jobs: filepath.Join(conf, "jobs.json"), Nodes: "/nodes.json", Profile: "fair",
	}
}

func TestLoadSimulation(t *testing.T) {
	l := loadSimulation(t, `echo "$@" >&2; echo two >&2; while :; do sleep 0.01; done`)
	var lines []string
	err := l.Run(t.Context(), func(line string) (bool, error) {
		lines = append(lines, line)
		return line == "two", nil
	})
	if err != nil || len(lines) != 2 || !strings.Contains(lines[0], "-tracelocation "+l.Jobs+" -nodes /nodes.json") {
		t.Fatalf("%q, %v", lines, err)
	}
	if text, err := os.ReadFile(l.LogFile()); err != nil || string(text) != strings.Join(lines, "\n")+"\n" {
		t.Errorf("the log is %q, %v", text, err)
	}
	text, err := os.ReadFile(filepath.Join(l.conf(), "sls-runner.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Property []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"property"`
	}
	if err := xml.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	got := Properties{}
	for _, p := range read.Property {
		got[p.Name] = p.Value
	}
	for name, want := range map[string]string{
		"yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler",
		"yarn.scheduler.fair.allocation.file":  filepath.Join(l.conf(), "fair-scheduler.xml"),
		"yarn.sls.metrics.switch":              "false",
		"yarn.sls.nm.memory.mb":                "8192",
		"yarn.resourcemanager.webapp.address":  "127.0.0.1:0",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(l.conf(), "fair-scheduler.xml")); err != nil || string(text) != "<allocations/>" {
		t.Errorf("the scheduler's configuration is %q, %v", text, err)
	}
}

func TestLoadSimulationsThatFail(t *testing.T) {
	more := func(string) (bool, error) { return false, nil }
	if err := loadSimulation(t, "echo no heap >&2; exit 3").Run(t.Context(), more); err == nil || !strings.Contains(err.Error(), "no heap") {
		t.Errorf("one that ends: %v", err)
	}
	wrong := errors.New("a job failed")
	err := loadSimulation(t, "echo up >&2; while :; do sleep 0.01; done").Run(t.Context(), func(string) (bool, error) { return false, wrong })
	if !errors.Is(err, wrong) {
		t.Errorf("one that says what is wrong: %v", err)
	}
}
