package workload

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"heddle"
	"heddle/internal/mapred"
)

// A jobConf holds the properties of interest from a job's configuration; nil if there is none.
type jobConf map[string]string

var confKeys = []string{
	"mapreduce.map.memory.mb", "mapreduce.map.cpu.vcores", "mapreduce.reduce.memory.mb", "mapreduce.reduce.cpu.vcores",
	"yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores",
	"mapreduce.job.reduce.slowstart.completedmaps", "mapreduce.job.priority",
	"mapreduce.map.java.opts", "mapreduce.reduce.java.opts", childOpts, heapRatio,
}

const (
	childOpts = "mapred.child.java.opts"
	heapRatio = "mapreduce.job.heap.memory-mb.ratio"
)

// confEndings are what may follow _conf.xml in a name. The first file that exists is read.
var confEndings = []string{"", ".gz", ".zst", ".zstd"}

// jobConf reads the _conf.xml next to a history file, plain or compressed; its absence is not a defect.
func (im *importer) jobConf(path string) (jobConf, error) {
	i := slices.IndexFunc(confEndings, func(ending string) bool {
		_, err := os.Stat(path + ending)
		return !errors.Is(err, fs.ErrNotExist)
	})
	if i < 0 {
		return nil, nil
	}
	path += confEndings[i]
	r, err := im.open(path)
	if err != nil {
		im.file = path
		return nil, im.defect(0, faultf("", "cannot be opened: %v", errors.Unwrap(err)))
	}
	defer r.Close()
	c := jobConf{}
	for _, key := range confKeys {
		c[key] = ""
	}
	d := xml.NewDecoder(io.LimitReader(r, MaxLineBytes))
	var name, value, into string
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			im.file = path
			line, _ := d.InputPos()
			return nil, im.defect(line, faultf("", "is not XML: %v", err))
		}
		switch t := token.(type) {
		case xml.StartElement:
			if into = t.Name.Local; into == "property" {
				name, value = "", ""
			}
		case xml.CharData:
			switch into {
			case "name":
				name += strings.TrimSpace(string(t))
			case "value":
				value += strings.TrimSpace(string(t))
			}
		case xml.EndElement:
			if _, read := c[name]; read && t.Name.Local == "property" {
				c[name] = value
			}
			into = ""
		}
	}
}

// apply gives a job the sizes and settings of its configuration.
func (c jobConf) apply(im *importer, j *Job) {
	if c == nil {
		im.fill("container", "no _conf.xml beside the history", ownContainer)
		return
	}
	c.ofHeap("mapreduce.map.memory.mb", "mapreduce.map.java.opts")
	c.ofHeap("mapreduce.reduce.memory.mb", "mapreduce.reduce.java.opts")
	c.sizeTasks(im, j.Maps, "mapreduce.map.memory.mb", "mapreduce.map.cpu.vcores")
	c.sizeTasks(im, j.Reduces, "mapreduce.reduce.memory.mb", "mapreduce.reduce.cpu.vcores")
	j.Master = c.size(im, "yarn.app.mapreduce.am.resource.mb", "yarn.app.mapreduce.am.resource.cpu-vcores")
	if f, bad := decimal("", []byte(c["mapreduce.job.reduce.slowstart.completedmaps"]), 1); bad == nil {
		j.SlowStart = f
	}
	if j.Priority == 0 {
		j.Priority = jobPriority(c["mapreduce.job.priority"])
	}
}

// ofHeap sets an amount of memory that is not stated, as MapReduce does: from the heap in the options of the processes,
// which is a fraction of that memory.
func (c jobConf) ofHeap(memory, options string) {
	if n, err := strconv.ParseInt(c[memory], 10, 64); err == nil && n > 0 {
		return
	}
	digits, unit := mapred.Heap(cmp.Or(c[options], c[childOpts]))
	heap, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return
	}
	switch unit {
	case "g":
		heap = min(heap, MaxMemory) << 10
	case "k":
		heap >>= 10
	case "":
		heap >>= 20
	}
	part := 0.8
	if f, bad := decimal("", []byte(c[heapRatio]), 1); bad == nil && f > 0 {
		part = f
	}
	c[memory] = strconv.FormatInt(int64(math.Ceil(float64(min(heap, MaxMemory))/part)), 10)
}

func (c jobConf) sizeTasks(im *importer, tasks []Task, memory, vcores string) {
	if len(tasks) == 0 {
		return
	}
	size := c.size(im, memory, vcores)
	for i := range tasks {
		tasks[i].Size = size
	}
}

// size returns a container size, or zero (unknown) if the memory is not stated.
func (c jobConf) size(im *importer, memory, vcores string) heddle.Resource {
	mib, err := strconv.ParseInt(c[memory], 10, 64)
	if err != nil || mib <= 0 || mib > MaxMemory {
		im.fill("container", memory+" is "+notStated, ownContainer)
		return heddle.Resource{}
	}
	cores, err := strconv.ParseInt(c[vcores], 10, 64)
	if err != nil || cores <= 0 || cores > MaxVcores {
		cores = 1
		im.fill("vcores", vcores+" is "+notStated+": MapReduce's default", "1")
	}
	return heddle.Of(mib, cores*1000)
}
