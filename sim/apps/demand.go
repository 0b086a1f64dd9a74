package apps

import (
	"heddle"
	"heddle/workload"
)

// Demand is what a job's master will ask for at once for its tasks, as far as that is known when the job is submitted. Of
// Spark with dynamic allocation it is what the largest stage can use, within the limits of the allocation.
func Demand(j *workload.Job) heddle.Demand {
	if s := j.Spark; s != nil {
		return sparkDemand(s)
	}
	c := Config{}.filled()
	var most heddle.Demand
	for _, d := range [...]heddle.Demand{
		{Containers: int32(len(j.Maps)), Each: firstSize(j.Maps, c.MapSize)},
		{Containers: int32(len(j.Reduces)), Each: firstSize(j.Reduces, c.ReduceSize)},
		{Containers: int32(len(j.Other)), Each: firstSize(j.Other, c.MapSize)},
	} {
		if d.Total()[heddle.Memory] > most.Total()[heddle.Memory] {
			most = d
		}
	}
	return most
}

func sparkDemand(s *workload.SparkJob) heddle.Demand {
	d := heddle.Demand{Containers: int32(s.Executors), Each: s.ExecutorSize()}
	if d.Containers <= 0 {
		d.Containers = sparkExecutors
	}
	if s.Dynamic != nil {
		slots, largest := s.Slots(), 0
		for i := range s.Stages {
			largest = max(largest, len(s.Stages[i].Tasks))
		}
		d.Containers = int32(max(s.Dynamic.Min, s.Dynamic.Initial, min(s.Dynamic.Max, (largest+slots-1)/slots)))
	}
	return d
}
