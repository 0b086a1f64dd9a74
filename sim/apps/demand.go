package apps

import (
	"heddle"
	"heddle/workload"
)

// Demand returns what a job's master will ask for at once for its tasks, as far as heddle rm knows it when the job is
// submitted: for Spark with dynamic allocation, the initial executors; for anything but MapReduce and Spark, nothing.
func Demand(j *workload.Job) heddle.Demand {
	if s := j.Spark; s != nil {
		return sparkDemand(s)
	}
	c := Config{}.filled()
	var most heddle.Demand
	for _, d := range [...]heddle.Demand{
		{Containers: int32(len(j.Maps)), Each: firstSize(j.Maps, c.MapSize)},
		{Containers: int32(len(j.Reduces)), Each: firstSize(j.Reduces, c.ReduceSize)},
	} {
		if d.Total()[heddle.Memory] > most.Total()[heddle.Memory] {
			most = d
		}
	}
	return most
}

func sparkDemand(s *workload.SparkJob) heddle.Demand {
	d := heddle.Demand{Containers: int32(s.Executors), Each: s.ExecutorSize()}
	switch {
	case s.Dynamic != nil:
		if d.Containers = int32(max(s.Dynamic.Min, s.Dynamic.Initial)); d.Containers == 0 {
			return heddle.Demand{}
		}
	case d.Containers <= 0:
		d.Containers = sparkExecutors
	}
	return d
}
