package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"heddle/internal/testkit/hadoop"
)

// median returns the middle value, or the mean of the two middle values if their number is even.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// cell formats a median with the least and the greatest value in brackets; it is empty if there are no values.
func cell(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	digits := 1
	if median(values) < 1 {
		digits = 3
	}
	return fmt.Sprintf("%.*f (%.*f to %.*f)", digits, median(values), digits, slices.Min(values), digits, slices.Max(values))
}

func row(out io.Writer, cells ...string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }

func head(out io.Writer, cells ...string) {
	row(out, cells...)
	fmt.Fprintf(out, "|%s\n", strings.Repeat("---|", len(cells)))
}

// writeJobs writes the table of the jobs that ran alone.
func writeJobs(out io.Writer, runs int, names []string, measured map[string]series) error {
	_, err := fmt.Fprintf(out, "## Beside the stock ResourceManager\n\nProfile capacity, %d runs each, in turns; medians, least to most in brackets. Jobs: seconds from submission to end.\n\n", runs)
	head(out, "", "stock", "heddle rm", "difference")
	for _, name := range names {
		stock, ours := measured[hadoop.Stock][name], measured[hadoop.Heddle][name]
		row(out, name, cell(stock), cell(ours), fmt.Sprintf("%+.1f %%", 100*(median(ours)/median(stock)-1)))
	}
	fmt.Fprintln(out)
	return err
}
