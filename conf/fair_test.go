package conf

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle"
	"heddle/policies/fair"
)

// alloc puts lines into <allocations>: line n of the text is line n+1 of the file.
func alloc(lines string) string { return "<allocations>\n" + lines + "\n</allocations>" }

// q1 puts a setting into one queue; it stands in line 2.
func q1(setting string) string { return alloc(`<queue name="a">` + setting + `</queue>`) }

func rules(s string) string {
	return alloc("<queuePlacementPolicy>\n" + s + "\n</queuePlacementPolicy>")
}

func TestFairErrors(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{"<configuration/>", ":1: configuration|must be <allocations>"},
		{"<allocations>", ":1|not well-formed"},
		{"<allocations/><allocations/>", ":1|nothing may follow"},
		{alloc("<queue/>"), ":2: queue|has no name"},
		{alloc("<queue name=' '/>"), ":2: queue|has no name"},
		{alloc("<pool name='a.b'/>"), ":2: pool|has a dot"},
		{alloc("<queue name='ROOT'/>\n<queue name='a'/>"), ":2: queue|is next to other queues"},
		{alloc("<user><maxRunningApps>1</maxRunningApps></user>"), ":2: user|has no name"},
		{alloc("<user name='a'>\n<maxRunningApps>x</maxRunningApps></user>"), ":3: maxRunningApps|not a number of applications"},
		{alloc("<queueMaxAMShareDefault>-2</queueMaxAMShareDefault>"), ":2: queueMaxAMShareDefault|neither a fraction"},
		{alloc("<defaultQueueSchedulingPolicy>FIFO</defaultQueueSchedulingPolicy>"), ":2: defaultQueueSchedulingPolicy|cannot be the default"},
		{alloc("<defaultQueueSchedulingPolicy>best</defaultQueueSchedulingPolicy>"), ":2: defaultQueueSchedulingPolicy|expected fair, drf or fifo"},
		{q1("<weight>-1</weight>"), ":2: weight|not a weight"},
		{q1("<weight>NaN</weight>"), ":2: weight|not a weight"},
		{q1("<weight/>"), ":2: weight|not a weight"},
		{q1("<maxRunningApps>99999999999</maxRunningApps>"), ":2: maxRunningApps|not a number"},
		{q1("<maxAMShare>x</maxAMShare>"), ":2: maxAMShare|neither a fraction"},
		{q1("<maxAMShare>0.2</maxAMShare><queue name='b'/>"), ":2: maxAMShare|belongs to queues without children"},
		{q1("\n<schedulingPolicy>drf</schedulingPolicy>"), ":3: schedulingPolicy|a drf queue needs a drf parent"},
		{q1("\n<schedulingPolicy>fifo</schedulingPolicy><queue name='b'/>"), ":3: schedulingPolicy|fifo orders applications only"},
		{q1("<minResources/>"), ":2: minResources|is empty"},
		{q1("<maxResources>much</maxResources>"), ":2: maxResources|not an amount of resources"},
		{q1("<maxResources>1024 mb</maxResources>"), ":2: maxResources|not an amount of resources"},
		{q1("<maxResources>1024 mb, 2 mb</maxResources>"), ":2: maxResources|lacks an amount in vcores"},
		{q1("<maxResources>x mb, 2 vcores</maxResources>"), ":2: maxResources|not a number of mb"},
		{q1("<maxResources>-1 mb, 2 vcores</maxResources>"), ":2: maxResources|not between 0"},
		{q1("<maxResources>-5%</maxResources>"), ":2: maxResources|not a percentage"},
		{q1("<maxResources>5% memory, 4 cpu</maxResources>"), ":2: maxResources|not a percentage"},
		{q1("<maxResources>5% memory, 4% disk</maxResources>"), ":2: maxResources|lacks a percentage of cpu"},
		{q1("<maxResources>gpu=1</maxResources>"), ":2: maxResources|not a resource of this cluster"},
		{q1("<maxResources>vcores=1=2</maxResources>"), ":2: maxResources|not name=value"},
		{q1("<maxResources>vcores=1k</maxResources>"), ":2: maxResources|not a whole number"},
		{q1("<maxResources>vcores=-1</maxResources>"), ":2: maxResources|not a whole number"},
		{q1("<maxResources>vcores=1%, memory-mb=5</maxResources>"), ":2: maxResources|all must be"},
		{alloc("<queue name='a' type='parent'>\n<maxAMShare>0.2</maxAMShare></queue>"), ":3: maxAMShare|belongs to queues without children"},
		{rules(""), ":2: queuePlacementPolicy|has no rule"},
		{rules("<rule/>"), ":3: rule|there is no rule \"\""},
		{rules("<rule name='Specified'/>"), ":3: rule|expected one of specified"},
		{rules("<rule name='specified'/>"), ":3: rule|may place nowhere"},
		{rules("<rule name='user' create='false'/>"), ":3: rule|may place nowhere"},
		{rules("<rule name='default'/>\n<rule name='reject'/>"), ":3: rule|never count"},
		{rules("<rule name='nestedUserQueue'/>"), ":3: rule|needs a rule inside"},
		{rules("<rule name='default'><rule name='user'/></rule>"), ":3: rule|takes no rule inside"},
		{rules("<rule name='nestedUserQueue'><rule name='user'/></rule>"), ":3: rule|the same name"},
		{rules("<rule name='user'>\n<rule name='reject'/></rule>"), ":4: rule|cannot stand inside"},
	} {
		t.Run(c.doc, func(t *testing.T) {
			_, l := disk{fairFile: c.doc}.load()
			expect(t, errorLines(l), fairFile+c.want)
		})
	}
}

func TestFairQueues(t *testing.T) {
	c, _ := fairOf(t, alloc(`<queueMaxAMShareDefault>2</queueMaxAMShareDefault>
		<queue name="root">
			<weight>2.0</weight>
			<schedulingPolicy>org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.policies.DominantResourceFairnessPolicy</schedulingPolicy>
			<queue name=" a ">
				<maxContainerAllocation>memory-mb=2048</maxContainerAllocation>
				<maxRunningApps>2147483647</maxRunningApps>
				<pool name="b"><schedulingMode>FIFO</schedulingMode><minResources>8192 mb, 4 vcores</minResources><maxResources>4096 mb, 8 vcores</maxResources></pool>
			</queue>
		</queue>`))
	unbound := heddle.Unbounded
	want := []fair.QueueConfig{
		{Path: "root", Parent: -1, Weight: 2, MaxAMShare: 1, Policy: fair.DRF},
		{Path: "root.a", Parent: 0, Weight: 1, MaxAMShare: 1, MaxResource: of(2048, 4), Own: []string{"maxRunningApps"}},
		{
			Path: "root.a.b", Parent: 1, Weight: 1, MaxAMShare: 1, Policy: fair.FIFO, MaxResource: of(2048, 4),
			Min: fair.Amount{Set: true, Fixed: of(8192, 4)},
			Max: fair.Amount{Set: true, Fixed: heddle.Resource{8192, 8000, unbound[2], unbound[3]}},
		},
	}
	if d := cmp.Diff(want, c.Queues); d != "" {
		t.Error(d)
	}
}

// A queue that stands twice is one queue.
func TestFairQueueTwice(t *testing.T) {
	h, l := disk{fairFile: alloc("<queue name='a'><weight>2</weight></queue>\n<queue name='a'><queue name='b'/></queue>")}.load()
	if err := l.err(); err != nil {
		t.Fatal(err)
	}
	if q := h.Fair.Queues; len(q) != 3 || q[1].Weight != 2 || q[2].Path != "root.a.b" || q[2].Parent != 1 {
		t.Errorf("got %+v", h.Fair.Queues)
	}
	if n := noticeOf(h, "root.a"); n.Line != 3 || n.Kind != Remark {
		t.Errorf("no word about it: %+v", h.Notices)
	}
}

func TestFairAmounts(t *testing.T) {
	un := heddle.Unbounded
	gpus := types{"gpu"}
	fixed := func(r ...int64) fair.Amount { return fair.Amount{Set: true, Fixed: heddle.Resource(r)} }
	part := func(f ...float64) fair.Amount {
		return fair.Amount{Set: true, Fraction: [heddle.NumDims]float64(f)}
	}
	for in, want := range map[string]fair.Amount{
		"1024 mb, 4 vcores":               fixed(1024, 4000, 0, un[3]),
		"4 VCORES , 1024MB":               fixed(1024, 4000, 0, un[3]),
		"1024 mb 4 vcores":                fixed(1024, 4000, 0, un[3]),
		"1024.9mb,4.5vcores":              fixed(1024, 4000, 0, un[3]),
		"vcores=10, memory-mb=1024,gpu=2": fixed(1024, 10000, 2, un[3]),
		"memory-mb=1024":                  fixed(1024, un[1], un[2], un[3]),
		"memory-mb=9223372036854775807":   fixed(un[0], un[1], un[2], un[3]),
		"50%":                             part(.5, .5, .5, .5),
		"40.0 % memory, 60.% cpu":         part(.4, .6, 0, 0),
		"60% CPU,40% Memory":              part(.4, .6, 0, 0),
		"vcores=50%, memory-mb=30%":       part(.3, .5, 1, 1),
	} {
		got, err := gpus.parseShare(in, un)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", in, got, err, want)
		}
	}
	got, err := gpus.parseShare("vcores=2", heddle.Resource{})
	if want := fixed(0, 2000, 0, 0); err != nil || got != want {
		t.Errorf("a minimum names what it names: %+v, %v", got, err)
	}
}

func TestFairNotices(t *testing.T) {
	for doc, want := range map[string]Notice{
		alloc("<queueMaxResourceDefault>5%</queueMaxResourceDefault>"):                                                                      {Kind: Unknown, Property: "queueMaxResourceDefault"},
		alloc("<defaultFairSharePreemptionTimeout>5</defaultFairSharePreemptionTimeout>"):                                                   {Kind: Unsupported, Property: "defaultFairSharePreemptionTimeout"},
		alloc("<reservation-agent>x</reservation-agent>"):                                                                                   {Kind: Unsupported, Property: "reservation-agent"},
		alloc("<user name='a'><weight>1</weight></user>"):                                                                                   {Kind: Unknown, Property: "weight"},
		q1("<aclSubmitApps>*</aclSubmitApps>"):                                                                                              {Kind: Harmless, Property: "aclSubmitApps"},
		q1("<reservation/>"):                                                                                                                {Kind: Unsupported, Property: "reservation"},
		q1("<minSharePreemptionTimeout>5</minSharePreemptionTimeout>"):                                                                      {Kind: Unsupported, Property: "minSharePreemptionTimeout"},
		q1("<wieght>2</wieght>"):                                                                                                            {Kind: Unknown, Property: "wieght"},
		q1("<minResources>5%</minResources>"):                                                                                               {Kind: Remark, Property: "minResources"},
		q1("<maxContainerAllocation>5%</maxContainerAllocation>"):                                                                           {Kind: Remark, Property: "maxContainerAllocation"},
		q1("<minResources>5 mb, 5 vcores</minResources><maxResources>4 mb, 9 vcores</maxResources>"):                                        {Kind: Remark, Property: "root.a"},
		alloc("<queue name='a' type='leaf'/>"):                                                                                              {Kind: Remark, Property: "type"},
		alloc("<queuePlacementPolicy><rule name='default' create='ja'/><rule name='reject'/></queuePlacementPolicy>"):                       {Kind: Remark, Property: "create"},
		alloc("<queuePlacementPolicy><rule name='default' queue='.a'/></queuePlacementPolicy>"):                                             {Kind: Remark, Property: "queue"},
		q1("<queue name='b'/></queue><queuePlacementPolicy><rule name='default' queue='a'/></queuePlacementPolicy><queue name='c'>"):        {Kind: Remark, Property: "rule"},
		q1("</queue><queuePlacementPolicy><rule name='default' queue='a.b'/></queuePlacementPolicy><queue name='c'>"):                       {Kind: Remark, Property: "rule"},
		alloc("<queuePlacementPolicy><role/><rule name='reject'/></queuePlacementPolicy>"):                                                  {Kind: Unknown, Property: "role"},
		alloc("<queuePlacementPolicy><rule name='user'><rule name='primaryGroup'><rule name='user'/></rule></rule></queuePlacementPolicy>"): {Kind: Remark, Property: "rule"},
	} {
		h, l := disk{fairFile: doc}.load()
		if err := l.err(); err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		if n := noticeOf(h, want.Property); n.Kind != want.Kind || n.Line != 2 || n.File != fairFile || n.Text == "" {
			t.Errorf("%s: got %v %v, want %v", doc, n.Kind, n, want.Kind)
		}
	}
}

// 0 applications are a limit, and no element none.
func TestNoApplications(t *testing.T) {
	c, _ := fairOf(t, alloc(`<userMaxAppsDefault>0</userMaxAppsDefault><user name='ann'><maxRunningApps>0</maxRunningApps></user>
		<queue name='a'><maxRunningApps>0</maxRunningApps></queue><queue name='b'/><queue name='c'><maxRunningApps>2147483647</maxRunningApps></queue>`))
	apps := map[string]int{}
	for _, q := range c.Queues {
		apps[q.Path] = q.MaxApps
	}
	if apps["root.a"] != -1 || apps["root.b"] != 0 || apps["root.c"] != 0 || c.UserMaxAppsDefault != -1 || c.UserMaxApps["ann"] != -1 {
		t.Errorf("got %v, users %d %v", apps, c.UserMaxAppsDefault, c.UserMaxApps)
	}
	c, _ = fairOf(t, alloc(`<queueMaxAppsDefault>0</queueMaxAppsDefault><queue name='b'/>`))
	if q := c.Queues[len(c.Queues)-1]; q.MaxApps != -1 {
		t.Errorf("got %+v", q)
	}
}
