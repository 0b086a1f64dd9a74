package exp

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// UnmarshalJSON reads a number; null is NaN.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	*n = Number(x)
	return err
}

// readSummaries reads what WriteSummaries wrote; path names it in errors.
func readSummaries(path string, r io.Reader) ([]Summary, error) {
	var list []Summary
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}
