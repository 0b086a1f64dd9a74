package facts

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"heddle"
	"heddle/conf"
	"heddle/rm"
	"heddle/yarn/wire"
)

// hdfsAt returns a file system with one NameNode.
func hdfsAt(at string) conf.FileSystem {
	return conf.FileSystem{URL: "hdfs://" + at, NameNodes: []string{at}}
}

// shelf is the test's file system.
type shelf struct {
	files map[string]string // by path
	owner string            // the only user who may read them
	read  []string          // "user path" of each read
}

type reader struct {
	*shelf
	user string
}

func (s *shelf) open(_ context.Context, user string) (session, error) { return &reader{s, user}, nil }

func (r *reader) read(path string, most int64) ([]byte, error) {
	r.shelf.read = append(r.shelf.read, r.user+" "+path)
	data, ok := r.files[path]
	switch {
	case r.user != r.owner:
		return nil, os.ErrPermission
	case !ok:
		return nil, os.ErrNotExist
	case int64(len(data)) > most:
		return nil, errors.New("it is too long")
	}
	return []byte(data), nil
}

func (*reader) close() {}

// submitted returns a submission with files at places: name, scheme, host, port, path.
func submitted(t *testing.T, files ...*wire.StringLocalResourceMap) []byte {
	t.Helper()
	b, err := proto.Marshal(&wire.ApplicationSubmissionContext{AmContainerSpec: &wire.ContainerLaunchContext{LocalResources: files}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func at(name, scheme, host string, port int32, path string) *wire.StringLocalResourceMap {
	return &wire.StringLocalResourceMap{Key: &name, Value: &wire.LocalResource{Resource: &wire.URL{Scheme: &scheme, Host: &host, Port: &port, File: &path}}}
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// readWith reads a submission from a shelf.
func readWith(s *shelf, q *rm.ReadJob) (*rm.JobRead, *Asker) {
	a := New(Options{Submissions: true, Files: hdfsAt("127.0.0.1:9000")})
	a.files = s
	return a.Read(context.Background(), q), a
}

func TestReadMapReduce(t *testing.T) {
	s := &shelf{owner: "ann", files: map[string]string{"/staging/job.xml": fixture(t, "job.xml"), "/staging/job.splitmetainfo": fixture(t, "pi.splitmetainfo")}}
	xml := at("job.xml", "hdfs", "127.0.0.1", 9000, "/staging/job.xml")
	meta := at("jobSubmitDir/job.splitmetainfo", "hdfs", "127.0.0.1", 9000, "/staging/job.splitmetainfo")
	q := &rm.ReadJob{App: sleep.App, User: "ann", Framework: heddle.MapReduce, Context: submitted(t, xml, meta)}
	got, a := readWith(s, q)
	want := &rm.JobRead{
		App: sleep.App, Maps: 4, Reduces: 1, Timeout: 600 * heddle.Second,
		Demand: heddle.Demand{Containers: 4, Each: heddle.Of(512, 1000)},
		Splits: []rm.SplitNews{
			{Bytes: 118, Hosts: []string{"127.0.0.3"}},
			{Bytes: 118, Hosts: []string{"127.0.0.3"}},
			{Bytes: 118, Hosts: []string{"127.0.0.3"}},
			{Bytes: 118, Hosts: []string{"127.0.0.2"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if st := a.Stats()[Source{true, heddle.MapReduce}]; st.Asked != 1 || st.Failed != 0 || st.Requests != 2 || st.Bytes != uint64(len(s.files["/staging/job.xml"])+67) {
		t.Errorf("%+v", st)
	}

	delete(s.files, "/staging/job.splitmetainfo")
	want.Splits = nil // the configuration says how many there are
	if got, _ = readWith(s, q); cmp.Diff(want, got) != "" {
		t.Error(cmp.Diff(want, got))
	}
	s.files["/staging/job.xml"] = strings.Replace(s.files["/staging/job.xml"], "<name>mapreduce.job.reduces</name><value>1", "<name>mapreduce.job.reduces</name><value>9", 1)
	if got, _ = readWith(s, q); got.Demand != (heddle.Demand{Containers: 9, Each: heddle.Of(512, 1000)}) {
		t.Errorf("%+v", got.Demand)
	}
}

// The client says where the files are. Only the cluster's own file system is asked, and only as the user.
func TestReadNothingElse(t *testing.T) {
	files := map[string]string{"/etc/passwd": "root", "/s/job.xml": fixture(t, "job.xml")}
	tests := []struct {
		name string
		file *wire.StringLocalResourceMap
		user string
		want string
		read bool
	}{
		{"own files", at("job.xml", "file", "", -1, "/etc/passwd"), "ann", "is at file://", false},
		{"another scheme", at("job.xml", "http", "127.0.0.1", 9000, "/x"), "ann", "is at http://127.0.0.1", false},
		{"no scheme", at("job.xml", "", "192.0.2.1", 22, "/x"), "ann", "is at ://192.0.2.1", false},
		{"another host", at("job.xml", "hdfs", "192.0.2.1", 9000, "/x"), "ann", "is at hdfs://192.0.2.1:9000", false},
		{"another port", at("job.xml", "hdfs", "127.0.0.1", 22, "/x"), "ann", "is at hdfs://127.0.0.1:22", false},
		{"no path", at("job.xml", "hdfs", "127.0.0.1", 9000, "x"), "ann", "is not an absolute path", false},
		{"another user's", at("job.xml", "hdfs", "127.0.0.1", 9000, "/s/job.xml"), "eve", "permission denied", true},
		{"not there", at("job.xml", "hdfs", "127.0.0.1", 9000, "/s/none"), "ann", "not exist", true},
		{"of nobody", at("job.xml", "hdfs", "127.0.0.1", 9000, "/s/job.xml"), "", "who submitted it is not known", false},
		{"no such file named", at("job.jar", "hdfs", "127.0.0.1", 9000, "/s/job.xml"), "ann", "has no job.xml", false},
		{"another text", at("job.xml", "hdfs", "127.0.0.1", 9000, "/etc/passwd"), "ann", "job.xml", true},
	}
	for _, tt := range tests {
		s := &shelf{owner: "ann", files: files}
		got, a := readWith(s, &rm.ReadJob{App: sleep.App, User: tt.user, Framework: heddle.MapReduce, Context: submitted(t, tt.file)})
		if !strings.Contains(got.Failed, tt.want) || cmp.Diff(&rm.JobRead{App: sleep.App, Failed: got.Failed}, got) != "" {
			t.Errorf("%s: %+v, want words %q", tt.name, got, tt.want)
		}
		if (len(s.read) > 0) != tt.read || tt.read && !strings.HasPrefix(s.read[0], tt.user+" ") {
			t.Errorf("%s: read %v", tt.name, s.read)
		}
		if st := a.Stats()[Source{true, heddle.MapReduce}]; st.Failed != 1 {
			t.Errorf("%s: %+v", tt.name, st)
		}
	}
	a := New(Options{Submissions: true})
	got := a.Read(context.Background(), &rm.ReadJob{User: "ann", Framework: heddle.MapReduce, Context: submitted(t, at("job.xml", "hdfs", "a", 1, "/x"))})
	if !strings.Contains(got.Failed, "is not HDFS") {
		t.Errorf("%+v", got)
	}
	if got = a.Read(context.Background(), &rm.ReadJob{User: "ann", Framework: heddle.Plain}); !strings.Contains(got.Failed, "of its framework are not read") {
		t.Errorf("%+v", got)
	}
	if got = a.Read(context.Background(), &rm.ReadJob{User: "ann", Framework: heddle.Spark, Context: []byte{0xff}}); !strings.Contains(got.Failed, "the submission") {
		t.Errorf("%+v", got)
	}
}

func TestOwn(t *testing.T) {
	ha := conf.FileSystem{URL: "hdfs://prod/", NameNodes: []string{"nn1:8020", "nn2:8020"}}
	one := conf.FileSystem{URL: "hdfs://nn1", NameNodes: []string{"nn1:8020"}}
	tests := []struct {
		fs   conf.FileSystem
		host string
		port int32
		want bool
	}{
		{ha, "prod", -1, true},
		{ha, "prod", 0, true},
		{ha, "NN2", 8020, true},
		{ha, "nn2", -1, true},
		{ha, "nn3", 8020, false},
		{ha, "nn2", 22, false},
		{ha, "prod", 22, false},
		{ha, "", -1, true},
		{one, "nn1", -1, true},
		{one, "nn1", 8020, true},
		{one, "nn1", 9000, false},
	}
	for _, tt := range tests {
		u := at("x", "hdfs", tt.host, tt.port, "/x").GetValue().GetResource()
		if err := own(tt.fs, u); (err == nil) != tt.want {
			t.Errorf("%s:%d on %s: %v, want %v", tt.host, tt.port, tt.fs.URL, err, tt.want)
		}
	}
}

// packed returns an archive as spark-submit makes it.
func packed(t testing.TB, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create(name)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadSpark(t *testing.T) {
	tests := []struct {
		name, text string
		want       heddle.Demand
		failed     string
	}{
		{"defaults", "", heddle.Demand{Containers: 2, Each: heddle.Of(1408, 1000)}, ""},
		{
			"as Java writes it", "#Spark configuration.\n#Mon Nov 23\nspark.executor.memory=512m\nspark.executor.memoryOverhead = 256m\nspark.yarn.jars=local\\:/x/*\n" +
				"spark.executor.instances\\u003d=7\nspark.executor.instances=3\nspark.executor.cores:2\n",
			heddle.Demand{Containers: 3, Each: heddle.Of(768, 2000)},
			"",
		},
		{"a tenth", "spark.executor.memory=10g", heddle.Demand{Containers: 2, Each: heddle.Of(10240+1024, 1000)}, ""},
		{"a factor", "spark.executor.memory=10240\nspark.executor.memoryOverheadFactor=0.4", heddle.Demand{Containers: 2, Each: heddle.Of(10240+4096, 1000)}, ""},
		{"before Spark 2.3", "spark.yarn.executor.memoryOverhead=4096", heddle.Demand{Containers: 2, Each: heddle.Of(1024+4096, 1000)}, ""},
		{"both names", "spark.executor.memoryOverhead=1g\nspark.yarn.executor.memoryOverhead=lots", heddle.Demand{Containers: 2, Each: heddle.Of(2048, 1000)}, ""},
		{
			"all of memory", "spark.executor.memory=1g\nspark.yarn.isPython=true\nspark.executor.pyspark.memory=512m\nspark.memory.offHeap.enabled=true\nspark.memory.offHeap.size=1073741824",
			heddle.Demand{Containers: 2, Each: heddle.Of(1024+384+512+1024, 1000)},
			"",
		},
		{"Python's of no Python", "spark.executor.pyspark.memory=512m", heddle.Demand{Containers: 2, Each: heddle.Of(1408, 1000)}, ""},
		{"as it goes", "spark.dynamicAllocation.enabled=true\nspark.dynamicAllocation.maxExecutors=50", heddle.Demand{}, ""},
		{"as it goes, from five on", "spark.dynamicAllocation.enabled=true\nspark.dynamicAllocation.minExecutors=2\nspark.dynamicAllocation.initialExecutors=5", heddle.Demand{Containers: 5, Each: heddle.Of(1408, 1000)}, ""},
		{"no size", "spark.executor.memory=much", heddle.Demand{}, `spark.executor.memory: "much"`},
		{"below nothing", "spark.executor.instances=-5", heddle.Demand{}, "spark.executor.instances"},
		{"beyond numbers", "spark.executor.memory=9999999p", heddle.Demand{}, "spark.executor.memory"},
		{"no room", "spark.executor.instances=2147483647", heddle.Demand{}, "implausible: "},
		{"not a number", "spark.executor.memoryOverheadFactor=NaN", heddle.Demand{}, "memoryOverheadFactor"},
		{"a bomb", strings.Repeat("a=b\n", maxProperties), heddle.Demand{}, "more than 1048576 bytes"},
	}
	for _, tt := range tests {
		s := &shelf{owner: "ann", files: map[string]string{"/c.zip": packed(t, sparkFile, tt.text)}}
		got, _ := readWith(s, &rm.ReadJob{App: slow.App, User: "ann", Framework: heddle.Spark, Context: submitted(t, at("__spark_conf__", "hdfs", "127.0.0.1", 9000, "/c.zip"))})
		if got.Demand != tt.want || (got.Failed == "") != (tt.failed == "") || !strings.Contains(got.Failed, tt.failed) {
			t.Errorf("%s: %+v, want %+v %q", tt.name, got, tt.want, tt.failed)
		}
	}
	for text, want := range map[string]string{"PK": "zip", packed(t, "other", "x"): "has no " + sparkFile} {
		s := &shelf{owner: "ann", files: map[string]string{"/c.zip": text}}
		got, _ := readWith(s, &rm.ReadJob{App: slow.App, User: "ann", Framework: heddle.Spark, Context: submitted(t, at("__spark_conf__", "hdfs", "127.0.0.1", 9000, "/c.zip"))})
		if !strings.Contains(got.Failed, want) {
			t.Errorf("%+v, want words %q", got, want)
		}
	}
}
