package conf

import (
	"os/user"
	"strings"
	"testing"

	"heddle"
)

func TestPropertyFileErrors(t *testing.T) {
	deep := strings.Repeat("<configuration>", maxNesting+1)
	for name, c := range map[string]struct{ doc, want string }{
		"empty":           {"", "yarn-site.xml|is empty; expected <configuration>"},
		"other root":      {"\n<allocations/>", "yarn-site.xml:2: allocations|must be <configuration>"},
		"text first":      {"x <configuration/>", "yarn-site.xml:1|text before"},
		"not closed":      {"<configuration>\n<property>\n", "yarn-site.xml:3|not well-formed"},
		"wrong close":     {"<configuration>\n<property>\n</name>\n</configuration>", "yarn-site.xml:3|not well-formed"},
		"entity":          {"<!DOCTYPE configuration [<!ENTITY a \"b\">]>\n<configuration>\n<property><name>&a;</name></property></configuration>", "yarn-site.xml:3|not well-formed"},
		"second root":     {"<configuration/>\n<configuration/>", "yarn-site.xml:2|nothing may follow"},
		"element inside":  {"<configuration><property>\n<name>a</name>\n<value><b/></value></property></configuration>", "yarn-site.xml:3: b|inside <value>"},
		"encoding":        {"<?xml version=\"1.0\" encoding=\"koi8-r\"?>\n<configuration/>", "yarn-site.xml:1|save the file as UTF-8"},
		"deep":            {deep, "yarn-site.xml:1|more than 100 elements deep"},
		"long name":       {"<configuration><property>\n<name>" + strings.Repeat("n", 5000) + "</name><value>1</value></property></configuration>", "yarn-site.xml:2: name|longer than 4096"},
		"large":           {"<configuration>" + strings.Repeat(" ", maxFileBytes) + "</configuration>", "yarn-site.xml|a configuration may have"},
		"many":            {"<configuration>" + strings.Repeat("<p/>", maxElements) + "</configuration>", "yarn-site.xml:1: p|more than 200000 elements"},
		"include nothing": {"<configuration>\n<include/></configuration>", "yarn-site.xml:2: include|has no href"},
		"include afar":    {"<configuration>\n<include href=\"file://host/y\"/></configuration>", "yarn-site.xml:2: include|only files"},
		"include web":     {"<configuration>\n<include href=\"http://x/y\"/></configuration>", "yarn-site.xml:2: include|only files"},
		"include absent":  {"<configuration>\n<include href=\"no.xml\"/></configuration>", "yarn-site.xml:2: include|no file no.xml"},
		"include itself":  {"<configuration>\n<include href=\"yarn-site.xml\"/></configuration>", "yarn-site.xml:2: include|include itself"},
		"include child":   {"<configuration>\n<include href=\"no.xml\">\n<b/></include></configuration>", "yarn-site.xml:3: b|only <xi:fallback>"},
		"loop":            {props("yarn.cluster.max-application-priority=${a}\na=${b}\nb=${a}"), "yarn-site.xml:2: yarn.cluster.max-application-priority|refer to itself"},
		"grows":           {props("yarn.cluster.max-application-priority=${a}${a}\na=" + strings.Repeat("x", maxValue-9)), "yarn-site.xml:2: yarn.cluster.max-application-priority|beyond a mebibyte"},
	} {
		t.Run(name, func(t *testing.T) {
			_, l := disk{yarnSite: c.doc}.load()
			expect(t, errorLines(l), c.want)
		})
	}
}

func TestSubstitution(t *testing.T) {
	ps := newProperties(&log{}, func(n string) (string, bool) {
		v, ok := map[string]string{"env.HOME": "/h", "env.EMPTY": "", "user.name": "ann"}[n]
		return v, ok
	}).over([]*property{{name: "a", raw: "1${b}"}, {name: "b", raw: "2"}, {name: "n", raw: "b"}, {name: "self", raw: "x${self}"}, {name: "user.name", raw: "bob"}})
	for in, want := range map[string]string{
		"${a}3":             "123",
		"${b}-${b}":         "2-2",
		"${${n}}":           "2",
		"${none} ${b}":      "${none} ${b}", // Hadoop stops at what it does not know
		"${no name}":        "${no name}",
		"${}":               "${}",
		"$${b}":             "$2",
		"${env.HOME}":       "/h",
		"${env.NO}":         "${env.NO}",
		"${env.NO-x}":       "x",
		"${env.EMPTY-x}":    "",
		"${env.EMPTY:-x-y}": "x-y",
		"}${":               "}${",
		"${user.name}":      "ann",
		"${HOME}":           "${HOME}",
		"${hadoop.tmp.dir}": "/tmp/hadoop-ann",
		"${yarn.resourcemanager.webapp.address}/logs": "127.0.0.1:8088/logs",
		"${self}":      "${self}", // Hadoop leaves what refers to itself
		"${b} ${self}": "${b} ${self}",
	} {
		if got, err := ps.substitute(in); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
}

// What ${…} stands for beside properties is the environment's, and what Java knows of the user.
func TestOutside(t *testing.T) {
	t.Setenv("HEDDLE_TEST", "here")
	u, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]string{
		"env.HEDDLE_TEST": "here", "user.name": u.Username, "user.home": u.HomeDir, "java.io.tmpdir": "/tmp",
	} {
		if got, ok := outside(name); got != want || !ok {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"HEDDLE_TEST", "env.HEDDLE_NO_TEST", "user"} {
		if got, ok := outside(name); ok {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A property that refers to itself stands as it is written, and keeps nothing from being read.
func TestRefersToItself(t *testing.T) {
	d := daemonOf(t, disk{yarnSite: props("yarn.resourcemanager.cluster-id=${yarn.resourcemanager.cluster-id}\na=${a}\nyarn.log.server.url=${a}")})
	if d.ClusterID != "${yarn.resourcemanager.cluster-id}" || d.LogServerURL != "${a}" {
		t.Errorf("got %q, %q", d.ClusterID, d.LogServerURL)
	}
}

// Included files may be given as URLs. Relative ones are beside the file that was asked for, or else beside the one that
// includes them.
func TestIncludes(t *testing.T) {
	include := func(href string) string {
		return `<configuration xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="` + href + `"><xi:fallback/></xi:include></configuration>`
	}
	const size = "yarn.scheduler.maximum-allocation-mb="
	for name, c := range map[string]struct {
		files disk
		want  int64
	}{
		"a URL":          {disk{yarnSite: include("file:///etc/my%20site.xml"), "/etc/my site.xml": props(size + "4096")}, 4096},
		"of this host":   {disk{yarnSite: include("file://localhost/etc/site.xml"), "/etc/site.xml": props(size + "4096")}, 4096},
		"a short one":    {disk{yarnSite: include("file:/etc/site.xml"), "/etc/site.xml": props(size + "4096")}, 4096},
		"not there":      {disk{yarnSite: include("file:///etc/site.xml")}, 8192},
		"an absolute":    {disk{yarnSite: include("/etc/site.xml"), "/etc/site.xml": props(size + "4096")}, 4096},
		"in the folder":  {disk{yarnSite: include("sub/a.xml"), "sub/a.xml": include("b.xml"), "b.xml": props(size + "4096"), "sub/b.xml": props(size + "2048")}, 4096},
		"beside another": {disk{yarnSite: include("sub/a.xml"), "sub/a.xml": include("b.xml"), "sub/b.xml": props(size + "2048")}, 2048},
	} {
		h, l := c.files.load()
		if err := l.err(); err != nil || h.Site.Maximum[heddle.Memory] != c.want {
			t.Errorf("%s: %v, %v; want %d", name, h.Site.Maximum, err, c.want)
		}
	}
}

// Later files count, unless the earlier one is final; a fallback stands in for a file that is absent;
// a file is included where the element stands.
func TestLayers(t *testing.T) {
	h, l := disk{
		coreSite: `<configuration><property><name>yarn.cluster.max-application-priority</name><value>0x1</value><final>true</final></property>
			<property><name>yarn.scheduler.minimum-allocation-mb</name><value>256</value></property></configuration>`,
		yarnSite: `<?xml version="1.0" encoding="ISO-8859-1"?>
			<configuration xmlns:xi="http://www.w3.org/2001/XInclude">
			<property><name> yarn.cluster.max-application-priority </name><value>9</value></property>
			<xi:include href="more.xml"/>
			<xi:include href="absent.xml"><xi:fallback><property name="yarn.scheduler.maximum-allocation-vcores" value="16"/></xi:fallback></xi:include>
			<property><name>yarn.scheduler.minimum-allocation-mb</name><value> <![CDATA[512]]><!-- half --> </value></property>
			</configuration>`,
		"more.xml": props("yarn.scheduler.maximum-allocation-mb=4096"),
	}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	if h.Site.MaxPriority != 1 || h.Site.Minimum != of(512, 1) || h.Site.Maximum != of(4096, 16) {
		t.Errorf("got %+v", h.Site)
	}
	if n := noticeOf(h, "yarn.cluster.max-application-priority"); n.Kind != Remark || n.Line != 3 || !strings.Contains(n.Text, "core-site.xml:1") {
		t.Errorf("the final property is overridden without a word: %+v", n)
	}
}

func TestOddProperties(t *testing.T) {
	h, l := disk{yarnSite: `<configuration>
		stray
		<propertee/>
		<property><value>1</value></property>
		<property><name>no.value</name></property>
		<property><name>a</name><value>1</value><what/></property>
		<property><name>a</name><value>2</value></property>
		<property><name>yarn.scheduler.fair.assignmultiple</name><value>yes</value></property>
		</configuration>`}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"yarn-site.xml:1: text outside", "yarn-site.xml:3: propertee: no such element", "yarn-site.xml:4: property: has no <name>",
		"yarn-site.xml:5: no.value: has no <value>", "yarn-site.xml:6: what: no such element", "yarn-site.xml:7: a: is set twice",
		"yarn-site.xml:8: yarn.scheduler.fair.assignmultiple: \"yes\" is neither",
	} {
		found := false
		for _, n := range h.Notices {
			found = found || strings.HasPrefix(n.String(), want)
		}
		if !found {
			t.Errorf("no notice %q in %v", want, h.Notices)
		}
	}
}

// Old names that Hadoop still accepts count as the new ones, of which the last one set counts, and are remarked on.
func TestOldNames(t *testing.T) {
	h, l := disk{
		coreSite: props(`topology.script.file.name=/racks.sh
			topology.node.switch.mapping.impl=ScriptBasedMapping
			fs.default.name=hdfs://nn1
			cluster=${fs.default.name}`),
		yarnSite:   props("yarn.resourcemanager.display.per-user-apps=true"),
		mapredSite: props("mapred.job.map.memory.mb=333\nmapred.job.reduce.memory.mb=444\nmapreduce.reduce.memory.mb=555"),
	}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	if h.Daemon.TopologyScript != "/racks.sh" || h.Daemon.Files.URL != "hdfs://nn1" || h.Site.Map != of(333, 1) || h.Site.Reduce != of(555, 1) {
		t.Errorf("got %+v, %+v", h.Daemon, h.Site)
	}
	if n := noticeOf(h, "yarn.webapp.filter-entity-list-by-user"); n.Kind != Unsupported || n.Line != 2 {
		t.Errorf("what an old name asks for is not said to be off: %+v", n)
	}
	for old, now := range map[string]string{"topology.script.file.name": topologyScript, "mapred.job.map.memory.mb": "mapreduce.map.memory.mb"} {
		if n := noticeOf(h, old); n.Kind != Remark || n.Text != "is an old name of "+now+", and counts as that" {
			t.Errorf("%s: %+v", old, n)
		}
	}
	for _, p := range h.Properties {
		if p.Name == "cluster" && p.Value != "hdfs://nn1" || renamed[p.Name] != "" {
			t.Errorf("got %+v", p)
		}
	}
}
