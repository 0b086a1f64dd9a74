package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

// apart is the least time between two submissions, in milliseconds: application N is job N only if nothing can change
// their order.
const apart = 100

// readTrace reads a trace of the load simulator. It returns the number of jobs, and the trace in the form that the
// simulator reads: with every value a string, and jobs in order of submission.
func readTrace(file string) (jobs int, trace []byte, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, nil, err
	}
	var out bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	write := json.NewEncoder(&out)
	for before := int64(-apart); ; jobs++ {
		var job map[string]any
		if err := d.Decode(&job); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, nil, fmt.Errorf("%s, job %d: %w", file, jobs+1, err)
		}
		start, err := strconv.ParseInt(fmt.Sprint(job["job.start.ms"]), 10, 64)
		if err != nil || start-before < apart {
			return 0, nil, fmt.Errorf("%s, job %d: job.start.ms is %v, want at least %d ms after the job before", file, jobs+1, job["job.start.ms"], apart)
		}
		if n, more := job["job.count"]; more && fmt.Sprint(n) != "1" {
			return 0, nil, fmt.Errorf("%s, job %d: job.count is %v, want none: jobs are told apart by the order in which they come", file, jobs+1, n)
		}
		before = start
		if err := write.Encode(asStrings(job)); err != nil {
			return 0, nil, err
		}
	}
	if jobs == 0 {
		return 0, nil, fmt.Errorf("%s has no jobs", file)
	}
	return jobs, out.Bytes(), nil
}

// asStrings returns a JSON value in which everything except lists and objects is a string.
func asStrings(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = asStrings(v[k])
		}
		return v
	case []any:
		for i := range v {
			v[i] = asStrings(v[i])
		}
		return v
	case nil:
		return nil
	default:
		return fmt.Sprint(v)
	}
}
