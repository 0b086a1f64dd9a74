package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// An Entry is one pair of [Entries].
type Entry struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Entries is a map in YARN's form: in the given order, with values as text.
type Entries []Entry

var entriesType = reflect.TypeFor[Entries]()

// UnmarshalJSON reads every member "entry", each an object or a list of them.
func (m *Entries) UnmarshalJSON(data []byte) error {
	*m = nil
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t == nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("a map is %s; want an object", data)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		if name != "entry" {
			continue
		}
		var some List[struct {
			Key   string          `json:"key"`
			Value json.RawMessage `json:"value"`
		}]
		if err := json.Unmarshal(raw, &some); err != nil {
			return err
		}
		for _, e := range some {
			value := string(e.Value)
			if s, err := strconv.Unquote(value); err == nil {
				value = s
			}
			*m = append(*m, Entry{e.Key, value})
		}
	}
	return nil
}

// A List reads a list in any form that YARN writes: a list, its only element, or null.
type List[T any] []T

// UnmarshalJSON reads a list, a single element or null.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.Equal(data, []byte("null")):
		*l = nil
		return nil
	case data[0] == '[':
		return json.Unmarshal(data, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*l = List[T]{one}
	return nil
}

// A Number reads an integer that may be in quotes, as in [Mapped] answers.
type Number int64

// UnmarshalJSON reads an integer, with or without quotes.
func (n *Number) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseInt(string(bytes.Trim(data, `"`)), 10, 64)
	if err != nil {
		return fmt.Errorf("got %.40s; wanted a whole number", data)
	}
	*n = Number(v)
	return nil
}

// A Resource is an amount of resources, given twice: as memory and vcores, and by name.
type Resource struct {
	Memory       int64        `json:"memory"`
	VCores       int64        `json:"vCores"`
	Informations Informations `json:"resourceInformations"`
}

// Informations is a list of [Information].
type Informations struct {
	List []Information `json:"resourceInformation"`
}

// An Information is an amount of one resource, and facts about that resource.
type Information struct {
	Attributes Entries `json:"attributes"`
	Maximum    int64   `json:"maximumAllocation"`
	Minimum    int64   `json:"minimumAllocation"`
	Name       string  `json:"name"`
	Type       string  `json:"resourceType"`
	Units      string  `json:"units"`
	Value      int64   `json:"value"`
}

// An Amount is an amount of a resource other than memory and vcores.
type Amount struct {
	Name  string
	Value int64
	Units string
}

// NewResource returns memory in MiB, vcores, and further resources.
func NewResource(memory, vcores int64, extra ...Amount) Resource {
	list := make([]Information, 2, 2+len(extra))
	list[0] = Information{Maximum: math.MaxInt64, Name: "memory-mb", Type: "COUNTABLE", Units: "Mi", Value: memory}
	list[1] = Information{Maximum: math.MaxInt64, Name: "vcores", Type: "COUNTABLE", Value: vcores}
	for _, x := range extra {
		list = append(list, Information{Maximum: math.MaxInt64, Name: x.Name, Type: "COUNTABLE", Units: x.Units, Value: x.Value})
	}
	return Resource{memory, vcores, Informations{list}}
}

// Within returns the resource with the bounds of a single container.
func (r Resource) Within(minimum, maximum Resource) Resource {
	list := append([]Information(nil), r.Informations.List...)
	for i := range list {
		list[i].Minimum, list[i].Maximum = minimum.value(list[i].Name), maximum.value(list[i].Name)
	}
	r.Informations.List = list
	return r
}

func (r Resource) value(name string) int64 {
	for _, i := range r.Informations.List {
		if i.Name == name {
			return i.Value
		}
	}
	return 0
}

// A Usage is what is used in one partition. Heddle has one partition, without a name.
type Usage struct {
	Partition   string   `json:"partitionName"`
	Used        Resource `json:"used"`
	Reserved    Resource `json:"reserved"`
	Pending     Resource `json:"pending"`
	AMUsed      Resource `json:"amUsed"`
	AMLimit     Resource `json:"amLimit"`
	UserAMLimit Resource `json:"userAmLimit"`
}

// Usages is a list of [Usage].
type Usages struct {
	List []Usage `json:"resourceUsagesByPartition"`
}

// A RemoteException is an error in the form of YARN's web services, under the root "RemoteException".
type RemoteException struct {
	Exception string `json:"exception"` // the class without its package
	Message   string `json:"message"`
	Class     string `json:"javaClassName"`
}

// Error returns the message.
func (e *RemoteException) Error() string { return e.Message }
