package hadoop_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A record is a key and a value of a sequence file, as bytes without their lengths.
type record struct{ key, value string }

func (r record) compare(o record) int {
	return cmp.Or(strings.Compare(r.key, o.key), strings.Compare(r.value, o.value))
}

// sequenceFile reads Hadoop's file of binary records, uncompressed, with keys and values that are byte strings. After a
// head come records, with the head's sixteen-byte sync marker repeated between them at intervals.
func sequenceFile(file []byte) ([]record, error) {
	in := reader{rest: file}
	if string(in.take(4)) != "SEQ\x06" {
		return nil, errors.New("no sequence file of version 6")
	}
	for range 2 {
		if class := in.text(); class != "org.apache.hadoop.io.BytesWritable" {
			return nil, fmt.Errorf("keys or values are %q", class)
		}
	}
	if compressed := in.take(2); string(compressed) != "\x00\x00" {
		return nil, fmt.Errorf("it is compressed: % x", compressed)
	}
	for range 2 * in.int32() { // names and values of the file's metadata
		in.text()
	}
	mark := string(in.take(16))
	var records []record
	for len(in.rest) > 0 && !in.short {
		length := in.int32()
		if length == -1 {
			if string(in.take(16)) != mark {
				return nil, fmt.Errorf("no mark after record %d", len(records))
			}
			continue
		}
		key := in.int32()
		body := in.take(length)
		if in.short || key < 4 || key+4 > length {
			return nil, fmt.Errorf("record %d: key of %d bytes in %d", len(records), key, length)
		}
		// Each of them repeats its length.
		records = append(records, record{string(body[4:key]), string(body[key+4:])})
	}
	if in.short {
		return nil, fmt.Errorf("it ends within record %d", len(records))
	}
	return records, nil
}

// A reader takes pieces off the front; short is set if there was not enough.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short = true
		return make([]byte, min(max(n, 0), 16))
	}
	var piece []byte
	piece, r.rest = r.rest[:n], r.rest[n:]
	return piece
}

func (r *reader) int32() int { return int(int32(binary.BigEndian.Uint32(r.take(4)))) }

// text reads a length of one byte, as short lengths are, and that many bytes.
func (r *reader) text() string { return string(r.take(int(r.take(1)[0]))) }
