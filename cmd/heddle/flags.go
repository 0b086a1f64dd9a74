package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle"
	"heddle/yarn/ids"
)

// flagError returns the error of a wrong flag. It replaces a library's text on the value with what would be right.
func flagError(err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if n := unknown.GetSpecifiedShortnames(); n != "" && strings.Trim(n, "0123456789") == "" {
			return usagef("there is no flag -%s; if it is a number, want one from 0", n)
		}
	}
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return usageError{err}
	}
	want, ok := map[string]string{
		"uint64": "want a whole number from 0", "bool": "want true or false", "duration": "want a time such as 500ms or 2s",
	}[bad.GetFlag().Value.Type()]
	if !ok { // one of our own types, whose text already says it
		return usageError{err}
	}
	return usagef("%s%s", strings.TrimSuffix(err.Error(), errors.Unwrap(bad).Error()), want)
}

// A choice is a flag with a few possible values.
type choice struct {
	value string
	of    []string
	kind  string // what the help calls a value; "" = lists the values
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string {
	if c.kind != "" {
		return c.kind
	}
	return strings.Join(c.of, "|")
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return fmt.Errorf("want %s", oneOf(c.of))
	}
	c.value = s
	return nil
}

// choose adds a flag with a few possible values, and completes them in shells.
func choose(cmd *cobra.Command, c *choice, name, short, usage string) {
	cmd.Flags().VarP(c, name, short, usage)
	complete(cmd, name, c.of)
}

// A count is a flag for a whole number from 1; 0 = not given.
type count struct {
	n    int
	most int
}

func (c *count) Type() string { return "N" }

func (c *count) String() string {
	if c.n == 0 {
		return "" // so that the help shows no default
	}
	return strconv.Itoa(c.n)
}

func (c *count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > c.most {
		return fmt.Errorf("want a whole number from 1 to %d", c.most)
	}
	c.n = n
	return nil
}

// An appID is a flag for an application; zero = not given.
type appID ids.App

func (a *appID) Type() string { return "ID" }

func (a *appID) String() string {
	if ids.App(*a).IsZero() {
		return "" // so that the help shows no default
	}
	return ids.App(*a).String()
}

func (a *appID) Set(s string) error {
	id, err := ids.ParseApp(s)
	*a = appID(id)
	return err
}

// A fraction is a flag for a number above 0; 0 = not given.
type fraction float64

func (f *fraction) Type() string { return "F" }

func (f *fraction) String() string {
	if *f == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*f), 'g', -1, 64)
}

func (f *fraction) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x > 0) || math.IsInf(x, 1) {
		return fmt.Errorf("want a number above 0, such as 0.85")
	}
	*f = fraction(x)
	return nil
}

// A size is a flag for the size of a node; zero = not given.
type size heddle.Resource

func (s *size) Type() string { return "SIZE" }

func (s *size) String() string {
	if *s == (size{}) {
		return ""
	}
	return show(heddle.Resource(*s))
}

func (s *size) Set(text string) error {
	r, err := parseSize(text)
	if err != nil {
		return err
	}
	*s = size(r)
	return nil
}

// A list is a flag for comma-separated values; it may be repeated.
type list []string

func (l *list) Type() string   { return "P,P,P" }
func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(s string) error {
	parts := splitList(s)
	if slices.Contains(parts, "") {
		return fmt.Errorf("a name is missing before or after a comma")
	}
	*l = append(*l, parts...)
	return nil
}

// oneOf formats values for a sentence: a, b or c.
func oneOf(values []string) string {
	if n := len(values); n > 1 {
		return strings.Join(values[:n-1], ", ") + " or " + values[n-1]
	}
	return strings.Join(values, "")
}
