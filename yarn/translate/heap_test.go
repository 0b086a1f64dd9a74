package translate

import (
	"regexp"
	"strings"
	"testing"

	"heddle/yarn/wire"
)

// stock is what the client of Hadoop 3.4 submits: its options at %s, the administrator's first.
const stock = "{{JAVA_HOME}}/bin/java -Djava.io.tmpdir={{PWD}}/tmp -Dlog4j.configuration=container-log4j.properties " +
	"-Dyarn.app.container.log.dir=<LOG_DIR> -Dyarn.app.container.log.filesize=0 -Dhadoop.root.logger=INFO,CLA  %s <ADD_OPENS> " +
	"org.apache.hadoop.mapreduce.v2.app.MRAppMaster 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr "

func command(options string) string { return strings.Replace(stock, "%s", options, 1) }

func spec(command string) *wire.ContainerLaunchContext {
	return &wire.ContainerLaunchContext{Command: []string{command}}
}

// What a client's options say about the heap, and what they become when it is cut to 100 MiB. The container has 1536.
func TestCutHeap(t *testing.T) {
	for _, x := range []struct {
		options string
		heap    int64
		cut     string
	}{
		{"-Xmx1024m", 1024, "-Xmx100m"},
		{"-Xmx1g", 1024, "-Xmx100m"},
		{"-Xmx1G", 1024, "-Xmx100m"},
		{"-Xmx1073741824", 1024, "-Xmx100m"},
		{"-Xmx524288k", 512, "-Xmx100m"},
		{"-Xmx512M -XX:+UseSerialGC", 512, "-Xmx100m -XX:+UseSerialGC"},
		{"-XX:MaxHeapSize=512m", 512, "-XX:MaxHeapSize=100m"},
		{"-Xmx4g -Xmx512m", 512, "-Xmx100m -Xmx100m"},
		{"-Xmx4g -XX:MaxHeapSize=90m", 90, "-Xmx100m -XX:MaxHeapSize=90m"},
		{"-Xmx100m", 100, "-Xmx100m"},
		{"-Xmx64m", 64, "-Xmx64m"},
		{"-Xms1g  -Xmx1g", 1024, "-Xms100m  -Xmx100m"},
		{"-Xms64m -Xmx1g", 1024, "-Xms64m -Xmx100m"},
		{"-XX:InitialHeapSize=1g -XX:MinHeapSize=200m -Xmx1g", 1024, "-XX:InitialHeapSize=100m -XX:MinHeapSize=100m -Xmx100m"},
		{"-Xmn200m -Xmx1g '-XX:OnOutOfMemoryError=kill -9 %p'", 1024, "-Xmn200m -Xmx100m '-XX:OnOutOfMemoryError=kill -9 %p'"},
		{"--add-opens java.base/java.lang=ALL-UNNAMED -Dfoo=-Xmx9g -Xmx1g -XX:HeapDumpPath=$PWD/x", 1024, "--add-opens java.base/java.lang=ALL-UNNAMED -Dfoo=-Xmx9g -Xmx100m -XX:HeapDumpPath=$PWD/x"},
		{"-agentlib:hprof=cpu=samples,file=<LOG_DIR>/profile.out -Xmx1g", 1024, "-agentlib:hprof=cpu=samples,file=<LOG_DIR>/profile.out -Xmx100m"},
	} {
		if got := masterHeap(spec(command(x.options)), 1536); got != x.heap {
			t.Errorf("%s: a heap of %d MiB, want %d", x.options, got, x.heap)
		}
		s := spec(command(x.options))
		if ok := CutHeap(s, 100); !ok || s.Command[0] != command(x.cut) {
			t.Errorf("%s: cut to\n%s, want\n%s", x.options, s.Command[0], command(x.cut))
		}
	}
}

// Without heap options the whole container counts as the heap, and an option is added before the class.
func TestCutHeapOfNone(t *testing.T) {
	s := spec("java -server " + masterClass + " -Xmx1g")
	if got := masterHeap(s, 1536); got != 1536 {
		t.Errorf("a heap of %d MiB, want 1536", got)
	}
	if CutHeap(s, 100); s.Command[0] != "java -server -Xmx100m "+masterClass+" -Xmx1g" {
		t.Errorf("cut to %s", s.Command[0])
	}
}

// A command that is not a MapReduce master's, or is not fully understood where it matters, is left alone.
func TestHeapIsLeftAlone(t *testing.T) {
	for _, c := range []string{
		"",
		"java",
		"java -Xmx1g",
		"java -Xmx1g org.apache.spark.deploy.yarn.ApplicationMaster --class Main",
		"java -Xmx1g org.apache.tez.dag.app.DAGAppMaster",
		"java -Xmx1g -cp " + masterClass + " Main",
		"java -Xmx1g Main " + masterClass,
		"java -Xmx1g -jar app.jar " + masterClass,
		"java -Xmx1g '" + masterClass + "'",
		"java -Xmx1g " + masterClass + "2",
		"/opt/wrap -Xmx1g " + masterClass,
		"nice java -Xmx1g " + masterClass,
		"cd x; java -Xmx1g " + masterClass,
		`bash -c "java -Xmx1g ` + masterClass + `"`,
		command(`"-Xmx1g"`),
		command(`'-Xmx1g'`),
		command(`-Xmx'1g'`),
		command(`-Xmx\1g`),
		command("-Xmx1g `cat more`"),
		command("-Xmx1g $(cat more)"),
		command("-Xmx1g $OPTS"),
		command("-Xmx1g {{OPTS}}"),
		command("-Xmx1g -X${OPTS}"),
		command("-Xmx1g -D{a,b}"),
		command("-Xmx1g '-Da=$B c'"),
		command("-Xmx1g 'x"),
		command("-Xmx1g # nothing"),
		command("-Xmx1g\n-Xmx2g"),
		command("-Xmx1g @options"),
		command("-Xmx1g -mx2g"),
		command("-Xmx1x"),
		command("-Xmx"),
		command("-Xmx-1"),
		command("-Xmx0x40000000"),
		command("-Xmx9999999999999t"),
		command("-Xmx$HEAP"),
		command("-XX:MaxHeapSize=$HEAP"),
		command("-XX:MaxRAMPercentage=50"),
		command("-Xmx1g -XX:SoftMaxHeapSize=512m"),
		command("-Xmx1g -XX:Flags=.hotspotrc"),
		command("-Xmx1g -XX:VMOptionsFile=more"),
		command("-Xmx1g -cp"),
		command("-Xmx1g -cp $CLASSPATH"),
		"java -Xmx1g -cp",
	} {
		s := spec(c)
		if heap := masterHeap(s, 1536); heap != 0 || CutHeap(s, 1) || s.Command[0] != c {
			t.Errorf("%q: a heap of %d MiB, and then %q", c, heap, s.Command[0])
		}
	}
	for _, e := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		s := spec(command("-Xmx1g"))
		s.Environment = []*wire.StringStringMap{{Key: &e, Value: new("-Xmx2g")}}
		if heap := masterHeap(s, 1536); heap != 0 || CutHeap(s, 1) {
			t.Errorf("with %s: a heap of %d MiB", e, heap)
		}
	}
	for _, s := range []*wire.ContainerLaunchContext{nil, {}, {Command: []string{"java", masterClass}}} {
		if heap := masterHeap(s, 1536); heap != 0 || CutHeap(s, 1) {
			t.Errorf("%v: a heap of %d MiB", s, heap)
		}
	}
}

// A submission has megabytes at most, and does not hold anybody up.
func TestLongCommands(t *testing.T) {
	for _, part := range []string{"x", "$x", "$", "-x ", "'", "{{x}}", "<LOG_DIR>"} {
		c := "java -Xmx1g " + strings.Repeat(part, 1<<22/len(part))
		if heap := masterHeap(spec(c), 1536); heap != 0 {
			t.Errorf("of %q a heap of %d MiB", c[:20], heap)
		}
	}
}

// heapWord is a word of a command that sets the size of the heap.
var heapWord = regexp.MustCompile(`([ \t])(-Xm[xs]|-XX:(?:Max|Initial|Min)HeapSize=)[0-9]+[kKmMgGtT]?`)

// FuzzCutHeap looks for a command in which more than the heap options is changed, or whose heap is larger than the cut or
// than before.
func FuzzCutHeap(f *testing.F) {
	for _, options := range []string{"-Xmx1024m", "-Xms1g -Xmx1g '-Da=b c'", "-XX:MaxHeapSize=99", "", "-cp -Xmx1g -Xmx2g", "-Dx=$PWD\t-Xmx5 "} {
		f.Add(command(options), int64(100))
	}
	f.Fuzz(func(t *testing.T, c string, mib int64) {
		if mib <= 0 || mib > 1<<30 {
			return
		}
		s := spec(c)
		before := masterHeap(s, 1<<31)
		changed := CutHeap(s, mib)
		got := s.Command[0]
		if !changed {
			if got != c || before != 0 {
				t.Fatalf("%q, with a heap of %d MiB, is not cut and becomes %q", c, before, got)
			}
			return
		}
		if after := masterHeap(s, 1<<31); before == 0 || after != min(before, mib) {
			t.Fatalf("%q: a heap of %d MiB cut to %d is %d in %q", c, before, mib, after, got)
		}
		same := func(text string) string { return heapWord.ReplaceAllString(text, "$1$2") }
		if a, b := same(c), same(got); a != b && a != strings.Replace(b, "-Xmx "+masterClass, masterClass, 1) {
			t.Fatalf("%q becomes %q", c, got)
		}
	})
}
