package conf

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle"
)

func of(mem, vcores int64) heddle.Resource { return heddle.Of(mem, 1000*vcores) }

// noticeOf returns the first notice about a property.
func noticeOf(h *Hadoop, property string) Notice {
	for _, n := range h.Notices {
		if n.Property == property {
			return n
		}
	}
	return Notice{}
}

func TestSiteDefaults(t *testing.T) {
	s := DefaultSite()
	want := Site{
		Scheduler: "capacity", Minimum: of(1024, 1), Maximum: of(8192, 4), Increment: of(1024, 1), Node: of(8192, 8),
		NodeHeartbeat: heddle.Second, NodeExpiry: 10 * heddle.Minute, Map: of(1024, 1), Reduce: of(1024, 1), Master: of(1536, 1),
		MasterHeartbeat: heddle.Second, SlowStart: float64(float32(0.05)), fairFile: "fair-scheduler.xml",
	}
	if d := diff(want, *s); d != "" {
		t.Error(d)
	}
}

func TestSite(t *testing.T) {
	h, l := disk{
		yarnSite: props(`yarn.resourcemanager.scheduler.class=org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler
			yarn.scheduler.minimum-allocation-mb=256
			yarn.resource-types.memory-mb.maximum-allocation=16Gi
			yarn.scheduler.maximum-allocation-mb=1
			yarn.scheduler.increment-allocation-vcores=2
			yarn.resource-types.memory-mb.increment-allocation=512
			yarn.resourcemanager.nodemanagers.heartbeat-interval-ms=250
			yarn.nm.liveness-monitor.expiry-interval-ms=9000
			yarn.nodemanager.resource.cpu-vcores=24
			yarn.nodemanager.resource-type.yarn.io/gpu=4`),
		typesFile: props(`yarn.resource-types=memory-mb, yarn.io/gpu,licence
			yarn.resource-types.licence.maximum-allocation=3
			yarn.resource-types.licence.units=G
			yarn.nodemanager.resource-type.licence=5999M`),
		mapredSite: props(`mapreduce.map.memory.mb=-1
			mapreduce.map.java.opts=-Xmx1638m
			mapreduce.reduce.cpu.vcores=2
			mapreduce.reduce.resource.memory-mb=3Gi
			yarn.app.mapreduce.am.resource.mb=2048
			yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms=500`),
	}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	want := Site{
		Scheduler: "fifo", Minimum: of(256, 1), Maximum: of(16384, 4), Increment: of(512, 2), Node: of(8192, 24),
		NodeHeartbeat: 250 * heddle.Millisecond, NodeExpiry: 9 * heddle.Second, Map: of(2048, 1), Reduce: of(3072, 2), Master: of(2048, 1),
		MasterHeartbeat: 500 * heddle.Millisecond, SlowStart: float64(float32(0.05)), fairFile: "fair-scheduler.xml",
		Extra: []string{"yarn.io/gpu", "licence"}, ExtraUnits: []string{"", "G"},
	}
	want.Maximum[heddle.Extra1], want.Maximum[heddle.Extra2] = heddle.Unbounded[0], 3
	want.Node[heddle.Extra1], want.Node[heddle.Extra2] = 4, 5
	if d := diff(want, *h.Site); d != "" {
		t.Error(d)
	}
	if n := noticeOf(h, memMax); n.Kind != Remark || n.Line != 5 {
		t.Errorf("a property another one takes the place of is not mentioned: %+v", n)
	}
}

func TestSiteErrors(t *testing.T) {
	for in, want := range map[string]string{
		"yarn.scheduler.minimum-allocation-mb=1 GB":                 "yarn-site.xml:2: yarn.scheduler.minimum-allocation-mb|unknown unit",
		"yarn.scheduler.minimum-allocation-vcores=1k":               "yarn-site.xml:2: yarn.scheduler.minimum-allocation-vcores|only memory",
		"yarn.scheduler.minimum-allocation-mb=-5":                   "yarn-site.xml:2: yarn.scheduler.minimum-allocation-mb|not an amount",
		"yarn.scheduler.minimum-allocation-mb=0":                    "yarn-site.xml:2: yarn.scheduler.minimum-allocation-mb|more than 0",
		"yarn.scheduler.minimum-allocation-mb=99999999999999999999": "yarn-site.xml:2: yarn.scheduler.minimum-allocation-mb|too large",
		"yarn.scheduler.minimum-allocation-mb=9000000000000000Pi":   "yarn-site.xml:2: yarn.scheduler.minimum-allocation-mb|too large",
		"\nyarn.scheduler.maximum-allocation-mb=512":                "yarn-site.xml:3: yarn.scheduler.maximum-allocation-mb|larger than the largest",
		"yarn.resource-types.vcores.minimum-allocation=8":           "yarn-site.xml:2: yarn.resource-types.vcores.minimum-allocation|larger than the largest",
		"yarn.scheduler.increment-allocation-mb=0":                  "yarn-site.xml:2: yarn.scheduler.increment-allocation-mb|more than 0",
		"yarn.resource-types=memory":                                "yarn-site.xml:2: yarn.resource-types|cannot be defined again",
		"yarn.resource-types=gpu,gpu":                               "yarn-site.xml:2: yarn.resource-types|twice",
		"yarn.resource-types=9gpu":                                  "yarn-site.xml:2: yarn.resource-types|not a resource name",
		"yarn.resource-types=a\nyarn.resource-types.a.units=K":      "yarn-site.xml:3: yarn.resource-types.a.units|not a unit",
		"yarn.resource-types=a,b,c":                                 "yarn-site.xml:2: yarn.resource-types|one resource too many",
		"yarn.cluster.max-application-priority=-1":                  "yarn-site.xml:2: yarn.cluster.max-application-priority|too small",
		"yarn.cluster.max-application-priority=99999999999":         "yarn-site.xml:2: yarn.cluster.max-application-priority|too large",
		"yarn.cluster.max-application-priority=ten":                 "yarn-site.xml:2: yarn.cluster.max-application-priority|not a whole number",
		"yarn.scheduler.fair.reservable-nodes=NaN":                  "yarn-site.xml:2: yarn.scheduler.fair.reservable-nodes|not a number",
		"yarn.scheduler.fair.reservable-nodes=-1":                   "yarn-site.xml:2: yarn.scheduler.fair.reservable-nodes|too small",
		"yarn.scheduler.fair.locality.threshold.node=2":             "yarn-site.xml:2: yarn.scheduler.fair.locality.threshold.node|nor -1",
		"yarn.scheduler.reservation-threshold.increment-multiple=x": "yarn-site.xml:2: yarn.scheduler.reservation-threshold.increment-multiple|not a number",
	} {
		_, l := disk{yarnSite: props(in)}.load()
		expect(t, errorLines(l), want)
	}
}

// The example of Hadoop's documentation. What nodes have never keeps a ResourceManager from starting: they say it.
func TestUnitsOfNodes(t *testing.T) {
	h, l := disk{
		yarnSite: props(`yarn.resource-types=resource1, resource2
			yarn.resource-types.resource1.units=G
			yarn.nodemanager.resource-type.resource1=5G
			yarn.nodemanager.resource-type.resource2=2m`),
	}.load()
	if err := l.err(); err != nil || h.Site.Node[heddle.Extra1] != 5 || h.Site.Node[heddle.Extra2] != 0 || h.Site.ExtraUnits[0] != "G" {
		t.Errorf("%v, %v", h, err)
	}
	for _, bad := range []string{"5 GB", "-1", "99999999999999999999", "x"} {
		const name = "yarn.nodemanager.resource-type.a"
		h, l := disk{yarnSite: props("yarn.resource-types=a\n" + name + "=" + bad)}.load()
		if n := noticeOf(h, name); l.err() != nil || n.Kind != Remark || n.Line != 3 {
			t.Errorf("%s: %v, %v", bad, n, l.err())
		}
	}
}

func TestFairSite(t *testing.T) {
	h, l := disk{
		yarnSite: props(`yarn.scheduler.fair.assignmultiple=true
			yarn.scheduler.fair.dynamic.max.assign=false
			yarn.scheduler.fair.max.assign=7
			yarn.scheduler.fair.locality.threshold.rack=0.25
			yarn.scheduler.fair.continuous-scheduling-enabled=true
			yarn.scheduler.fair.locality-delay-node-ms=300
			yarn.scheduler.fair.sizebasedweight=true
			yarn.scheduler.fair.update-interval-ms=-3
			yarn.scheduler.reservation-threshold.increment-multiple=2.5
			yarn.scheduler.fair.allow-undeclared-pools=false`),
		fairFile: "<allocations/>",
	}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	c := h.Fair
	if !c.AssignMultiple || c.DynamicMaxAssign || c.MaxAssign != 7 || c.NodeThreshold != -1 || c.RackThreshold != 0.25 || !c.Continuous ||
		c.NodeDelay != 300*heddle.Millisecond || c.RackDelay != -1 || !c.SizeBasedWeight || c.UpdateInterval != 500*heddle.Millisecond ||
		c.ReservationThreshold != 3 || c.AllowUndeclared || !c.UserAsDefaultQueue {
		t.Errorf("got %+v", c)
	}
	if n := noticeOf(h, "yarn.scheduler.reservation-threshold.increment-multiple"); n.Kind != Unsupported || n.Line != 10 {
		t.Errorf("2.5 is cut without a word: %+v", n)
	}
}

// The smallest container of the fair scheduler may be nothing. What rounds to it does not.
func TestSmallestIsNothing(t *testing.T) {
	h, l := disk{
		yarnSite: props("yarn.resourcemanager.scheduler.class=a.FairScheduler\n" + memMin + "=0\n" + cpuMin + "=0"),
		fairFile: "<allocations/>", capacityFile: cs(two),
	}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]heddle.Resource{"the site": h.Site.Minimum, "fair": h.Fair.Minimum} {
		if got != (heddle.Resource{}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := h.Capacity.Minimum; got != of(1, 1) {
		t.Errorf("capacity: %v", got)
	}
	h.Capacity = nil
	if got := h.Complete().Capacity.Minimum; got != of(1, 1) {
		t.Errorf("capacity as by default: %v", got)
	}
}

func diff(want, got Site) string { return cmp.Diff(want, got, cmp.AllowUnexported(Site{})) }
