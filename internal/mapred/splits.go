// Package mapred reads the files that come with a MapReduce job and interprets its options. The daemon finds the files
// beside a submission; a node agent finds them on the disks of its node.
package mapred

import (
	"errors"
	"fmt"
)

// MaxSplitMeta is the most bytes of job.splitmetainfo: the master's own limit, mapreduce.job.split.metainfo.maxsize.
const MaxSplitMeta = 10_000_000

// Limits on the file that says where a job's input is.
const (
	maxSplitCount = 1 << 18 // 10 MB hold that many of the smallest
	maxSplitHosts = 64      // per split
	maxHostName   = 255     // bytes
)

// A Split is the input of one map.
type Split struct {
	Bytes int64    // from 0 up
	Hosts []string // that hold it, named as in the file system
}

const splitsHeader = "META-SPL"

// ParseSplits reads job.splitmetainfo: a header, a version, a count, and for each split its hosts, its offset in
// job.split, and its bytes. Numbers and texts are encoded as by Hadoop's Writable classes. The splits are in task
// order.
func ParseSplits(data []byte) ([]Split, error) {
	if len(data) < len(splitsHeader) || string(data[:len(splitsHeader)]) != splitsHeader {
		return nil, errors.New("job.splitmetainfo does not begin with its header")
	}
	r := &writable{rest: data[len(splitsHeader):]}
	if v := r.number(); v != 1 && r.err == nil {
		return nil, fmt.Errorf("job.splitmetainfo is of version %d; 1 is known", v)
	}
	n := r.number()
	if r.err == nil && (n < 0 || n > maxSplitCount) {
		return nil, fmt.Errorf("job.splitmetainfo has %d splits; at most %d are read", n, maxSplitCount)
	}
	names := map[string]string{} // one string for all splits on a host
	var out []Split
	for range n {
		s := Split{Hosts: r.hosts(names)}
		r.number() // its offset in job.split
		s.Bytes = max(r.number(), 0)
		if r.err != nil {
			return nil, fmt.Errorf("job.splitmetainfo: %w", r.err)
		}
		out = append(out, s)
	}
	if r.err != nil {
		return nil, fmt.Errorf("job.splitmetainfo: %w", r.err)
	}
	return out, nil
}

// A writable reads what Hadoop's Writable classes write. After the first error it returns only zero values.
type writable struct {
	rest []byte
	err  error
}

// number reads a number of variable length: one byte for −112 to 127; otherwise the first byte gives the sign and the
// number of bytes that follow, most significant first. A negative number is stored as its complement.
func (w *writable) number() int64 {
	b := w.take(1)
	if w.err != nil {
		return 0
	}
	first := int(int8(b[0]))
	if first >= -112 {
		return int64(first)
	}
	n, negative := -112-first, false
	if n > 8 {
		n, negative = n-8, true
	}
	var v uint64
	for _, c := range w.take(n) {
		v = v<<8 | uint64(c)
	}
	if w.err != nil {
		return 0
	}
	if negative {
		v = ^v
	}
	return int64(v)
}

// hosts reads the hosts of a split.
func (w *writable) hosts(names map[string]string) []string {
	n := w.number()
	if w.err == nil && (n < 0 || n > maxSplitHosts) {
		w.err = fmt.Errorf("a split on %d hosts; at most %d are read", n, maxSplitHosts)
	}
	var out []string
	for i := int64(0); i < n && w.err == nil; i++ {
		b := w.text()
		name, known := names[string(b)]
		if !known {
			name = string(b)
			names[name] = name
		}
		out = append(out, name)
	}
	return out
}

// text reads a text: its byte count and then its bytes.
func (w *writable) text() []byte {
	n := w.number()
	if w.err == nil && (n < 0 || n > maxHostName) {
		w.err = fmt.Errorf("a host's name of %d bytes", n)
	}
	return w.take(int(n))
}

// take returns the next n bytes without copying them.
func (w *writable) take(n int) []byte {
	if w.err == nil && n > len(w.rest) {
		w.err = errors.New("it ends too early")
	}
	if w.err != nil {
		return nil
	}
	b := w.rest[:n:n]
	w.rest = w.rest[n:]
	return b
}
