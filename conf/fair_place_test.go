package conf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/policies/fair"
)

func TestFairPlace(t *testing.T) {
	const tree = `<queue name="a"><queue name="x"/></queue><queue name="ops"/><queue name="u_dot_v"/><queue name="hold" type="parent"/>`
	policy := func(s string) string { return "<queuePlacementPolicy>" + s + "</queuePlacementPolicy>" }
	for _, c := range []struct {
		rules, queue, user string
		groups             []string
		want, err          string // want ends in + where the queue is created
	}{
		// Without a policy: the queue that is named, else the user's.
		{"", "a.x", "ann", nil, "root.a.x", ""},
		{"", "root.a.x", "ann", nil, "root.a.x", ""},
		{"", "", "ann", nil, "root.ann+", ""},
		{"", "", "u.v", nil, "root.u_dot_v", ""},
		{"", "default", "ann", nil, "root.ann+", ""},
		{"", "root.default", "ann", nil, "root.default+", ""},
		{"", "new.deep", "ann", nil, "root.new.deep+", ""},
		{"", "a", "ann", nil, "", "root.a has queues, not applications"},
		{"", "hold", "ann", nil, "", "root.hold has queues"},
		{"", "root", "ann", nil, "", "root has queues"},
		{"", "ops.new", "ann", nil, "", "root.ops has applications, not queues"},
		{"", ".a", "ann", nil, "", "not the name of a queue"},
		{"", "a..b", "ann", nil, "", "not the path of a queue"},
		{"", strings.Repeat("a.", 200) + "a", "ann", nil, "", "deep"},

		{policy(`<rule name="specified" create="false"/><rule name="default"/>`), "new", "ann", nil, "root.default+", ""},
		{policy(`<rule name="specified" create="false"/><rule name="default" queue="ops"/>`), "", "ann", nil, "root.ops", ""},
		{policy(`<rule name="specified" create="false"/><rule name="reject"/>`), "new", "ann", nil, "", "no queue for user ann"},
		{policy(`<rule name="user" create="false"/><rule name="primaryGroup"/>`), "", "ann", []string{"staff"}, "root.staff+", ""},
		{policy(`<rule name="primaryGroup"/>`), "", "ann", nil, "", "has no groups"},
		{policy(`<rule name="secondaryGroupExistingQueue"/><rule name="default"/>`), "", "ann", []string{"staff", "ops"}, "root.ops", ""},
		{policy(`<rule name="secondaryGroupExistingQueue"/><rule name="default"/>`), "", "ann", []string{"staff"}, "root.default+", ""},
		{policy(`<rule name="nestedUserQueue"><rule name="primaryGroup" create="false"/></rule><rule name="default"/>`), "", "x", []string{"a"}, "root.a.x", ""},
		{policy(`<rule name="nestedUserQueue"><rule name="primaryGroup" create="false"/></rule><rule name="default"/>`), "", "y", []string{"a"}, "root.a.y+", ""},
		{policy(`<rule name="nestedUserQueue"><rule name="primaryGroup" create="false"/></rule><rule name="default"/>`), "", "y", []string{"ops"}, "root.default+", ""},
		{policy(`<rule name="nestedUserQueue" create="false"><rule name="default" queue="a"/></rule><rule name="default"/>`), "", "y", nil, "root.default+", ""},
		{policy(`<rule name="specified" create="false"/><rule name="default" queue="a"/>`), "", "ann", nil, "", "root.a has queues, not applications"},
		{policy(`<rule name="default" queue=".a"/>`), "", "ann", nil, "root.default+", ""},
		{policy(`<rule name="primaryGroup"><rule name="specified"/></rule><rule name="default"/>`), "hold", "y", []string{"g"}, "root.hold.g+", ""},
	} {
		_, p := fairOf(t, alloc(tree+c.rules))
		got, created, err := p.Place(c.queue, c.user, c.groups)
		if created {
			got += "+"
		}
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if got != c.want || !strings.Contains(msg, c.err) || (msg == "") != (c.err == "") {
			t.Errorf("%s: queue %q user %s: %q, %v; want %q, %q", c.rules, c.queue, c.user, got, err, c.want, c.err)
		}
	}
}

// The switches of yarn-site.xml are the rules where the allocations have none.
func TestFairPlaceSwitches(t *testing.T) {
	for site, want := range map[string]string{
		"yarn.scheduler.fair.user-as-default-queue=false":  "root.new root.default",
		"yarn.scheduler.fair.allow-undeclared-pools=false": "root.default root.default",
		"": "root.new root.ann",
	} {
		h, l := disk{yarnSite: props(site), fairFile: "<allocations/>"}.load()
		if err := l.err(); err != nil {
			t.Fatal(err)
		}
		a, _, _ := h.FairPlacement.Place("new", "ann", nil)
		b, _, _ := h.FairPlacement.Place("", "ann", nil)
		if a+" "+b != want {
			t.Errorf("%s: %s %s, want %s", site, a, b, want)
		}
	}
}

// A created queue has the defaults, and the maximum its parent has for children that are created.
func TestFairCreate(t *testing.T) {
	c, p := fairOf(t, alloc(`<queueMaxAppsDefault>7</queueMaxAppsDefault><queueMaxAMShareDefault>0.25</queueMaxAMShareDefault>
		<queueMaxResourcesDefault>25%</queueMaxResourcesDefault><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>
		<queue name="users" type="parent"><maxChildResources>2048 mb, 2 vcores</maxChildResources><maxContainerAllocation>1024 mb, 1 vcores</maxContainerAllocation></queue>
		<queue name="plain"><schedulingPolicy>fair</schedulingPolicy><queue name="q"><schedulingPolicy>fair</schedulingPolicy></queue></queue>`))
	if err := p.Create("root.users.ann.deep"); err != nil {
		t.Fatal(err)
	}
	if err := p.Create("root.users.ann.deep"); err != nil {
		t.Errorf("there already: %v", err)
	}
	quarter := fair.Amount{Set: true, Fraction: [4]float64{.25, .25, .25, .25}}
	ann := fair.QueueConfig{
		Path: "root.users.ann", Parent: 1, Weight: 1, Max: c.Queues[1].MaxChild, MaxApps: 7, MaxAMShare: 0.25,
		Policy: fair.DRF, MaxResource: of(1024, 1),
	}
	deep := ann
	deep.Path, deep.Parent, deep.Max = "root.users.ann.deep", 4, quarter
	if d := cmp.Diff([]fair.QueueConfig{ann, deep}, c.Queues[4:]); d != "" {
		t.Error(d)
	}
	for path, want := range map[string]string{
		"root.users.ann":       "has queues, not applications",
		"root.users.ann.deep.": "not the path",
		"root.plain.new":       "default policy is drf and root.plain is fair",
	} {
		if err := p.Create(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	// What was created is there, but rules that ask for configured queues do not see it.
	if path, created, err := p.Place("users.ann.deep", "x", nil); path != "root.users.ann.deep" || created || err != nil {
		t.Errorf("%s %v %v", path, created, err)
	}
	if p.configured("root.users.ann.deep") {
		t.Error("a created queue counts as configured")
	}
}

// The queues of rules default are there from the start, unless they cannot be. Those of rules default inside others hold
// queues.
func TestCreateDefaults(t *testing.T) {
	const nested = `<rule name="nestedUserQueue"%s><rule name="default"%s/></rule>`
	for rule, want := range map[string][2]string{ // the queues, and where ann's application goes
		`<rule name="default"/>`:                                              {"root root.a root.a.x root.default", "root.default"},
		`<rule name="default" queue="b.c"/>`:                                  {"root root.a root.a.x root.b root.b.c", "root.b.c"},
		`<rule name="default" queue="a"/>`:                                    {"root root.a root.a.x", ""},
		`<rule name="default" queue="a.x.y"/>`:                                {"root root.a root.a.x", ""},
		fmt.Sprintf(nested, "", ""):                                           {"root root.a root.a.x root.default", "root.default.ann"},
		fmt.Sprintf(nested, "", ` queue="a"`):                                 {"root root.a root.a.x", "root.a.ann"},
		fmt.Sprintf(nested, "", ` queue="a.x"`):                               {"root root.a root.a.x", ""},
		fmt.Sprintf(nested, ` create="false"`, "") + "<rule name='default'/>": {"root root.a root.a.x root.default", "root.default"},
	} {
		_, p := fairOf(t, alloc(`<queue name="a"><queue name="x"/></queue><queuePlacementPolicy>`+rule+`</queuePlacementPolicy>`))
		p, c := p.Clone()
		p.CreateDefaults()
		var paths []string
		for i := range c.Queues {
			paths = append(paths, c.Queues[i].Path)
		}
		at, _, err := p.Place("", "ann", nil)
		if got := [2]string{strings.Join(paths, " "), at}; got != want || (err == nil) != (at != "") {
			t.Errorf("%s: %q, %v; want %q", rule, got, err, want)
		}
	}
}

func TestNeedsGroups(t *testing.T) {
	policy := func(s string) string { return alloc("<queuePlacementPolicy>" + s + "</queuePlacementPolicy>") }
	for rules, want := range map[string]bool{
		`<rule name="specified"/><rule name="default"/>`:                                                       false,
		`<rule name="user" create="false"/><rule name="primaryGroup"/>`:                                        true,
		`<rule name="secondaryGroupExistingQueue"/><rule name="default"/>`:                                     true,
		`<rule name="nestedUserQueue"><rule name="primaryGroup" create="false"/></rule><rule name="default"/>`: true,
		`<rule name="nestedUserQueue"><rule name="default" create="true"/></rule>`:                             false,
	} {
		if _, p := fairOf(t, policy(rules)); p.NeedsGroups("", "ann") != want {
			t.Errorf("%s: want %v", rules, want)
		}
	}
	byName := policy(`<rule name="specified"/><rule name="primaryGroup"/>`)
	if _, p := fairOf(t, byName); p.NeedsGroups("a", "ann") || !p.NeedsGroups("default", "ann") {
		t.Error("an application that names its queue needs groups, or one that does not needs none")
	}
	for mapping, want := range map[string]bool{
		"u:ann:a": false, "g:ops:a": true, "u:%user:root.%primary_group": true, "u:%user:root.%secondary_group": true, "u:%user:root.%user": false,
	} {
		if _, p := capacityOf(t, two+"queue-mappings="+mapping); p.NeedsGroups("", "ann") != want {
			t.Errorf("%s: want %v", mapping, want)
		}
	}
	const override = "\nqueue-mappings-override.enable=true"
	for mapping, want := range map[string][3]bool{ // of ann without a queue and in a, and of bob without one
		"u:bob:b,g:ops:a": {true, false, false}, "g:ops:a,u:bob:b": {true, false, true}, "u:bob:b,g:ops:a" + override: {true, true, false},
		"u:bob:root.%primary_group": {false, false, true},
	} {
		_, p := capacityOf(t, two+"queue-mappings="+mapping)
		if got := [3]bool{p.NeedsGroups("default", "ann"), p.NeedsGroups("a", "ann"), p.NeedsGroups("default", "bob")}; got != want {
			t.Errorf("%s: %v, want %v", mapping, got, want)
		}
	}
}
