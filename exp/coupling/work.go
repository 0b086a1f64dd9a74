package coupling

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"heddle"
	"heddle/conf"
	"heddle/exp"
)

// speed is a core of Coupling's machines against the reference core: what the paper's 48.5 s for a
// WordCount map of 65.6 MB come to (µ = 1/48.5, Section II-B).
const speed = 0.12

// disk is the sequential rate of a 73 GB disk of the time in MB/s: 360,000 bytes a track at 10,000
// revolutions a minute (Seagate, Savvio SAS Product Manual, ST973401SS, section 4.1).
const disk = 60

// Seconds a Grep map takes there, which depends on its pattern and its input. The paper has no figures, so
// that each comes from totals of the baseline.
const (
	// Fig. 5: ten jobs of 427 maps keep 32 slots busy for about 78 minutes, 35 s a map, of which some 3 s pass
	// between a map's end and its successor's start.
	wikiMap = 32
	// Table IV: the pair with which the starvation of its 21 jobs with reduces under Fair differs least from
	// the published column: root mean square 0.73 minutes, means of five seeds; from 34 to 46 s and 16 to 32 s
	// none is nearer.
	randomMap = 38
	wordMap   = 20
)

// job is a job of the Coupling paper's tables.
type job struct {
	id            string
	at            float64 // seconds
	program       string  // Greps are wiki (Fig. 1 and 5), words (Wikipedia in the tables) and random (numbers)
	maps, reduces int
	starved       [2]float64 // minutes, under Fair and Coupling (Table IV)
	mapTime       float64    // seconds of a Grep's map; 0 = what is said above
}

// table4 is Table IV. Its times are seconds, whatever the caption says.
var table4 = []job{
	{"01", 0, "random", 148, 15, [2]float64{0, 0}, 0},
	{"02", 30, "random", 148, 15, [2]float64{0, 0}, 0},
	{"03", 150, "pi", 5, 1, [2]float64{6.1, 0}, 0},
	{"04", 170, "wordcount", 8, 1, [2]float64{4.0, 0}, 0},
	{"05", 190, "random", 8, 2, [2]float64{3.9, 0}, 0},
	{"06", 210, "random", 8, 2, [2]float64{2.8, 0}, 0},
	{"07", 230, "random", 8, 3, [2]float64{2.8, 0}, 0},
	{"08", 470, "words", 427, 15, [2]float64{0, 0.2}, 0},
	{"09", 500, "words", 427, 15, [2]float64{0, 0}, 0},
	{"10", 800, "sort", 224, 27, [2]float64{4.9, 4.5}, 0},
	{"11", 860, "random", 15, 5, [2]float64{8.3, 0.9}, 0},
	{"12", 880, "random", 8, 3, [2]float64{8.6, 0.6}, 0},
	{"13", 900, "random", 8, 2, [2]float64{8.4, 0.2}, 0},
	{"14", 1020, "sort", 64, 27, [2]float64{5.3, 3.5}, 0},
	{"15", 1140, "random", 30, 2, [2]float64{1.0, 0}, 0},
	{"16", 1440, "wordcount", 15, 1, [2]float64{0.1, 0}, 0},
	{"17", 1710, "sort", 352, 27, [2]float64{0.3, 5.0}, 0},
	{"18", 2110, "pi", 15, 1, [2]float64{0.3, 0}, 0},
	{"19", 2125, "random", 8, 3, [2]float64{0, 0}, 0},
	{"20", 2245, "sort", 64, 27, [2]float64{0.5, 1.1}, 0},
	{"21", 2365, "randomwriter", 150, 0, [2]float64{0, 0}, 0},
	{"22", 2485, "pi", 10, 1, [2]float64{0, 0}, 0},
}

// table3 is Table III.
var table3 = []job{
	{id: "01", at: 0, program: "words", maps: 427},
	{id: "02", at: 120, program: "random", maps: 15},
	{id: "03", at: 240, program: "random", maps: 23},
	{id: "04", at: 360, program: "random", maps: 45},
	{id: "05", at: 480, program: "words", maps: 427},
	{id: "06", at: 600, program: "random", maps: 15},
	{id: "07", at: 720, program: "random", maps: 23},
	{id: "08", at: 840, program: "random", maps: 30},
	{id: "09", at: 960, program: "words", maps: 427},
	{id: "10", at: 1080, program: "random", maps: 45},
}

// table2 is Table II, by the names of Fig. 12.
var table2 = []job{
	{id: "Grep", program: "random", maps: 148, reduces: 6},
	{id: "RandomWriter", program: "randomwriter", maps: 70},
	{id: "MonteCarlo", program: "pi", maps: 50, reduces: 1},
	{id: "Sort1", program: "sort", maps: 224, reduces: 12},
	{id: "Sort2", program: "sort", maps: 352, reduces: 27},
}

// work is jobs on so many nodes that hold all input once, and so many that hold none.
func work(data, bare int, jobs ...job) exp.Work {
	return func(uint64) (string, error) { return scenario(data, bare, jobs), nil }
}

// scenario writes it. Memory and vcores are more than all slots and masters need, so that slots alone
// bind: the paper's machines have 6 GB, one for each slot.
func scenario(data, bare int, jobs []job) string {
	var b strings.Builder
	b.WriteString("name: coupling\ncluster:\n  nodes:\n")
	for _, g := range []struct {
		name  string
		count int
	}{{"data", data}, {"bare", bare}} {
		if g.count > 0 {
			fmt.Fprintf(&b, "    - {name: %s, count: %d, memory: 64GiB, vcores: 64, cores: 4, disk_mb_s: %dMB/s, nic_mb_s: 1Gb/s, speed: %g}\n",
				g.name, g.count, disk, speed)
		}
	}
	b.WriteString("workload:\n  jobs:\n")
	for i := range jobs {
		b.WriteString("    - {" + jobs[i].yaml() + "}\n")
	}
	return b.String()
}

// yaml is the job as a scenario has it.
func (j *job) yaml() string {
	const size = "{memory: 1GiB, vcores: 1}"
	s := fmt.Sprintf("id: '%s', submit: %gs, maps: %d, reduces: %d, map: %s, reduce: %s, master: %s, output_replicas: 1",
		j.id, j.at, j.maps, j.reduces, size, size, size)
	read := ", data: {on: [data], replicas: 1}"
	block := fmt.Sprintf(", input: %gGB", input(j.program, j.maps))
	switch j.program {
	case "wiki", "words": // distinct words of a split, as the simulator derives them for WordCount
		return s + fmt.Sprintf(", program: grep, map_time: %gs, shuffle: 0.016", mapTime(j.seconds())) + block + read
	case "random": // distinct runs of digits: see the experiments' method
		return s + fmt.Sprintf(", program: grep, map_time: %gs, shuffle: 0.04", mapTime(j.seconds())) + block + read
	case "wordcount":
		if j.maps == 427 {
			return s + ", program: wordcount" + block + read
		}
		return s + ", program: wordcount, shuffle: 1.5" + block + read // every number is a word of its own
	case "randomwriter": // a gigabyte a map is its default
		return s + fmt.Sprintf(", program: randomwriter, output: %dGiB", j.maps)
	}
	if j.program == "pi" {
		return s + ", program: pi"
	}
	return s + ", program: " + j.program + block + read
}

// seconds is what one of a Grep's maps takes.
func (j *job) seconds() float64 {
	if j.mapTime > 0 {
		return j.mapTime
	}
	return map[string]float64{"wiki": wikiMap, "words": wordMap, "random": randomMap}[j.program]
}

// timed is Table IV with other map times of its Greps.
func timed(words, random float64) []job {
	jobs := slices.Clone(table4)
	for i := range jobs {
		jobs[i].mapTime = map[string]float64{"words": words, "random": random}[jobs[i].program]
	}
	return jobs
}

// input is how many GB the paper's file has that gives so many maps.
func input(program string, maps int) float64 {
	if program == "sort" {
		return map[int]float64{64: 4.3, 224: 15, 352: 29}[maps]
	}
	return map[int]float64{8: 0.5, 15: 1, 23: 1.5, 30: 2, 45: 3, 148: 10, 427: 28}[maps]
}

// mapTime is what a scenario states for a map that takes so many seconds on the paper's machines, two of
// them to start: its duration on the reference core.
func mapTime(seconds float64) float64 {
	const start = 2
	return start + math.Round((seconds-start)*speed*1000)/1000
}

// batches is Fig. 16's 200 jobs: ten batches of twenty whose first jobs come 20 minutes apart on average,
// with 25 s between two jobs of a batch on average; three quarters Grep, and so on. What a job is, of those
// of its program in Table IV, the seed decides.
func batches(seed uint64) (string, error) {
	rng := rand.New(rand.NewPCG(seed, 5))
	var programs []string
	for _, p := range []struct {
		name string
		jobs int
	}{{"grep", 147}, {"wordcount", 18}, {"pi", 14}, {"sort", 21}} {
		for range p.jobs {
			programs = append(programs, p.name)
		}
	}
	rng.Shuffle(len(programs), func(i, k int) { programs[i], programs[k] = programs[k], programs[i] })
	first, at := 0.0, 0.0
	var jobs []job
	for i, p := range programs {
		switch {
		case i > 0 && i%20 == 0:
			first += rng.ExpFloat64() * 20 * 60
			at = first
		case i > 0:
			at += rng.ExpFloat64() * 25
		}
		var like []job
		for _, j := range table4 {
			if j.program == p || p == "grep" && (j.program == "words" || j.program == "random") {
				like = append(like, j)
			}
		}
		j := like[rng.IntN(len(like))]
		j.id, j.at = fmt.Sprintf("%03d", i+1), math.Round(at*1000)/1000
		jobs = append(jobs, j)
	}
	return scenario(62, 0, jobs), nil
}

// heartbeat is the least time between two heartbeats of a node in Hadoop 0.20: MRConstants.
const heartbeat = 3 * heddle.Second

// reporting is Hadoop whose nodes report so often.
func reporting(every heddle.Span) func() *conf.Hadoop {
	return func() *conf.Hadoop {
		h := conf.Default()
		h.Site.NodeHeartbeat = every
		return h
	}
}
