package arch

// Table says which packages of the module each package may import; imports point only down the table. A path ending in
// /* is any folder directly below; "*" is everything. A package that is not in the table may not exist.
var Table = []Row{
	{".", nil},              // package heddle
	{"internal/plain", nil}, // library errors in plain words
	{"estimate", nil},
	{"internal/mapred", nil}, // files and options of MapReduce jobs
	{"internal/unit", nil},   // of resource types
	{"internal/near", nil},   // names that were probably meant
	{"internal/slab", nil},   // tables by number
	{"internal/histogram", nil},
	{"internal/median", nil},
	{"internal/budget", nil},
	{"cluster", []string{"."}},
	{"policy", []string{".", "cluster"}},
	{"sched", []string{".", "cluster", "policy"}},
	{"policy/policytest", []string{".", "cluster", "policy", "sched"}},
	{"policies/*", []string{".", "cluster", "policy", "estimate"}}, // never sched, never each other
	{"policies", []string{".", "policy", "policies/*", "internal/plain", "internal/near"}},
	{"workload", []string{".", "internal/mapred", "internal/plain"}},
	{"scenarios", []string{}},
	{"scenario", []string{".", "workload", "internal/plain", "internal/near"}},
	{"conf", []string{".", "policy", "policies/capacity", "policies/fair", "internal/mapred", "internal/unit"}},
	{"sim/apps", []string{".", "workload", "internal/slab"}},
	{"sim/world", []string{".", "workload"}},
	{"sim/bound", []string{"."}},
	{"sim", []string{".", "cluster", "policy", "sched", "workload", "rm", "yarn/ids", "internal/slab", "sim/apps", "sim/world", "sim/bound"}},
	{"exp", []string{".", "workload", "scenario", "policies", "policy", "conf", "sim", "sim/world", "sim/bound", "internal/near", "internal/median"}},
	{"report", []string{".", "sim", "workload", "internal/plain", "internal/median"}},
	{"exp/page", []string{".", "exp", "report", "sim"}},
	{"exp/exptest", []string{".", "exp", "policies", "scenario", "sim", "workload"}},
	{"exp/ikayak", []string{".", "conf", "exp", "policies", "policy", "scenario", "sim", "sim/world", "workload"}},
	{"exp/heddle", []string{".", "exp", "exp/adaptcont", "exp/coupling", "exp/dress", "exp/ikayak", "exp/mrorchestrator", "sim"}},
	{"exp/catalogue", []string{"exp", "exp/adaptcont", "exp/coupling", "exp/dress", "exp/heddle", "exp/ikayak", "exp/mrorchestrator", "internal/near"}},
	{"exp/profile", []string{".", "conf", "exp", "exp/catalogue", "policies", "scenario", "scenarios", "sim", "sim/world", "workload"}},
	{"exp/*", []string{".", "conf", "exp", "policy", "sim", "sim/world", "workload"}}, // one paper each, never each other; policy for mutations
	{"yarn/ids", nil}, // the wire knows nothing of scheduling
	{"yarn/wire", nil},
	{"internal/protogen", nil},
	{"yarn/conv", []string{"yarn/ids", "yarn/wire"}},
	{"yarn/token", []string{"yarn/ids", "yarn/wire", "yarn/conv"}},
	{"yarn/rpc", []string{"yarn/wire", "internal/budget"}},
	{"yarn/rest", []string{"yarn/ids", "internal/plain"}},
	{"client", []string{"rm", "yarn/*", "internal/plain"}},                                                // from rm, what it reports
	{"rm", []string{".", "cluster", "policy", "sched", "yarn/ids", "internal/slab"}},                      // daemon/setup finds policies by name and reads files
	{"rm/search", []string{".", "cluster", "conf", "policy", "policies", "policies/*", "rm", "yarn/ids"}}, // imported only by tests: no row names it
	{"yarn/translate", []string{".", "internal/unit", "rm", "yarn/ids", "yarn/wire", "yarn/conv"}},
	{"node/api", nil},
	{"node/trust", []string{"node/api", "yarn/ids"}},
	{"node/read", []string{"yarn/ids"}},
	{"node/procs", []string{"yarn/ids"}},
	{"node/groups", []string{".", "node/api", "node/procs"}},
	{"node/agent", []string{".", "node/api", "node/groups", "node/procs", "node/read", "yarn/ids"}},
	{"daemon/store", []string{"rm", "yarn/ids", "internal/histogram"}},
	{"daemon", []string{".", "rm", "yarn/*", "daemon/store", "internal/budget", "internal/histogram"}},
	{"daemon/clients", []string{".", "rm", "daemon", "yarn/*"}},
	{"daemon/proxy", nil},
	{"daemon/httpd", nil},
	{"daemon/agents", []string{".", "rm", "daemon", "internal/budget", "node/api", "node/trust", "yarn/ids"}},
	{"daemon/facts", []string{".", "conf", "policy", "rm", "daemon/proxy", "internal/mapred", "yarn/ids", "yarn/wire"}},
	{"daemon/web", []string{".", "rm", "daemon", "daemon/proxy", "internal/budget", "internal/histogram", "yarn/*"}},
	{"daemon/serve", []string{
		"rm", "daemon", "daemon/agents", "daemon/clients", "daemon/facts", "daemon/httpd", "daemon/proxy", "daemon/store",
		"daemon/web", "internal/budget", "node/trust", "yarn/*",
	}},
	{"daemon/setup", []string{".", "conf", "policies", "policies/*", "policy", "rm", "daemon", "daemon/facts", "internal/plain", "internal/near"}},
	{"cmd/heddle", []string{"*"}},
	{"internal/testkit/hadoop/testbed", []string{"internal/testkit/hadoop"}},
	{"test/hollow", []string{"yarn/conv", "yarn/ids", "yarn/rpc", "yarn/token", "yarn/wire"}},
	{"test/agents", []string{
		".", "daemon/serve", "daemon/setup", "node/agent", "node/groups", "node/procs", "policies", "policy", "test/hollow",
		"yarn/conv", "yarn/ids", "yarn/rpc", "yarn/token", "yarn/wire",
	}},
	{"test/reads", []string{"daemon/serve", "daemon/setup", "test/hollow", "yarn/conv", "yarn/ids", "yarn/wire"}},
	{"test/soak", []string{
		"daemon/store", "internal/testkit/powercut", "report", "rm", "test/hollow", "yarn/conv", "yarn/ids", "yarn/rpc", "yarn/token", "yarn/wire",
	}},
	{"test/hadoop/compare", []string{"internal/testkit/hadoop"}},
	{"test/hadoop/recordsls", []string{"internal/testkit/hadoop"}},
	{"test/hadoop/truth", []string{".", "internal/testkit/hadoop", "conf", "exp", "policies", "sim", "sim/world", "workload"}},
	{"test/vm", []string{"internal/testkit/hadoop"}},
	{"internal/testkit/*", []string{"*"}}, // imported only by tests: no row above names it
}

// A Row is one line of a [Table].
type Row struct {
	Package string
	May     []string
}

// Pure are the packages whose code is a function of its inputs alone: it uses no clock, no randomness of its own, and
// no concurrency.
var Pure = []string{".", "estimate", "cluster", "policy", "sched", "policies", "policies/*", "rm", "yarn/ids", "internal/slab"}

// Impure are the packages of the standard library that, with everything below them, may not be linked into package
// sched.
var Impure = []string{"os", "net", "sync", "syscall", "time", "log", "fmt"}

// ImpureMachine is the same list for package rm. Package strings brings in sync and io: see [OnlyBelow].
var ImpureMachine = []string{"os", "net", "syscall", "time", "log", "fmt", "context", "crypto", "math/rand"}

// Streams is the package of random streams, which policies are given: [Impurities] reports code that draws from the
// global source.
const Streams = "math/rand/v2"

// OnlyBelow are packages that the standard library may bring into package rm, but that no package of the module linked
// into rm may import.
var OnlyBelow = []string{"sync", "io"}
