package read

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// The format of file.out.index, which Hadoop's SpillRecord writes: for each partition its start, its raw length, and its
// length in the file, which is compressed and has a checksum; at the end the CRC-32 of all that. The numbers are
// big-endian, of eight bytes each.
const (
	partBytes = 24
	sumBytes  = 8
	maxParts  = 1 << 17 // reduces of a job
	maxIndex  = maxParts*partBytes + sumBytes
)

// ParseIndex reads file.out.index and returns the size in bytes of a map's output, all partitions together, as reduces
// copy them.
func ParseIndex(data []byte) (int64, error) {
	n := (len(data) - sumBytes) / partBytes
	if len(data) < partBytes+sumBytes || (len(data)-sumBytes)%partBytes != 0 {
		return 0, fmt.Errorf("file.out.index has %d bytes; want %d for each partition and %d more",
			len(data), partBytes, sumBytes)
	}
	if n > maxParts {
		return 0, fmt.Errorf("file.out.index has %d partitions; at most %d are read", n, maxParts)
	}
	body := data[:n*partBytes]
	if got, want := uint64(crc32.ChecksumIEEE(body)), binary.BigEndian.Uint64(data[len(body):]); got != want {
		return 0, fmt.Errorf("file.out.index: stated CRC-32 %#x, actual %#x: the file is damaged, or being written",
			want, got)
	}
	var sum int64
	for i := range n {
		part := int64(binary.BigEndian.Uint64(body[i*partBytes+16:]))
		if part < 0 {
			return 0, fmt.Errorf("file.out.index: partition %d has %d bytes; want 0 or more", i, part)
		}
		if sum > math.MaxInt64-part {
			return 0, errors.New("file.out.index: the partitions together are larger than a file can be")
		}
		sum += part
	}
	return sum, nil
}
