package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"heddle/policies"
	"heddle/workload"
)

// maxSeeds is the most runs that one command does of a profile.
const maxSeeds = 10_000

// simFlags are the flags of sim run and sim compare.
type simFlags struct {
	read    readFlags
	cluster clusterFlags

	load       fraction
	world      choice
	as         choice
	agent      bool
	idealAgent bool
	seeds      count
	firstSeed  uint64

	profiles, set []string
	conf          string
	oneQueue      bool

	clairvoyant bool

	output              choice
	jobs, tasks, report string
}

func newSim(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "sim",
		Short: "Simulate a workload on a cluster",
	}, newRun(a), newCompare(a))
}

// aboutWorkload is the part of the help that run and compare share.
const aboutWorkload = `WORKLOAD is a scenario (.yaml or .yml), or a trace: a SWIM sample, a job list of Hadoop's Scheduler
Load Simulator, a Rumen job trace, MapReduce history (.jhist files or a folder of them) or Spark
event logs (likewise); files may be compressed with gzip or zstd. Flags override what a scenario says.

P is a built-in profile, a YAML file, or one of both followed by changes, --agent, --ideal-agent or --as:
"fair --set place.map=delay", "heddle --agent", "capacity --as stock".`

func newRun(a *app) *cobra.Command {
	f := &simFlags{}
	var profile string
	cmd := &cobra.Command{
		Use:   "run [--profile P] [flags] WORKLOAD",
		Short: "Simulate a workload under one profile",
		Long:  "Simulate a workload under one profile, and print what its jobs got.\n\n" + aboutWorkload,
		Example: `  heddle sim run scenarios/demo.yaml
  heddle sim run --profile fair --conf /etc/hadoop/conf --nodes 600 --jobs jobs.csv history.tsv
  heddle sim run --world given --cluster nodes.json jobs.json`,
		Args: exactly("one WORKLOAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("profile") {
				f.profiles = []string{profile}
			}
			return a.simulate(f, args[0], 1)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&profile, "profile", "", "profile `P` (default: the scenario's, else the scheduler of --conf, else heddle)")
	must(cmd.RegisterFlagCompletionFunc("profile", completeProfile))
	f.add(cmd, 1)
	return cmd
}

func newCompare(a *app) *cobra.Command {
	f := &simFlags{}
	var more []string
	cmd := &cobra.Command{
		Use:   "compare --profiles P,P,P [flags] WORKLOAD",
		Short: "Simulate a workload under several profiles, side by side",
		Long:  "Simulate a workload under several profiles and seeds, and print what its jobs got under each.\n\n" + aboutWorkload,
		Example: `  heddle sim compare --profiles capacity,fair,heddle scenarios/demo.yaml
  heddle sim compare --profiles "fair,fair --set place.map=delay" --report fair.html history.tsv
  heddle sim compare --profiles "capacity --as stock,capacity,heddle,heddle --agent" history/
  heddle sim compare --profiles capacity,mine.yaml --nodes 100 --load 0.85 -o json history.tsv`,
		Args: exactly("one WORKLOAD"),
		RunE: func(_ *cobra.Command, args []string) error {
			f.profiles = append(f.profiles, more...)
			if len(f.profiles) == 0 {
				return usagef("sim compare needs --profiles, such as --profiles capacity,fair,heddle")
			}
			return a.simulate(f, args[0], 5)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var((*list)(&f.profiles), "profiles", "profiles to compare: the table ends with the last against the best of the others, the page shows each against the first")
	cmd.Flags().StringArrayVar(&more, "profile", nil, "another profile `P`; may be repeated")
	must(cmd.RegisterFlagCompletionFunc("profiles", completeList(policies.Names(), cobra.ShellCompDirectiveDefault)))
	must(cmd.RegisterFlagCompletionFunc("profile", completeProfile))
	f.add(cmd, 5)
	return cmd
}

// add adds the flags of both commands; seeds is the default number of seeds.
func (f *simFlags) add(cmd *cobra.Command, seeds int) {
	f.cluster.nodes.most, f.cluster.racks.most, f.seeds.most = workload.MaxNodes, workload.MaxNodes, maxSeeds
	f.world.of, f.output = []string{"full", "given"}, choice{value: "table", of: []string{"table", "json", "csv"}}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.set, "set", nil, "make `CHANGE` in every profile, such as place.map=delay; may be repeated")
	f.as = choice{value: asHeddle, of: []string{asHeddle, asStock}}
	choose(cmd, &f.as, "as", "", "the ResourceManager that is simulated: heddle rm, or a stock one that runs the profile")
	fl.BoolVar(&f.agent, agentAsIs, false, "simulate a node agent beside every NodeManager, which carries out and measures what heddle rm alone cannot")
	fl.BoolVar(&f.idealAgent, agentIdeal, false, "simulate an ideal node agent, which does everything at once, as the papers assume")
	cmd.MarkFlagsMutuallyExclusive(agentAsIs, agentIdeal)
	fl.StringVar(&f.conf, "conf", "", "Hadoop configuration folder `DIR` (default: the scenario's queues, else one queue; every resource counts)")
	fl.BoolVar(&f.oneQueue, "one-queue", false, "without --conf: run every job in the queue default, whatever queue it names")
	fl.Var(&f.cluster.nodes, "nodes", "nodes of the cluster, all alike (default: the scenario's, the hosts that the trace names, or 10)")
	fl.Var(&f.cluster.racks, "racks", "racks for these nodes (default: one for every 40 nodes)")
	fl.StringVar(&f.cluster.file, "cluster", "", "cluster of `FILE`: a scenario, or the load simulator's list of nodes (JSON)")
	fl.Var(&f.cluster.node, "node", "memory and vcores of a node, if nothing else states them (default: what --conf says, else 8192MiB,8)")
	f.read.add(cmd)
	fl.Var(&f.load, "load", "scale the time between jobs so that the work they offer is `F` of the cluster's capacity")
	choose(cmd, &f.world, "world", "", "full: durations follow from the work and the node; given: durations are those of the trace (default: given if the trace states every duration, else full)")
	fl.Var(&f.seeds, "seeds", fmt.Sprintf("runs of each profile, each with its own seed (default %d, or the scenario's)", seeds))
	fl.Uint64Var(&f.firstSeed, "first-seed", 1, "the first seed, `K`; the others follow")
	fl.BoolVar(&f.clairvoyant, "clairvoyant", false, "also simulate each job alone, for its slowdown, and each profile with an order that knows what jobs need, to estimate what ordering could reach; takes about twice as long")
	choose(cmd, &f.output, "output", "o", "output format")
	fl.StringVar(&f.jobs, "jobs", "", "write one row a job to `FILE` (CSV)")
	fl.StringVar(&f.tasks, "tasks", "", "write one row a container to `FILE` (CSV)")
	fl.StringVar(&f.report, "report", "", "write a page with plots to `FILE` (HTML)")
	must(cmd.MarkFlagDirname("conf"))
}

// manner returns how profiles that do not state it are simulated.
func (f *simFlags) manner() manner {
	m := manner{stock: f.as.value == asStock}
	switch {
	case f.agent:
		m.agent = agentAsIs
	case f.idealAgent:
		m.agent = agentIdeal
	}
	return m
}

// checkSeeds returns an error if there are fewer than n seeds from first on.
func checkSeeds(first uint64, n int) error {
	if first > math.MaxUint64-uint64(n-1) {
		return usagef("--first-seed %d: there are not %d seeds from there on", first, n)
	}
	return nil
}

// readFlags say how to read a trace.
type readFlags struct {
	format choice
	strict bool
}

func (f *readFlags) add(cmd *cobra.Command) {
	f.format = choice{of: []string{"swim", "sls", "rumen", "jhist", "spark"}, kind: "FORMAT"}
	choose(cmd, &f.format, "format", "", "of the trace: "+oneOf(f.format.of)+" (default: guessed from its content)")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "stop at the first line that cannot be read instead of skipping it")
}

func (f *readFlags) options() workload.Options {
	return workload.Options{Format: f.format.value, Strict: f.strict}
}
