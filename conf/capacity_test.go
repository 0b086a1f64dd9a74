package conf

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/policies/capacity"
)

// two is a good tree that tests add to; its lines are 2 to 4 of the file.
const two = "root.queues=a,b\nroot.a.capacity=70\nroot.b.capacity=30\n"

func TestCapacityErrors(t *testing.T) {
	const f = "capacity-scheduler.xml"
	for in, want := range map[string]string{
		"maximum-applications=5":                                                                   f + ": yarn.scheduler.capacity.root.queues|is missing",
		"root.queues= , ":                                                                          f + ":2: yarn.scheduler.capacity.root.queues|names no queue",
		"root.queues=a,a":                                                                          f + ":2: yarn.scheduler.capacity.root.queues|names a twice",
		"root.queues=a,b.c\nroot.a.capacity=100":                                                   f + ":2: yarn.scheduler.capacity.root.queues|\"b.c\" has a dot",
		"root.queues=a,b\nroot.a.capacity=70\nroot.b.capacity=20":                                  f + ":2: yarn.scheduler.capacity.root.queues|90 % in all; they must be 100 %",
		"root.queues=a,b\nroot.a.capacity=70\nroot.b.capacity=30.1":                                f + ":2|100.1 % in all",
		"root.queues=a,b":                                                                          f + ":2|under root have no capacity",
		"root.queues=a\nroot.a.capacity=100 %":                                                     f + ":3: yarn.scheduler.capacity.root.a.capacity|not a capacity; expected a percentage without sign",
		"root.queues=a\nroot.a.capacity=101":                                                       f + ":3: yarn.scheduler.capacity.root.a.capacity|not between 0 and 100",
		"root.queues=a,b\nroot.a.capacity=1w\nroot.b.capacity=50":                                  f + ":4: yarn.scheduler.capacity.root.b.capacity|is a percentage, but root.a has a weight",
		"root.queues=a\nroot.a.capacity=xw":                                                        f + ":3|not a weight",
		"root.queues=a\nroot.a.capacity=10001w":                                                    f + ":3|not between 0 and 10000",
		"root.queues=a\nroot.a.capacity=[memory=50%,vcores=1]":                                     f + ":3|non-legacy",
		"root.queues=a\nroot.a.capacity=[memory=5,vcores]":                                         f + ":3|lacks its amount",
		"root.queues=a\nroot.a.capacity=[memory=5":                                                 f + ":3|not a list of resources",
		"root.queues=a\nroot.a.capacity=[memory=5Q]":                                               f + ":3|unknown unit",
		"root.queues=a\nroot.a.capacity=[memory=5]\nroot.a.queues=b\nroot.a.b.capacity=100":        f + ":4: yarn.scheduler.capacity.root.a.queues|absolute amounts must be used for both",
		"root.queues=a\nroot.a.capacity=[memory=5]\nroot.a.queues=b\nroot.a.b.capacity=[memory=6]": f + ":3: yarn.scheduler.capacity.root.a.capacity|less than the children's",
		"root.queues=a\nroot.a.capacity=[memory=5]\nroot.a.maximum-capacity=[memory=4]":            f + ":3: yarn.scheduler.capacity.root.a.capacity|more than the queue's maximum",
		"root.queues=a\nroot.a.capacity=100\nroot.maximum-capacity=[memory=5]\nroot.a.maximum-capacity=[memory=6]": f + ":5: yarn.scheduler.capacity.root.a.maximum-capacity|more than the maximum of its parent",
		two + "root.a.maximum-capacity=69": f + ":5: yarn.scheduler.capacity.root.a.maximum-capacity|at most 69 %",
		two + "root.a.maximum-capacity=-2": f + ":5|nor -1",
		two + "root.a.maximum-capacity=x":  f + ":5|not a maximum",
		two + "root.a.queues=c":            f + ":5: yarn.scheduler.capacity.root.a.queues|under root.a have no capacity",
		"root.queues=a,b\nroot.a.capacity=100\nroot.b.queues=c\nroot.b.c.capacity=100":    f + ":4: yarn.scheduler.capacity.root.b.queues|has a capacity of 0",
		two + "resource-calculator=x.Magic":                                               f + ":5: yarn.scheduler.capacity.resource-calculator|no calculator",
		two + "root.a.state=DRAINING":                                                     f + ":5: yarn.scheduler.capacity.root.a.state|expected RUNNING or STOPPED",
		two + "root.state=STOPPED\nroot.a.state=RUNNING":                                  f + ":6: yarn.scheduler.capacity.root.a.state|cannot be RUNNING",
		two + "root.a.ordering-policy=utilization":                                        f + ":5: yarn.scheduler.capacity.root.a.ordering-policy|expected fifo or fair",
		two + "root.ordering-policy=fair":                                                 f + ":5: yarn.scheduler.capacity.root.ordering-policy|expected utilization",
		two + "root.a.user-limit-factor=-2":                                               f + ":5: yarn.scheduler.capacity.root.a.user-limit-factor|too small",
		two + "user-limit-factor=-0.5":                                                    f + ":5: yarn.scheduler.capacity.user-limit-factor|neither -1",
		two + "root.a.minimum-user-limit-percent=x":                                       f + ":5: yarn.scheduler.capacity.root.a.minimum-user-limit-percent|not a number",
		two + "root.a.minimum-user-limit-percent=50\nroot.a.user-settings.ann.weight=2.5": f + ":6: yarn.scheduler.capacity.root.a.user-settings.ann.weight|more than 2",
		two + "root.user-settings.ann.weight=1.5\nroot.a.minimum-user-limit-percent=50":   f + ":5: yarn.scheduler.capacity.root.user-settings.ann.weight|lets into root.b",
		two + "root.a.user-settings.ann.weight=-1":                                        f + ":5|too small",
		two + "max-parallel-apps=0":                                                       f + ":5: yarn.scheduler.capacity.max-parallel-apps|no application ever run",
		two + "root.a.maximum-allocation-mb=8193":                                         f + ":5|cluster's largest container",
		two + "root.a.maximum-allocation-vcores=5":                                        f + ":5|cluster's largest container",
		two + "root.a.maximum-allocation=memory-mb=9Gi,vcores=1":                          f + ":5|with the unit M or G",
		two + "root.a.maximum-allocation=memory-mb=9g,vcores=1":                           f + ":5|cluster's largest container",
		two + "root.a.maximum-allocation=gpu=1":                                           f + ":5|not a resource of this cluster",
		two + "root.a.maximum-allocation=4096":                                            f + ":5|lacks its amount",
		two + "mapping-rule-format=xml":                                                   f + ":5: yarn.scheduler.capacity.mapping-rule-format|expected legacy or json",
		two + "queue-mappings=u:ann":                                                      f + ":5: yarn.scheduler.capacity.queue-mappings|not a mapping",
		two + "queue-mappings=x:ann:a":                                                    f + ":5: yarn.scheduler.capacity.queue-mappings|expected u for a user",
		two + "queue-mappings=u:ann:c":                                                    f + ":5|there is no queue c",
		two + "queue-mappings=u:ann:root":                                                 f + ":5|has children",
		two + "queue-mappings=u:ann:root..a":                                              f + ":5|empty part",
		two + "queue-mappings=u:ann:root.a.%user":                                         f + ":5|has no children",
		two + "queue-mappings=u:ann:root.c.%user":                                         f + ":5|there is no queue root.c",
	} {
		t.Run(in, func(t *testing.T) {
			_, l := disk{capacityFile: cs(in)}.load()
			expect(t, errorLines(l), want)
		})
	}
}

func f32(f float32) float64 { return float64(f) }

// base is a queue without a setting of its own.
func base(path string, parent int) capacity.QueueConfig {
	return capacity.QueueConfig{
		Path: path, Parent: parent, Capacity: 1, MaxCapacity: 1, MinimumUserLimit: 1, UserLimitFactor: 1,
		MaxAMShare: f32(0.1), MaxApplications: -1,
	}
}

func TestCapacityDefaults(t *testing.T) {
	got, _ := capacityOf(t, "root.queues=default\nroot.default.capacity=100")
	want := DefaultCapacity()
	want.MemoryOnly = true // without a file the simulator counts every resource
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	root := base("root", -1)
	root.MaxAMShare = 0.1 // never read for a parent
	want = &capacity.Config{
		Queues:     []capacity.QueueConfig{root, base("root.default", 0)},
		MemoryOnly: true, NodeLocalityDelay: 40, RackLocalityAdditional: -1, RackLocalityFullReset: true, ContinueLooking: true,
		MultipleAssignments: true, MaxAssignments: 100, MaxOffSwitch: 1, MaxApplications: 10000, GlobalQueueMaxApplication: -1,
		Minimum: of(1024, 1), Maximum: of(8192, 4),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What a leaf does not set comes from the property of the whole cluster, not from its parent; the state,
// users' weights, the largest container and the order of queues do come from the parent.
func TestCapacityInheritance(t *testing.T) {
	c, _ := capacityOf(t, `minimum-user-limit-percent=50
		user-limit-factor=2
		maximum-am-resource-percent=0.3
		max-parallel-apps=9
		root.queues=p
		root.ordering-policy=priority-utilization
		root.p.capacity=100
		root.p.queues=a,b
		root.p.minimum-user-limit-percent=10
		root.p.user-limit-factor=7
		root.p.maximum-am-resource-percent=0.9
		root.p.max-parallel-apps=5
		root.p.state=STOPPED
		root.p.user-settings.ann.weight=2
		root.p.user-settings.bob.weight=1
		root.p.maximum-allocation=memory-mb=4g,vcores=2
		root.p.a.capacity=33.3
		root.p.b.capacity=66.7
		root.p.b.user-limit-factor=-1
		root.p.b.maximum-am-resource-percent=0.5
		root.p.b.user-settings.bob.weight=0.5
		root.p.b.maximum-allocation-mb=2048
		root.p.b.max-parallel-apps=3
		root.p.b.ordering-policy=org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FairOrderingPolicy
		root.p.b.ordering-policy.fair.enable-size-based-weight=true
		root.p.b.default-application-priority=4
		root.p.b.maximum-applications=11`)
	a := base("root.p.a", 1)
	a.Capacity = f32(float32(33.3) / 100)
	a.MinimumUserLimit, a.UserLimitFactor, a.MaxAMShare, a.MaxParallelApps, a.Stopped = 0.5, 2, f32(0.3), 9, true
	a.UserWeights, a.Maximum = map[string]float64{"ann": 2, "bob": 1}, of(4096, 2)
	b := a
	b.Path, b.Capacity = "root.p.b", f32(float32(66.7)/100)
	b.UserLimitFactor, b.MaxAMShare, b.MaxParallelApps, b.MaxApplications, b.DefaultPriority = -1, 0.5, 3, 11, 4
	b.UserWeights, b.Maximum = map[string]float64{"ann": 2, "bob": 0.5}, of(2048, 2)
	b.Fair, b.SizeBasedWeight = true, true
	b.Own = []string{"maximum-am-resource-percent", "user-limit-factor", "max-parallel-apps"}
	if d := cmp.Diff([]capacity.QueueConfig{a, b}, c.Queues[2:]); d != "" {
		t.Error(d)
	}
	if root, p := c.Queues[0], c.Queues[1]; root.MaxParallelApps != 9 || root.Own != nil || p.MaxParallelApps != 5 || !slices.Equal(p.Own, []string{"max-parallel-apps"}) {
		t.Errorf("applications of the parents: %+v", c.Queues[:2])
	}
	if !c.Queues[0].ByPriority || !c.Queues[1].ByPriority || c.Queues[0].Stopped || !c.Queues[1].Stopped {
		t.Errorf("order or state of the parents: %+v", c.Queues[:2])
	}
}

func TestCapacityStyles(t *testing.T) {
	c, _ := capacityOf(t, `root.queues=w,x
		root.w.capacity=3w
		root.w.queues=p,q
		root.w.p.capacity=25
		root.w.q.capacity=75
		root.x.capacity=1w
		root.x.queues=c
		root.x.c.capacity=2.5w`)
	if q := c.Queues; q[1].Weight != 3 || q[1].Capacity != 0 || q[2].Capacity != 0.25 || q[4].Weight != 1 || q[5].Weight != 2.5 {
		t.Errorf("weights: %+v", q)
	}
	c, _ = capacityOf(t, `root.queues=a,z
		root.a.capacity=[memory=8Gi,vcores=8]
		root.a.maximum-capacity=[memory=16384,vcores=16]
		root.a.queues=b
		root.a.b.capacity=[ memory=4096, vcores=4 ]
		root.z.capacity=[memory=0,vcores=0]`)
	if q := c.Queues; q[1].Absolute != of(8192, 8) || q[1].MaxAbsolute != of(16384, 16) || q[2].Absolute != of(4096, 4) ||
		q[2].MaxAbsolute != of(16384, 16) || !q[3].Absolute.IsZero() || q[3].Capacity != 0 {
		t.Errorf("amounts: %+v", q)
	}
	capacityOf(t, "root.queues=a,b\nroot.a.capacity=33.33\nroot.b.capacity=66.63") // 99.96 is near enough
	capacityOf(t, "root.queues=a\nroot.a.capacity=0\nroot.allow-zero-capacity-sum=true")
}

// Hadoop's 32-bit floats: 70 % of 10240 MiB is 7167 there, not 7168.
func TestCapacityIsAFloat(t *testing.T) {
	c, _ := capacityOf(t, two)
	if got := int64(10240 * c.Queues[1].Capacity); got != 7167 {
		t.Errorf("got %d", got)
	}
}

func TestCapacityNotices(t *testing.T) {
	for in, want := range map[string]Notice{
		"root.a.accessible-node-labels=gpu":             {Kind: Unsupported, Text: labelText},
		"root.a.accessible-node-labels.gpu.capacity=50": {Kind: Unsupported, Text: labelText},
		"root.a.acl_submit_applications=ann":            {Kind: Harmless, Text: aclText},
		"root.capacity=100":                             {Kind: Harmless, Text: rootText},
		"root.user-limit-factor=2":                      {Kind: Remark, Text: parentText},
		"root.a.auto-queue-creation-v2.enabled=true":    {Kind: Unsupported, Text: "no queues are created; it takes"},
		"root.a.auto-queue-creation-v2.max-queues=5":    {Kind: Harmless, Text: autoText},
		"root.c.capacity=5":                             {Kind: Unknown, Text: "there is no queue root.c; root.queues does not name c"},
		"root.a.c.user-settings.ann.weight=1":           {Kind: Unknown, Text: "there is no queue root.a.c"},
		"root.a.capasity=5":                             {Kind: Unknown, Text: "no such property of a queue"},
		"root.a.maximum-am-resource-percent=10":         {Kind: Remark, Text: "is a fraction"},
		"root.a.maximum-applications=0":                 {Kind: Remark, Text: "accepts no applications"},
		"root.a.ordering-policy=fifo-for-pending-apps":  {Kind: Unsupported, Text: "taken as fifo"},
		"root.a.maximum-allocation=memory-mb=4096":      {Kind: Remark, Text: "names no vcores"},
		"root.a.reservable=false":                       {Kind: Harmless, Text: "is off"},
		"legacy-queue-mode.enabled=false":               {Kind: Unsupported, Text: "legacy mode"},
		"mapping-rule-format=json":                      {Kind: Unsupported, Text: "JSON mapping rules"},
		"queue-mappings=":                               {Kind: Harmless},
		"queue-mappings=u:%user:root.%application":      {Kind: Unsupported, Text: "mappings by application name"},
		"user.ann.max-parallel-apps=5":                  {Kind: Unsupported, Text: "not limited"},
		"schedule-asynchronously.enable=true":           {Kind: Unsupported, Text: asyncText},
		"schedule-asynchronously.maximum-threads=4":     {Kind: Harmless, Text: asyncText},
		"nodelocality-delay=4":                          {Kind: Unknown, Text: "no such property of the capacity scheduler"},
	} {
		t.Run(in, func(t *testing.T) {
			h, l := disk{capacityFile: cs(two + in)}.load()
			if err := l.err(); err != nil {
				t.Fatal(err)
			}
			name, _, _ := strings.Cut(in, "=")
			n := noticeOf(h, csPrefix+name)
			if name == "queue-mappings" && want.Kind == Harmless {
				if n != (Notice{}) {
					t.Errorf("an empty list needs no word: %v", n)
				}
				return
			}
			if n.Kind != want.Kind || n.Line != 5 || n.File != capacityFile || !strings.Contains(n.Text, want.Text) || n.Text == "" {
				t.Errorf("got %v %v, want %v %q", n.Kind, n, want.Kind, want.Text)
			}
		})
	}
}

func TestCapacityPlace(t *testing.T) {
	tree := `root.queues=a,b,default,auto
		root.a.capacity=40
		root.a.queues=x,y
		root.a.x.capacity=50
		root.a.y.capacity=50
		root.b.capacity=40
		root.b.queues=x,engineers
		root.b.x.capacity=50
		root.b.engineers.capacity=50
		root.default.capacity=10
		root.auto.capacity=10
		root.auto.auto-create-child-queue.enabled=true
		`
	maps := "queue-mappings=u:ann:y,g:ops:root.b.x,u:eve:root.b.%primary_group,u:sec:root.b.%secondary_group,u:kim:root.auto.%user,u:joe:root.a.%user"
	for _, c := range []struct {
		conf, queue, user string
		groups            []string
		want, err         string
	}{
		{"", "root.a.x", "ann", nil, "root.a.x", ""},
		{"", "y", "ann", nil, "root.a.y", ""},
		{"", "a.y", "ann", nil, "root.a.y", ""},
		{"", "", "ann", nil, "root.default", ""},
		{"", "default", "ann", nil, "root.default", ""},
		{"", "x", "ann", nil, "", "ambiguous; say root.a.x or root.b.x"},
		{"", "a", "ann", nil, "", "has children"},
		{"", "root", "ann", nil, "", "has children"},
		{"", "c", "ann", nil, "", "there is no queue c"},
		{"", "a.z", "ann", nil, "", "there is no queue root.a.z"},
		{"", "root.a.y.z", "ann", nil, "", "there is no queue root.a.y.z"},
		{"", "root.auto.u.v", "ann", nil, "root.auto", ""},
		{maps, "", "ann", nil, "root.a.y", ""},
		{maps, "root.b.x", "ann", nil, "root.b.x", ""}, // names a queue: mappings have no say
		{maps, "", "bob", []string{"staff", "ops"}, "root.b.x", ""},
		{maps, "", "bob", []string{"staff"}, "root.default", ""},
		{maps, "", "eve", []string{"engineers"}, "root.b.engineers", ""},
		{maps, "", "eve", []string{"none"}, "root.default", ""}, // no such queue: falls back
		{maps, "", "eve", nil, "root.default", ""},
		{maps, "", "sec", []string{"engineers", "none", "engineers"}, "root.b.engineers", ""},
		{maps, "", "kim", nil, "root.auto", ""},
		{maps, "", "joe", nil, "root.default", ""},
		{maps + "\nqueue-mappings-override.enable=true", "root.b.x", "ann", nil, "root.a.y", ""},
		{"queue-mappings=u:%user:%specified\nqueue-mappings-override.enable=true", "y", "ann", nil, "root.a.y", ""},
		{"queue-mappings=u:%user:root.a.%user", "", "j.x", nil, "root.default", ""},
		{"queue-mappings=u:%user:root.auto.%secondary_group", "", "ann", []string{"staff"}, "root.default", ""},
		{"queue-mappings=u:%user:root.auto.%secondary_group", "", "ann", []string{"staff", "ops"}, "root.default", ""},
		{"queue-mappings=u:%user:root.auto.%secondary_group", "", "ann", nil, "root.auto", ""}, // Hadoop creates a queue %secondary_group
		{"queue-mappings=u:%user:root.auto.%primary_group", "", "ann", []string{"staff"}, "root.auto", ""},
		{"queue-mappings=u:%user:root.auto.%specified", "", "ann", nil, "root.default", ""},
		{"", "root.auto.", "ann", nil, "", "not the path of a queue"},
	} {
		_, p := capacityOf(t, tree+c.conf)
		got, created, err := p.Place(c.queue, c.user, c.groups)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if got != c.want || created || !strings.Contains(msg, c.err) || (msg == "") != (c.err == "") {
			t.Errorf("%s: queue %q user %s: %q, %v; want %q, %q", c.conf, c.queue, c.user, got, err, c.want, c.err)
		}
	}
}

func TestDefault(t *testing.T) {
	h := Default()
	for name, p := range map[string]interface {
		Place(queue, user string, groups []string) (string, bool, error)
	}{"capacity": h.CapacityPlacement, "fair": h.FairPlacement} {
		for _, q := range []string{"", "default", "prod"} {
			if path, created, err := p.Place(q, "ann", nil); path != "root.default" || created || err != nil {
				t.Errorf("%s: %q goes to %q, %v, %v", name, q, path, created, err)
			}
		}
	}
	if h.Capacity.MemoryOnly || h.Fair.Increment != heddle.Of(1024, 1000) {
		t.Errorf("got %+v", h)
	}
}
