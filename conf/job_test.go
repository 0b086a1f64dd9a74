package conf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle"
)

// job is a job's configuration of name=value lines.
func job(lines ...string) string {
	var b strings.Builder
	b.WriteString("<configuration>")
	for _, l := range lines {
		name, value, _ := strings.Cut(l, "=")
		b.WriteString("<property><name>" + name + "</name><value>" + value + "</value></property>\n")
	}
	return b.String() + "</configuration>"
}

func TestReadJob(t *testing.T) {
	t.Setenv("SECRET", "4096")
	plain := func(set func(*Job)) *Job {
		j := &Job{Reduces: 1, Map: heddle.Of(1024, 1000), Reduce: heddle.Of(1024, 1000), Timeout: 600 * heddle.Second}
		set(j)
		return j
	}
	for name, tt := range map[string]struct {
		text string
		want *Job
	}{
		"defaults": {job(), plain(func(*Job) {})},
		"all of it": {
			job("mapreduce.job.maps=40", "mapreduce.job.reduces=0", "mapreduce.map.memory.mb=512", "mapreduce.map.cpu.vcores=2", "mapreduce.reduce.memory.mb=3072", "mapreduce.reduce.cpu.vcores=3", "mapreduce.task.timeout=0"),
			&Job{Maps: 40, Map: heddle.Of(512, 2000), Reduce: heddle.Of(3072, 3000)},
		},
		"from the last heap": {
			job("mapreduce.map.memory.mb=-1", "mapreduce.map.java.opts=-Xmx200m -Dx=y -Xmx800m -Xmx1t"),
			plain(func(j *Job) { j.Map = heddle.Of(1000, 1000) }),
		},
		"from the heap":        {job("mapreduce.map.memory.mb=-1", "mapreduce.map.java.opts=-Xmx800m"), plain(func(j *Job) { j.Map = heddle.Of(1000, 1000) })},
		"of another property":  {job("site.mb=2048", "mapreduce.map.memory.mb=${site.mb}"), plain(func(j *Job) { j.Map = heddle.Of(2048, 1000) })},
		"a long timeout":       {job("mapreduce.task.timeout=99999999999"), plain(func(j *Job) { j.Timeout = maxTaskTimeout * heddle.Millisecond })},
		"small in its master":  {job("mapreduce.job.ubertask.enable=true"), plain(func(j *Job) { j.Uber = true })},
		"no timeout":           {job("mapreduce.task.timeout=never"), plain(func(*Job) {})},
		"what concerns nobody": {job("x=${y", "a=${b} ${a}"), plain(func(*Job) {})},
	} {
		got, err := ReadJob([]byte(tt.text))
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside.xml")
	if err := os.WriteFile(outside, []byte(job("mapreduce.job.reduces=7")), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":        "empty",
		"<html/>": "must be <configuration>",
		`<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="` + outside + `"/></configuration>`: "includes no files",
		job("mapreduce.map.memory.mb=${env.SECRET}"):                   "is not a whole number",
		job("mapreduce.map.memory.mb=2000000000"):                      "no container can have",
		job("mapreduce.map.cpu.vcores=2000000000"):                     "no container can have",
		job("mapreduce.reduce.resource.memory-mb=9223372036854775807"): "",
		job("mapreduce.job.maps=-1"):                                   "too small",
		job("mapreduce.job.reduces=many"):                              "is not a whole number",
		job("mapreduce.job.reduces=${a}", "a=${a}${a}"):                "",
		strings.Repeat("<configuration>", 200):                         "elements deep",
	} {
		if got, err := ReadJob([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100q: %+v, %v; want words %q", text, got, err, want)
		}
	}
}

// FuzzJob looks for a job's configuration that breaks the reader, or of which something is believed that cannot be.
func FuzzJob(f *testing.F) {
	f.Add([]byte(job("mapreduce.job.maps=40", "mapreduce.map.memory.mb=512", "mapreduce.map.java.opts=-Xmx1t")))
	f.Add([]byte(job("mapreduce.reduce.resource.memory-mb=1Pi", "mapreduce.task.timeout=-1")))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := ReadJob(data)
		if err != nil {
			return
		}
		if j.Maps < 0 || j.Reduces < 0 || j.Timeout < 0 || j.Map.Times(int64(j.Maps)).AnyNegative() || j.Reduce.Times(int64(j.Reduces)).AnyNegative() {
			t.Errorf("%+v", j)
		}
	})
}

func TestFileSystem(t *testing.T) {
	for name, tt := range map[string]struct {
		core, hdfs []string
		want       FileSystem
	}{
		"none":                     {nil, nil, FileSystem{}},
		"local":                    {[]string{"fs.defaultFS=file:///"}, nil, FileSystem{URL: "file:///"}},
		"S3":                       {[]string{"fs.defaultFS=s3a://bucket"}, nil, FileSystem{URL: "s3a://bucket"}},
		"a port":                   {[]string{"fs.defaultFS=hdfs://nn1:9000/"}, nil, FileSystem{URL: "hdfs://nn1:9000/", NameNodes: []string{"nn1:9000"}}},
		"no port, by its old name": {[]string{"fs.default.name=hdfs://${nn}", "nn=nn1"}, nil, FileSystem{URL: "hdfs://nn1", NameNodes: []string{"nn1:8020"}}},
		"two that stand in for each other": {
			[]string{"fs.defaultFS=hdfs://prod"},
			[]string{"dfs.ha.namenodes.prod=a, b,c", "dfs.namenode.rpc-address.prod.a=nn1:9000", "dfs.namenode.rpc-address.prod.b=nn2", "dfs.client.use.datanode.hostname=true"},
			FileSystem{URL: "hdfs://prod", NameNodes: []string{"nn1:9000", "nn2:8020"}, ByName: true},
		},
	} {
		dir := t.TempDir()
		write := func(file, text string) {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(coreSite, job(tt.core...))
		write(yarnSite, job())
		if tt.hdfs != nil {
			write(hdfsSite, job(tt.hdfs...))
		}
		h, err := ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, h.Daemon.Files); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		write(hdfsSite, "<configuration")
		if h, err = ReadDir(dir); err != nil || h.Daemon.Files.URL != tt.want.URL {
			t.Errorf("%s: an unreadable hdfs-site.xml is an error of the ResourceManager's: %v", name, err)
		}
	}
}
