package conf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle"
)

// write puts files into a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadDir(t *testing.T) {
	h, err := ReadDir("testdata/drf")
	if err != nil {
		t.Fatal(err)
	}
	if h.Capacity != nil || h.CapacityPlacement != nil || h.Site.Scheduler != "fair" || h.Fair.NodeThreshold != 0.5 {
		t.Errorf("got %+v", h)
	}
	if path, created, err := h.FairPlacement.Place("", "ann", nil); path != "root.users.ann" || !created || err != nil {
		t.Errorf("%s %v %v", path, created, err)
	}
	if h, err = ReadDir("testdata/nested"); err != nil {
		t.Fatal(err)
	}
	if path, _, err := h.CapacityPlacement.Place("", "bob", []string{"engineers"}); path != "root.dev.eng" || err != nil || h.Fair != nil {
		t.Errorf("%s %v", path, err)
	}
}

func TestReadDirErrors(t *testing.T) {
	if _, err := ReadDir(filepath.Join(t.TempDir(), "no")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
	if _, err := ReadDir(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has none of the files") {
		t.Errorf("got %v", err)
	}
	if _, err := ReadDir("dir_test.go"); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("got %v", err)
	}
	// Everything wrong in all files is said at once, and nothing is returned.
	dir := write(t, map[string]string{
		yarnSite: props("yarn.scheduler.minimum-allocation-mb=x"), capacityFile: "<configuration>", fairFile: q1("<weight>x</weight>"),
	})
	h, err := ReadDir(dir)
	errs, _ := errors.AsType[Errors](err)
	if h != nil || len(errs) != 3 || errs[0].Line != 1 || errs[1].Field != "weight" || errs[2].File != filepath.Join(dir, yarnSite) {
		t.Errorf("got %+v, %v", h, err)
	}
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, fairFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("got %v", err)
	}
}

// The allocations are the file that yarn-site.xml names: in the folder, or elsewhere.
func TestAllocationFile(t *testing.T) {
	other := filepath.Join(write(t, map[string]string{"other.xml": q1("<weight>5</weight>")}), "other.xml")
	for name, want := range map[string]float64{
		"mine.xml": 3, other: 5, "file://" + other: 5, "/no/such/folder/mine.xml": 3, "absent.xml": 0,
	} {
		dir := write(t, map[string]string{
			yarnSite:   props("yarn.scheduler.fair.allocation.file=" + name + "\nyarn.resourcemanager.scheduler.class=a.FairScheduler"),
			"mine.xml": q1("<weight>3</weight>"), fairFile: q1("<weight>1</weight>"),
		})
		h, err := ReadDir(dir)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case want == 0:
			if h.Fair != nil || len(h.Notices) != 2 || !strings.Contains(h.Notices[0].Text, "there is no file absent.xml") || !strings.Contains(h.Notices[1].Text, "asks for the fair scheduler") {
				t.Errorf("%s: %+v %v", name, h.Fair, h.Notices)
			}
		case h.Fair == nil || h.Fair.Queues[1].Weight != want:
			t.Errorf("%s: %+v", name, h.Fair)
		}
	}
}

// What is wrong with what files say of MapReduce jobs is an error for those who need it, and a remark for a ResourceManager.
func TestWrongMapReduce(t *testing.T) {
	for text, want := range map[string]string{
		"<configuration>":                   "mapred-site.xml:1: not well-formed XML",
		props("mapreduce.map.memory.mb=1g"): `mapred-site.xml:2: mapreduce.map.memory.mb: "1g" is not a whole number`,
	} {
		dir := write(t, map[string]string{mapredSite: text, yarnSite: props(RetryName + "=1000")})
		place := filepath.Join(dir, want)
		if _, err := ReadDir(dir); err == nil || !strings.HasPrefix(err.Error(), place) {
			t.Errorf("%s: %v", want, err)
		}
		h, err := ReadCluster(dir)
		if err != nil {
			t.Error(err)
			continue
		}
		r, err := CheckFile(dir)
		if err != nil || !r.OK() {
			t.Errorf("a check fails: %v, %+v", err, r)
			continue
		}
		for who, said := range map[string][]Notice{"a ResourceManager": h.Daemon.Remarks, "a check": r.All()} {
			if len(said) == 0 {
				t.Errorf("%s: %s does not hear of it", want, who)
				continue
			}
			last := said[len(said)-1]
			if last.Kind != Remark || !strings.HasPrefix(last.String(), place) || !strings.HasSuffix(last.Text, "heddle sim does not start with it") {
				t.Errorf("%s: %s hears %v", want, who, last)
			}
		}
		if r, err := CheckFile(filepath.Join(dir, mapredSite)); err != nil || len(r.Errors) != 1 || !strings.HasPrefix(r.Errors.Error(), place) {
			t.Errorf("%s: the file alone: %v, %+v", want, err, r)
		}
	}
}

// One file alone is known by its name, or by what it holds.
func TestCheckFile(t *testing.T) {
	dir := write(t, map[string]string{
		"cs.xml": cs(two), "fs.xml": q1(""), "mr.xml": props("mapreduce.map.memory.mb=2222"),
		"ys.xml": props("yarn.scheduler.minimum-allocation-mb=333"), yarnSite: props("a=b"), "bad.xml": props("yarn.resource-types=memory"),
		"not.xml": "no XML", "empty.xml": "",
	})
	for name, want := range map[string]string{
		"cs.xml": "capacity scheduler, memory only", "fs.xml": "fair scheduler, shares every", "mr.xml": "map 2222 MiB",
		"ys.xml": "333 MiB, 1 vcores to", yarnSite: "is not about scheduling", "bad.xml": "bad.xml:2: yarn.resource-types: memory is always",
		"not.xml": "error: " + filepath.Join(dir, "not.xml"), "empty.xml": "is empty",
	} {
		r, err := CheckFile(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var b bytes.Buffer
		if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: no %q, %v in\n%s", name, want, err, b.String())
		}
		if ok := strings.HasSuffix(b.String(), ": ok\n"); ok != r.OK() {
			t.Errorf("%s: OK is %v in\n%s", name, r.OK(), b.String())
		}
	}
	if _, err := CheckFile(filepath.Join(dir, "absent.xml")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
	if _, err := CheckFile(t.TempDir()); err == nil {
		t.Error("an empty folder is no configuration")
	}
}

func TestReadFileLimits(t *testing.T) {
	dir := write(t, map[string]string{yarnSite: "<configuration>" + strings.Repeat(" ", 2*maxFileBytes) + "</configuration>"})
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "a configuration may have") {
		t.Errorf("got %v", err)
	}
	if _, err := readFile("/dev/zero"); err == nil {
		t.Error("a device is no configuration")
	}
}

// Of a property in several files, the one in effect is listed, and not noted as unknown.
func TestPropertyInSeveralFiles(t *testing.T) {
	const calculator, memory = csPrefix + "resource-calculator", "mapreduce.map.memory.mb"
	h, l := disk{
		yarnSite: props(calculator + "=DominantResourceCalculator\n" + memory + "=2048\nyarn.acl.enable=true\n" + csPrefix + "root.b.capacity=1"),
		capacityFile: cs(`resource-calculator=DefaultResourceCalculator
			root.queues=a
			root.a.capacity=100
			root.b.capacity=2`),
		mapredSite: props(memory + "=512\nyarn.acl.enable=false"),
	}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	if !h.Capacity.MemoryOnly || h.Site.Map[heddle.Memory] != 512 || !h.Daemon.ACLs {
		t.Errorf("other properties are in effect: %+v", h)
	}
	want := map[string]string{calculator: "DefaultResourceCalculator", memory: "512", "yarn.acl.enable": "true", csPrefix + "root.b.capacity": "2"}
	for _, p := range h.Properties {
		if v, ok := want[p.Name]; ok && p.Value != v {
			t.Errorf("%s is listed with %s, not %s", p.Name, p.Value, v)
		}
	}
	if n := noticeOf(h, calculator); n != (Notice{}) {
		t.Errorf("%v", n)
	}
	if n := noticeOf(h, csPrefix+"root.b.capacity"); n.File != capacityFile {
		t.Errorf("%v", n)
	}
}
