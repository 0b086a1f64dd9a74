package hostile_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"heddle/daemon/clients"
	"heddle/rm"
	"heddle/test/hollow"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/rpc"
	"heddle/yarn/wire"
)

// These attacks do nothing unless a submission of 4 MiB is accepted.
const (
	piled  = "submissions of 4 MiB by made-up users"
	raised = "a flood of changes of a submission of 4 MiB"
	killed = "submissions of 4 MiB, each killed at once"
)

// eve is the address of an attacker that has a single one.
const eve = "127.0.0.66"

// An attack goes on until its context ends, and returns its result.
type attack struct {
	name string
	run  func(ctx context.Context, at *target) tally
}

// attacks returns what a hostile client does to each port, in some cases from many addresses.
func attacks() []attack {
	return []attack{
		{"15 MiB frames to nobody", nobody},
		{"256 lists, read", func(ctx context.Context, at *target) tally { return lists(ctx, at, true) }},
		{"256 lists, never read", func(ctx context.Context, at *target) tally { return lists(ctx, at, false) }},
		{"lists by long filters", func(ctx context.Context, at *target) tally {
			q := &wire.GetApplicationsRequest{Queues: slices.Repeat([]string{"root"}, 500)}
			for i := range 500 {
				q.ApplicationTags = append(q.ApplicationTags, fmt.Sprint(strings.Repeat("x", 90), i))
			}
			return flood(ctx, at.Client, clientProtocol, "getApplications", q, 16)
		}},
		{"lists by filters that are too long", func(ctx context.Context, at *target) tally {
			q := &wire.GetApplicationsRequest{Queues: slices.Repeat([]string{"root"}, 20_000)}
			return flood(ctx, at.Client, clientProtocol, "getApplications", q, 16)
		}},
		{"submissions of empty messages", func(ctx context.Context, at *target) tally { return bombs(ctx, at, emptyMessages(15<<20)) }},
		{"submissions of as many as are taken", func(ctx context.Context, at *target) tally { return bombs(ctx, at, emptyMessages(rm.MaxContext)) }},
		{"submissions of unknown fields", func(ctx context.Context, at *target) tally {
			return bombs(ctx, at, bytes.Repeat([]byte{0xf8, 0x7f, 0}, 5<<20))
		}},
		{"nested messages", func(ctx context.Context, at *target) tally { return bombs(ctx, at, nested(15<<20)) }},
		{"made-up NodeManagers", func(ctx context.Context, at *target) tally { return squat(ctx, at, eve) }},
		{"made-up NodeManagers from 20 addresses", func(ctx context.Context, at *target) tally {
			return together(20, func(i int) tally { return squat(ctx, at, fmt.Sprintf("127.2.0.%d", 1+i)) })
		}},
		{"300 idle connections to each port", func(ctx context.Context, at *target) tally { return idle(ctx, at, "127.0.0.1", 300, nil) }},
		{"half-open connections to each port", func(ctx context.Context, at *target) tally { return idle(ctx, at, "127.0.0.1", 300, []byte("hrp")) }},
		{"a byte a second to each port", slowly},
		{"huge frames announced", func(ctx context.Context, at *target) tally {
			return idle(ctx, at, eve, 100, append(hello("eve", clientProtocol), 0, 0xff, 0xff, 0xff, 1))
		}},
		{"900 connections that idle after 60 KiB", func(ctx context.Context, at *target) tally {
			b := padded(call(1, clientProtocol, "getClusterMetrics", &wire.GetClusterMetricsRequest{}), 60<<10)
			return idle(ctx, at, eve, 900, append(hello("eve", clientProtocol), b...))
		}},
		{"large frames, all but the last byte", func(ctx context.Context, at *target) tally {
			return frames(ctx, at, call(1, clientProtocol, "submitApplication", submission(emptyMessages(rm.MaxContext))))
		}},
		{"large frames with little in them", func(ctx context.Context, at *target) tally {
			return frames(ctx, at, padded(call(1, clientProtocol, "submitApplication", submission(nil)), 15<<20))
		}},
		{"allocate with a million rows", rows},
		{"slow requests over HTTP", slowHTTP},
		{"lists over HTTP, read", func(ctx context.Context, at *target) tally { return listsHTTP(ctx, at, true) }},
		{"lists over HTTP, never read", func(ctx context.Context, at *target) tally { return listsHTTP(ctx, at, false) }},
		{"a flood of changes by one user", changes},
		{raised, raise},
		{killed, submitAndKill}, // before the next, after which little more is accepted
		{piled, pile},
		{"a flood of changes by 400 made-up users", func(ctx context.Context, at *target) tally {
			q := &wire.KillApplicationRequest{ApplicationId: &wire.ApplicationId{Id: new(int32(1)), ClusterTimestamp: new(int64(1))}}
			return together(400, func(i int) tally {
				return floodAs(ctx, fmt.Sprint("eve", i), at.Client, clientProtocol, "forceKillApplication", q, 64)
			})
		}},
		{"a flood of calls", func(ctx context.Context, at *target) tally {
			return flood(ctx, at.Client, clientProtocol, "getClusterMetrics", &wire.GetClusterMetricsRequest{}, 64)
		}},
		{"a flood of calls of no method", func(ctx context.Context, at *target) tally {
			return flood(ctx, at.Client, clientProtocol, "none", &wire.GetClusterMetricsRequest{}, 64)
		}},
		{"a flood of calls to administrators", func(ctx context.Context, at *target) tally {
			return flood(ctx, at.Admin, clients.AdminName, "refreshNodes", &wire.RefreshNodesRequest{}, 64)
		}},
		{"a flood of reports of made-up nodes", func(ctx context.Context, at *target) tally {
			return flood(ctx, at.Tracker, trackerProtocol, "nodeHeartbeat", report(nil), 64)
		}},
		{"a flood of reports of registered nodes", func(ctx context.Context, at *target) tally {
			return together(64, func(i int) tally { return reports(ctx, at, i) })
		}},
		{"reports of 8 MiB", func(ctx context.Context, at *target) tally {
			return flood(ctx, at.Tracker, trackerProtocol, "nodeHeartbeat", report(emptyMessages(8<<20-100)), 1)
		}},
		{"a flood of masters without a token", strangers},
		{"a flood over HTTP", floodHTTP},
	}
}

// nobody measures what 16 connections with large frames cost honest callers if the ResourceManager has nothing to do
// with them: it is not to blame for what one machine does for all of them.
func nobody(ctx context.Context, _ *target) (n tally) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		n.Cut++
		return n
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}()
	b := make([]byte, 15<<20)
	return together(16, func(int) (n tally) {
		c, err := dial(ctx, eve, ln.Addr().String())
		if err != nil {
			n.Cut++
			return n
		}
		until(ctx, c)
		for _, err = c.Write(b); err == nil; _, err = c.Write(b) {
			n.Answered++
		}
		return n
	})
}

// together runs f count times concurrently.
func together(count int, f func(i int) tally) (all tally) {
	var mu sync.Mutex
	var runs sync.WaitGroup
	for i := range count {
		runs.Go(func() {
			n := f(i)
			mu.Lock()
			defer mu.Unlock()
			all.add(n)
		})
	}
	runs.Wait()
	return all
}

// each returns the addresses of all ports.
func (m *ports) each() []string {
	return []string{m.Client, m.Scheduler, m.Tracker, m.Admin, m.Web, m.Agents}
}

// open connects and says hello; its error means that the connection was refused or that ctx has ended.
func open(ctx context.Context, from, to, protocol string) (net.Conn, *bufio.Reader, error) {
	return openAs(ctx, "eve", from, to, protocol)
}

// openAs is open as a given user.
func openAs(ctx context.Context, user, from, to, protocol string) (net.Conn, *bufio.Reader, error) {
	c, err := dial(ctx, from, to)
	if err != nil {
		return nil, nil, err
	}
	until(ctx, c)
	if _, err := c.Write(hello(user, protocol)); err != nil {
		return nil, nil, err
	}
	return c, bufio.NewReader(c), nil
}

// flood calls a method on 16 connections, sending up to ahead calls before their answers.
func flood(ctx context.Context, to, protocol, method string, q proto.Message, ahead int) tally {
	return together(16, func(int) tally { return floodAs(ctx, "eve", to, protocol, method, q, ahead) })
}

// floodAs calls a method as a user on one connection, sending up to ahead calls before their answers.
func floodAs(ctx context.Context, user, to, protocol, method string, q proto.Message, ahead int) tally {
	return floodFrom(ctx, user, eve, to, protocol, method, q, ahead)
}

// floodFrom is floodAs from a given address.
func floodFrom(ctx context.Context, user, from, to, protocol, method string, q proto.Message, ahead int) (n tally) {
	b := call(1, protocol, method, q)
	for ctx.Err() == nil {
		c, r, err := openAs(ctx, user, from, to, protocol)
		if err != nil {
			n.Cut++
			pause(ctx)
			continue
		}
		for range ahead {
			if _, err := c.Write(b); err != nil {
				break
			}
		}
		for cut := n.Cut; ctx.Err() == nil && n.Cut == cut; {
			if n.read(r, 1); n.Cut == cut {
				_, _ = c.Write(b) // the next read shows whether it was sent
			}
		}
		_ = c.Close()
	}
	return n
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
}

// lists asks for all applications, 256 times at once.
func lists(ctx context.Context, at *target, read bool) tally {
	q := &wire.GetApplicationsRequest{}
	if read {
		return flood(ctx, at.Client, clientProtocol, "getApplications", q, 16)
	}
	b := bytes.Repeat(call(1, clientProtocol, "getApplications", q), 16)
	return together(16, func(int) (n tally) {
		c, _, err := open(ctx, eve, at.Client, clientProtocol)
		if err == nil {
			_, err = c.Write(b)
		}
		if err != nil {
			n.Cut++
			return n
		}
		<-ctx.Done()
		return n
	})
}

// emptyMessages returns a submission's field with as many empty messages as fit.
func emptyMessages(bytesInAll int) []byte {
	return bytes.Repeat([]byte{0x8a, 0x01, 0}, bytesInAll/3) // am_container_resource_request
}

// nested returns fields nested in each other.
func nested(bytesInAll int) []byte {
	var b []byte
	for len(b) < bytesInAll && len(b) < 30_000 {
		b = append(append([]byte{0x2a}, binary.AppendUvarint(nil, uint64(len(b)))...), b...)
	}
	return b
}

// bombs submits 16 applications at once, again and again.
func bombs(ctx context.Context, at *target, body []byte) tally {
	return flood(ctx, at.Client, clientProtocol, "submitApplication", submission(body), 1)
}

// submission returns a submission with a given body.
func submission(body []byte) *wire.SubmitApplicationRequest {
	c := &wire.ApplicationSubmissionContext{}
	c.ProtoReflect().SetUnknown(body)
	return &wire.SubmitApplicationRequest{ApplicationSubmissionContext: c}
}

// report returns a report of an unknown node, with additional content.
func report(more []byte) *wire.NodeHeartbeatRequest {
	s := &wire.NodeStatus{NodeId: &wire.NodeId{Host: new("nowhere.example"), Port: new(int32(1))}}
	s.ProtoReflect().SetUnknown(more)
	return &wire.NodeHeartbeatRequest{NodeStatus: s}
}

// reports registers a fake NodeManager, which reports again as soon as it is answered.
func reports(ctx context.Context, at *target, i int) (n tally) {
	c, r, err := open(ctx, eve, at.Tracker, trackerProtocol)
	if err != nil {
		n.Cut++
		return n
	}
	id := ids.Node{Host: fmt.Sprintf("r%d.example", i), Port: 1}
	_, err = c.Write(call(1, trackerProtocol, "registerNodeManager", hollow.Joining(id, 8, nil)))
	n.read(r, 1)
	for last := int32(0); err == nil && n.Cut == 0; last++ {
		_, err = c.Write(call(1, trackerProtocol, "nodeHeartbeat", &wire.NodeHeartbeatRequest{NodeStatus: &wire.NodeStatus{
			NodeId: conv.WireNode(id), ResponseId: &last, NodeHealthStatus: &wire.NodeHealthStatus{IsNodeHealthy: new(true)},
		}}))
		n.read(r, 1)
	}
	return n
}

// strangers say hello where only masters are admitted.
func strangers(ctx context.Context, at *target) tally {
	return together(64, func(int) (n tally) {
		for ctx.Err() == nil {
			c, r, err := open(ctx, eve, at.Scheduler, masterProtocol)
			if err != nil {
				n.Cut++
				pause(ctx)
				continue
			}
			_, _ = io.Copy(io.Discard, r)
			n.Refused++
			_ = c.Close()
		}
		return n
	})
}

// floodHTTP asks for a short answer on 64 connections.
func floodHTTP(ctx context.Context, at *target) tally {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DialContext: func(ctx context.Context, _, to string) (net.Conn, error) {
		return dial(ctx, eve, to)
	}}}
	return together(64, func(int) (n tally) {
		for ctx.Err() == nil {
			q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at.Web+"/ws/v1/cluster/info", nil)
			if err != nil {
				return n
			}
			resp, err := client.Do(q)
			if err != nil {
				n.Cut++
				pause(ctx)
				continue
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				n.Answered++
			} else {
				n.Refused++
			}
		}
		return n
	})
}

// squat registers fake NodeManagers, 25,000 in all.
func squat(ctx context.Context, at *target, from string) (n tally) {
	c, r, err := open(ctx, from, at.Tracker, trackerProtocol)
	if err != nil {
		n.Cut++
		return n
	}
	var host int
	for batch := range 25_000 / 50 {
		var b []byte
		for i := range 50 {
			host++
			b = append(b, call(int32(i), trackerProtocol, "registerNodeManager", hollow.Joining(ids.Node{Host: fmt.Sprintf("%s.h%d.example", from, host), Port: int32(1 + batch)}, 8, nil))...)
		}
		if _, err := c.Write(b); err != nil {
			n.Cut++
			return n
		}
		if n.read(r, 50); n.Cut > 0 {
			return n
		}
	}
	return n
}

// idle opens count connections to each port, sends the beginning of a message there, and nothing more.
func idle(ctx context.Context, at *target, from string, count int, text []byte) tally {
	return together(len(at.each()), func(i int) (n tally) {
		for range count {
			c, err := dial(ctx, from, at.each()[i])
			if err != nil {
				n.Cut++
				continue
			}
			until(ctx, c)
			_, _ = c.Write(text) // it may have been refused
		}
		<-ctx.Done()
		return n
	})
}

// slowly writes one byte per second to each port, on 100 connections each.
func slowly(ctx context.Context, at *target) tally {
	return together(len(at.each())*100, func(i int) (n tally) {
		text := append(hello("eve", clientProtocol), call(1, clientProtocol, "getApplications", &wire.GetApplicationsRequest{})...)
		c, err := dial(ctx, eve, at.each()[i%len(at.each())])
		if err != nil {
			n.Cut++
			return n
		}
		until(ctx, c)
		for _, b := range text {
			if _, err := c.Write([]byte{b}); err != nil {
				n.Cut++
				return n
			}
			select {
			case <-ctx.Done():
				return n
			case <-time.After(time.Second):
			}
		}
		return n
	})
}

// frames sends a frame without its last byte, on 100 connections.
func frames(ctx context.Context, at *target, b []byte) tally {
	return together(100, func(i int) (n tally) {
		c, _, err := open(ctx, eve, at.Client, clientProtocol)
		if err == nil {
			_, err = c.Write(b[:len(b)-1])
		}
		if err != nil {
			n.Cut++
			return n
		}
		<-ctx.Done()
		return n
	})
}

// rows lets a master ask for containers in a million places, again and again.
func rows(ctx context.Context, at *target) (n tally) {
	c, err := rpc.Dial(ctx, at.Scheduler, rpc.ClientOptions{Protocol: masterProtocol, Token: at.Master})
	if err != nil {
		n.Cut++
		return n
	}
	defer func() { _ = c.Close() }()
	_ = c.Call(ctx, "registerApplicationMaster", &wire.RegisterApplicationMasterRequest{}, &wire.RegisterApplicationMasterResponse{}) // it may have registered before
	var b []byte
	for i := range 1_000_000 {
		place := make([]byte, 5)
		for j := range place {
			place[j], i = 'a'+byte(i%26), i/26
		}
		row := append([]byte{0x12, byte(len(place))}, place...) // resource_name
		b = append(append(b, 0x0a, byte(len(row)+2)), append(row, 0x20, 1)...)
	}
	q := &wire.AllocateRequest{ResponseId: new(int32)}
	q.ProtoReflect().SetUnknown(b)
	for ctx.Err() == nil {
		p := &wire.AllocateResponse{}
		if err := c.Call(ctx, "allocate", q, p); err != nil {
			if over(ctx, err) {
				break
			}
			n.Refused++
			if strings.Contains(err.Error(), "closed") {
				break
			}
			continue
		}
		n.Answered++
		q.ResponseId = p.ResponseId
	}
	return n
}

// slowHTTP sends requests at one byte per second: half of them stop in their headers, half in their bodies.
func slowHTTP(ctx context.Context, at *target) tally {
	return together(400, func(i int) (n tally) {
		c, err := dial(ctx, fmt.Sprintf("127.0.0.%d", 66+i%4), at.Web)
		if err != nil {
			n.Cut++
			return n
		}
		until(ctx, c)
		text := "GET /ws/v1/cluster/apps HTTP/1.1\r\nHost: rm\r\n"
		if i%2 == 0 {
			text = "PUT /ws/v1/cluster/apps/application_1_1/state?user.name=eve HTTP/1.1\r\nHost: rm\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
		}
		_, err = io.WriteString(c, text)
		for err == nil {
			if _, err = io.WriteString(c, "x"); err == nil {
				select {
				case <-ctx.Done():
					return n
				case <-time.After(time.Second):
				}
			}
		}
		n.Cut++
		return n
	})
}

// listsHTTP asks for all applications over HTTP, 256 times at once.
func listsHTTP(ctx context.Context, at *target, read bool) tally {
	return together(256, func(i int) (n tally) {
		path := "/ws/v1/cluster/apps"
		if i%2 == 0 {
			path = "/ws/v1/heddle/apps"
		}
		for ctx.Err() == nil {
			c, err := dial(ctx, fmt.Sprintf("127.0.0.%d", 66+i%4), at.Web)
			if err != nil {
				n.Cut++
				pause(ctx)
				continue
			}
			until(ctx, c)
			_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: rm\r\nConnection: close\r\n\r\n") // the next read shows whether it was sent
			if !read {
				<-ctx.Done()
				return n
			}
			r := bufio.NewReader(c)
			line, err := r.ReadString('\n')
			switch {
			case err != nil:
				n.Cut++
			case strings.Contains(line, " 200 "):
				if _, err := io.Copy(io.Discard, r); err == nil {
					n.Answered++
				}
			default:
				n.Refused++
			}
			_ = c.Close()
		}
		return n
	})
}

// waiting makes a submission of that many bytes whose master waits for a node of its own, and then never reports.
func waiting(bytes int) func(*wire.ApplicationSubmissionContext) {
	return func(q *wire.ApplicationSubmissionContext) {
		q.Resource = hollow.Size(60)
		q.AmContainerSpec.Command = []string{strings.Repeat("x", bytes)}
	}
}

// pile submits waiting applications of the greatest allowed length, always under new names.
func pile(ctx context.Context, at *target) (n tally) {
	for i := 0; ctx.Err() == nil; i++ {
		c, err := rpc.Dial(ctx, at.Client, rpc.ClientOptions{Protocol: clientProtocol, User: fmt.Sprint("eve", i)})
		if err != nil {
			n.Cut++
			pause(ctx)
			continue
		}
		for range 8 {
			_, err := submit(ctx, c, waiting(rm.MaxContext-4096))
			switch {
			case err == nil:
				n.Answered++
			case strings.Contains(err.Error(), "memory.stored"), strings.Contains(err.Error(), "limits.stored_per_user"):
				n.Refused++
			case !over(ctx, err):
				n.Cut++
			}
		}
		_ = c.Close()
	}
	return n
}

// submitAndKill submits waiting applications of the greatest allowed length and kills each, from 8 addresses.
func submitAndKill(ctx context.Context, at *target) tally {
	return together(8, func(i int) (n tally) {
		user := fmt.Sprint("eve", i)
		names, err := rpc.Dial(ctx, at.Client, clientOptions(user))
		if err != nil {
			n.Cut++
			return n
		}
		defer func() { _ = names.Close() }()
		for ctx.Err() == nil {
			c, r, err := openAs(ctx, user, fmt.Sprintf("127.0.3.%d", i+1), at.Client, clientProtocol)
			for cut := n.Cut; err == nil && n.Cut == cut; {
				p := &wire.GetNewApplicationResponse{}
				if err = names.Call(ctx, "getNewApplication", &wire.GetNewApplicationRequest{}, p); err != nil {
					break
				}
				id := p.GetApplicationId()
				for _, b := range [][]byte{
					call(1, clientProtocol, "submitApplication", job(id, waiting(rm.MaxContext-4096))),
					call(2, clientProtocol, "forceKillApplication", &wire.KillApplicationRequest{ApplicationId: id}),
				} {
					if _, err = c.Write(b); err == nil {
						n.read(r, 1)
					}
				}
			}
			if err != nil {
				n.Cut++
				pause(ctx)
			}
			if c != nil {
				_ = c.Close()
			}
		}
		return n
	})
}

// raise changes the priority of an application of the greatest allowed length, from 20 addresses.
func raise(ctx context.Context, at *target) (n tally) {
	const mallory = "mallory" // others' submissions may be as much as their users may have
	c, err := rpc.Dial(ctx, at.Client, rpc.ClientOptions{Protocol: clientProtocol, User: mallory})
	if err != nil {
		n.Cut++
		return n
	}
	defer func() { _ = c.Close() }()
	id, err := submit(ctx, c, waiting(rm.MaxContext-4096))
	if err != nil {
		n.Refused++
		return n
	}
	return together(20, func(i int) tally {
		return floodFrom(ctx, mallory, fmt.Sprintf("127.0.2.%d", i+1), at.Client, clientProtocol, "updateApplicationPriority", &wire.UpdateApplicationPriorityRequest{
			ApplicationId: id, ApplicationPriority: &wire.Priority{Priority: new(int32(i % 2))},
		}, 64)
	})
}

// changes submits applications by one user as fast as they are accepted.
func changes(ctx context.Context, at *target) tally {
	return together(16, func(int) (n tally) {
		c, err := rpc.Dial(ctx, at.Client, rpc.ClientOptions{Protocol: clientProtocol, User: "eve"})
		if err != nil {
			n.Cut++
			return n
		}
		defer func() { _ = c.Close() }()
		for ctx.Err() == nil {
			_, err := submit(ctx, c, waiting(64<<10))
			switch {
			case err == nil:
				n.Answered++
			case !over(ctx, err):
				n.Refused++
			}
		}
		return n
	})
}
