package workload

import "heddle"

// Limits on what an importer accepts, so that a broken or hostile file results in a message instead of exhausting the
// machine's memory. What exceeds a limit is a [Defect].
const (
	MaxLineBytes   = 64 << 20  // of one line of text
	MaxObjectBytes = 512 << 20 // of one JSON object
	MaxTasksPerJob = 1 << 20   // maps, reduces, others and Spark tasks together
	MaxTasks       = 8 << 20   // of all jobs
	MaxJobs        = 1 << 20
	MaxStages      = 100_000 // of one Spark application
	MaxDefects     = 100_000 // kept; one more ends the reading
	MaxFiles       = 1 << 20 // in a folder
	MaxBytes       = 1 << 60 // of one input, shuffle or output
	MaxMemory      = 1 << 40 // MiB of one container
	MaxVcores      = 1 << 30 // of one container
	MaxExecutors   = 1 << 20 // of one Spark application

	// MaxSpan is the longest task, or the longest gap between the first and the last submission.
	MaxSpan = 20 * 366 * 24 * heddle.Hour

	maxMillis    = int64(9e12) // the largest time, in ms since 1970, that fits heddle.Time
	maxFillRules = 1000
)
