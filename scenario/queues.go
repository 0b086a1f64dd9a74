package scenario

import (
	"reflect"
	"strings"
)

// A Queue is a queue of the schedulers, with its settings under the names used in Hadoop's files.
type Queue struct {
	Name     string
	Line     int
	Settings []Setting
	Queues   []Queue
}

// A Setting is one setting of a [Queue], as written.
type Setting struct {
	Name, Value string
	Line        int
}

// queues converts the queues of a file.
func queues(from []rawQueue) ([]Queue, error) {
	var out []Queue
	for i := range from {
		r := &from[i]
		q := Queue{Name: r.Name.value, Line: r.line}
		switch {
		case q.Name == "":
			return nil, r.errorf("a queue has no name: wanted name")
		case strings.ContainsAny(q.Name, ". ,"):
			return nil, r.Name.errorf("%s: a queue's name has no dot, comma or blank; its child queues go under queues", clip(q.Name))
		}
		for _, other := range out {
			if other.Name == q.Name {
				return nil, r.Name.errorf("%s: two queues have this name", clip(q.Name))
			}
		}
		v := reflect.ValueOf(r).Elem()
		for f := range v.Type().Fields() {
			if f.Type != reflect.TypeFor[text]() || f.Name == "Name" {
				continue
			}
			if t := v.FieldByIndex(f.Index).Interface().(text); t.value != "" {
				q.Settings = append(q.Settings, Setting{f.Tag.Get("yaml"), t.value, t.line})
			}
		}
		var err error
		if q.Queues, err = queues(r.Queues); err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}
