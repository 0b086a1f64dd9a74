package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"heddle/internal/plain"
	"heddle/rm"
	"heddle/yarn/rest"
)

// Queues returns the queues, each after its parent, root first. For a ResourceManager other than Heddle it converts the
// scheduler's own answer; what that lacks is 0, or −1 if 0 would be wrong.
func (c *Client) Queues(ctx context.Context) ([]rm.QueueReport, error) {
	var out rm.Queues
	if err := c.own(ctx, "/queues", nil, &out); !errors.Is(err, ErrNotHeddle) {
		return out.List, err
	}
	_, queues, err := c.Scheduler(ctx)
	return queues, err
}

// Scheduler returns the type of the scheduler, capacity or fair, and its queues as reported by YARN's services.
func (c *Client) Scheduler(ctx context.Context) (kind string, queues []rm.QueueReport, err error) {
	var raw struct {
		Info json.RawMessage `json:"schedulerInfo"`
	}
	if err := c.get(ctx, rest.Base+"/scheduler", nil, "scheduler", &raw); err != nil {
		return "", nil, err
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw.Info, &head); err != nil {
		return "", nil, fmt.Errorf("%s: the scheduler's answer names no type: %s", c.URL(), plain.JSONText(err))
	}
	switch head.Type {
	case rest.CapacityType:
		var root capacityQueue
		if err := json.Unmarshal(raw.Info, &root); err != nil {
			return "", nil, fmt.Errorf("%s: the scheduler's answer: %s", c.URL(), plain.JSONText(err))
		}
		return "capacity", root.flat(nil, "", 1, 1), nil
	case rest.FairType:
		var s struct {
			Root fairQueue `json:"rootQueue"`
		}
		if err := json.Unmarshal(raw.Info, &s); err != nil {
			return "", nil, fmt.Errorf("%s: the scheduler's answer: %s", c.URL(), plain.JSONText(err))
		}
		return "fair", s.Root.flat(nil, ""), nil
	}
	return "", nil, fmt.Errorf("%s: the scheduler is of type %q; queues can be read of %s and %s", c.URL(), head.Type, rest.CapacityType, rest.FairType)
}

// A capacityQueue is what is read of a queue in the capacity scheduler's shape, for the root and all others. Other
// members differ between releases.
type capacityQueue struct {
	Type       string        `json:"type"`
	Name       string        `json:"queueName"`
	Path       string        `json:"queuePath"`
	State      rm.QueueState `json:"state"`
	Capacity   rm.Fraction   `json:"capacity"`
	Max        rm.Fraction   `json:"maxCapacity"`
	Used       rm.Fraction   `json:"usedCapacity"`
	AbsUsed    *rm.Fraction  `json:"absoluteUsedCapacity"`
	Weight     *float64      `json:"weight"`
	Containers int           `json:"allocatedContainers"`
	Booked     int           `json:"reservedContainers"`
	Waiting    int           `json:"pendingContainers"`
	Active     int           `json:"numActiveApplications"`
	Inactive   int           `json:"numPendingApplications"`
	MaxApps    *int          `json:"maxApplications"`
	UserLimit  float64       `json:"userLimit"`
	UserFactor float64       `json:"userLimitFactor"`
	Order      string        `json:"orderingPolicyInfo"`
	Fixed      *bool         `json:"preemptionDisabled"`
	Usage      usages        `json:"resources"`
	Held       *amount       `json:"resourcesUsed"`
	Capacities capByPart     `json:"capacities"`
	Users      struct {
		List rest.List[struct {
			Name     string `json:"username"`
			Used     amount `json:"resourcesUsed"`
			Masters  amount `json:"AMResourceUsed"`
			Active   int    `json:"numActiveApplications"`
			Inactive int    `json:"numPendingApplications"`
		}] `json:"user"`
	} `json:"users"`
	Below struct {
		List rest.List[capacityQueue] `json:"queue"`
	} `json:"queues"`
}

type usages struct {
	List []struct {
		Partition string `json:"partitionName"`
		Used      amount `json:"used"`
		Reserved  amount `json:"reserved"`
		Pending   amount `json:"pending"`
		Masters   amount `json:"amUsed"`
	} `json:"resourceUsagesByPartition"`
}

type capByPart struct {
	List []struct {
		Partition string      `json:"partitionName"`
		AMShare   rm.Fraction `json:"maxAMLimitPercentage"`
	} `json:"queueCapacitiesByPartition"`
}

// An amount is memory in MiB and vcores.
type amount struct {
	Memory int64 `json:"memory"`
	VCores int64 `json:"vCores"`
}

func (a amount) told() rm.Amount { return rm.Amount{MemoryMiB: a.Memory, Vcores: float64(a.VCores)} }

// plus adds b to a.
func plus(a *rm.Amount, b rm.Amount) {
	a.MemoryMiB += b.MemoryMiB
	a.Vcores += b.Vcores
}

// ofOwn returns how much of its own capacity a queue uses, −1 if it has none.
func ofOwn(q *rm.QueueReport) rm.Fraction {
	if q.Absolute <= 0 {
		return -1
	}
	return q.UsedShare / q.Absolute
}

// flat appends the queue and those below it. share and limit are its parent's parts of the cluster.
func (q *capacityQueue) flat(out []rm.QueueReport, parent string, share, limit rm.Fraction) []rm.QueueReport {
	own := rm.QueueReport{
		QueueInfo: rm.QueueInfo{
			Path: q.Path, Leaf: len(q.Below.List) == 0, State: cmp.Or(q.State, rm.QueueRunning), // the root has no state
			Capacity: q.Capacity, Max: q.Max, Weight: -1, MaxApps: -1, Order: q.Order, Configured: q.Order,
			Absolute: share * q.Capacity, AbsoluteMax: limit * q.Max, AMShare: -1,
			UserLimit: q.UserLimit, UserFactor: q.UserFactor, Preemptable: q.Fixed == nil || !*q.Fixed,
		},
		ParentPath: parent, UsedShare: share * q.Capacity * q.Used, Users: []rm.UserReport{},
		Containers: q.Containers, Reservations: q.Booked, Waiting: q.Waiting, Active: q.Active, Inactive: q.Inactive,
	}
	if own.Path == "" { // the form of releases before 3.3
		own.Path = q.Name
		if parent != "" {
			own.Path = parent + "." + q.Name
		}
	}
	if q.AbsUsed != nil {
		own.UsedShare = *q.AbsUsed
	}
	if q.Weight != nil {
		own.Weight = *q.Weight
	}
	if q.MaxApps != nil {
		own.MaxApps = *q.MaxApps
	}
	q.usage(&own)
	own.UsedOfOwn = ofOwn(&own)
	at := len(out)
	out = append(out, own)
	for i := range q.Below.List {
		from := len(out)
		out = q.Below.List[i].flat(out, own.Path, own.Absolute, own.AbsoluteMax)
		if q.Held == nil { // the root does not report its use either
			add(&out[at], &out[from])
		} else {
			out[at].Active += out[from].Active
			out[at].Inactive += out[from].Inactive
		}
	}
	return out
}

// usage fills in what is in use, in the unnamed partition.
func (q *capacityQueue) usage(own *rm.QueueReport) {
	for _, u := range q.Usage.List {
		if u.Partition == "" {
			own.Used, own.Reserved, own.Pending, own.Masters = u.Used.told(), u.Reserved.told(), u.Pending.told(), u.Masters.told()
		}
	}
	for _, c := range q.Capacities.List {
		if c.Partition == "" {
			own.AMShare = c.AMShare
		}
	}
	if q.Held != nil {
		own.Used = q.Held.told()
	}
	for _, u := range q.Users.List {
		own.Users = append(own.Users, rm.UserReport{Name: u.Name, Used: u.Used.told(), Masters: u.Masters.told(), Active: u.Active, Inactive: u.Inactive})
	}
}

// add adds what a queue holds to its parent.
func add(parent, q *rm.QueueReport) {
	plus(&parent.Used, q.Used)
	plus(&parent.Reserved, q.Reserved)
	plus(&parent.Pending, q.Pending)
	plus(&parent.Masters, q.Masters)
	parent.Containers += q.Containers
	parent.Reservations += q.Reservations
	parent.Waiting += q.Waiting
	parent.Active += q.Active
	parent.Inactive += q.Inactive
}

// A fairQueue is what is read of a queue in the fair scheduler's shape.
type fairQueue struct {
	Name       string `json:"queueName"` // the whole path
	MaxApps    int64  `json:"maxApps"`
	Max        amount `json:"maxResources"`
	Used       amount `json:"usedResources"`
	Masters    amount `json:"amUsedResources"`
	Demand     amount `json:"demandResources"`
	Fair       amount `json:"steadyFairResources"`
	Cluster    amount `json:"clusterResources"`
	Booked     amount `json:"reservedResources"`
	Containers int    `json:"allocatedContainers"`
	Reserved   int    `json:"reservedContainers"`
	Waiting    int    `json:"pendingContainers"`
	Active     int    `json:"numActiveApps"`
	Inactive   int    `json:"numPendingApps"`
	Policy     string `json:"schedulingPolicy"`
	Open       bool   `json:"preemptable"`
	Below      *struct {
		List rest.List[fairQueue] `json:"queue"`
	} `json:"childQueues"`
}

// unlimited is how the fair scheduler writes an unlimited number of applications: Java's largest int.
const unlimited = 1<<31 - 1

// flat appends the queue and those below it.
func (q *fairQueue) flat(out []rm.QueueReport, parent string) []rm.QueueReport {
	demand := q.Demand.told()
	own := rm.QueueReport{
		QueueInfo: rm.QueueInfo{
			Path: q.Name, Leaf: q.Below == nil || len(q.Below.List) == 0, State: rm.QueueRunning, Weight: -1,
			Absolute: q.Fair.of(q.Cluster), AbsoluteMax: min(q.Max.of(q.Cluster), 1), AMShare: -1, MaxApps: -1,
			Order: strings.ToLower(q.Policy), Configured: strings.ToLower(q.Policy), Preemptable: q.Open,
		},
		ParentPath: parent, UsedShare: q.Used.of(q.Cluster), Users: []rm.UserReport{},
		Used: q.Used.told(), Reserved: q.Booked.told(), Masters: q.Masters.told(),
		Pending:    rm.Amount{MemoryMiB: max(demand.MemoryMiB-q.Used.Memory, 0), Vcores: max(demand.Vcores-float64(q.Used.VCores), 0)},
		Containers: q.Containers, Reservations: q.Reserved, Waiting: q.Waiting, Active: q.Active, Inactive: q.Inactive,
	}
	own.Capacity, own.Max, own.UsedOfOwn = own.Absolute, own.AbsoluteMax, ofOwn(&own)
	if q.MaxApps < unlimited {
		own.MaxApps = int(q.MaxApps)
	}
	at := len(out)
	out = append(out, own)
	if q.Below == nil {
		return out
	}
	for i := range q.Below.List {
		from := len(out)
		out = q.Below.List[i].flat(out, own.Path)
		out[at].Active += out[from].Active
		out[at].Inactive += out[from].Inactive
	}
	return out
}

// of returns what part of a whole an amount is, in the larger dimension.
func (a amount) of(whole amount) rm.Fraction {
	share := 0.0
	if whole.Memory > 0 {
		share = float64(a.Memory) / float64(whole.Memory)
	}
	if whole.VCores > 0 {
		share = max(share, float64(a.VCores)/float64(whole.VCores))
	}
	return rm.Fraction(share)
}
