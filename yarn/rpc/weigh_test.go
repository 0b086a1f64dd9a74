package rpc

import (
	"bytes"
	"context"
	"net"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"heddle/internal/budget"
	"heddle/yarn/wire"
)

// takes returns a method that accepts one kind of request and returns answer.
func takes[Req proto.Message](answer *wire.GetApplicationsResponse) Method {
	return Serve(func(context.Context, *Call, Req) (*wire.GetApplicationsResponse, error) { return answer, nil })
}

// live returns how many bytes are in use.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A decoded request takes no more memory than was computed for it, whatever it consists of.
func TestWeigh(t *testing.T) {
	const size = 64 << 10
	field := func(b ...byte) []byte { return bytes.Repeat(b, size/len(b)) }
	in := func(tag byte, body []byte) []byte {
		c := &wire.SubmitApplicationRequest{ApplicationSubmissionContext: &wire.ApplicationSubmissionContext{}}
		c.ApplicationSubmissionContext.ProtoReflect().SetUnknown(body)
		b, err := proto.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		b[0] = tag
		return b
	}
	beat, err := proto.Marshal(heartbeat())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of   Method
		body []byte
	}{
		"empty messages":     {takes[*wire.SubmitApplicationRequest](nil), in(0x0a, field(0x8a, 1, 0))},
		"empty resources":    {takes[*wire.SubmitApplicationRequest](nil), in(0x0a, append([]byte{0x2a, 0x80, 0xf0, 3}, field(0x0a, 0)[:0xf800]...))},
		"unknown fields":     {takes[*wire.SubmitApplicationRequest](nil), in(0x0a, field(0xf8, 0x7f, 0))},
		"empty texts":        {takes[*wire.SubmitApplicationRequest](nil), in(0x0a, field(0x62, 0))},
		"a field many times": {takes[*wire.SubmitApplicationRequest](nil), in(0x0a, field(0x4a, 0))},
		"one long text":      {takes[*wire.KillApplicationRequest](nil), append([]byte{0x12, 0x80, 0x80, 4}, make([]byte, size)...)},
		"packed numbers":     {takes[*wire.GetApplicationsRequest](nil), append([]byte{0x12, 0x80, 0x80, 4}, make([]byte, size)...)},
		"single numbers":     {takes[*wire.GetApplicationsRequest](nil), field(0x10, 0)},
		"rows":               {takes[*wire.AllocateRequest](nil), field(0x0a, 0)},
		"rows of something":  {takes[*wire.AllocateRequest](nil), field(0x0a, 4, 0x0a, 0, 0x1a, 0)},
		"a short one":        {takes[*wire.AllocateRequest](nil), field(0x0a, 0)[:shortRequest]},
		"a report":           {takes[*wire.NodeHeartbeatRequest](nil), beat},
		"many reports":       {takes[*wire.NodeHeartbeatRequest](nil), bytes.Repeat(beat, 100)},
	} {
		t.Run(name, func(t *testing.T) {
			m := newServed("method", c.of.Within(0, size+1), shapes{})
			cost, err := m.weigh(c.body)
			if err != nil {
				t.Fatal(err)
			}
			const many = 16
			var all [many]proto.Message
			before := live()
			for i := range all {
				if all[i], err = m.decode(c.body); err != nil {
					t.Fatal(err)
				}
			}
			got := (live() - before) / many
			runtime.KeepAlive(all)
			t.Logf("%d bytes become %d, taken for %d", len(c.body), got, cost)
			if got > cost {
				t.Errorf("%d bytes become %d, and were taken for %d", len(c.body), got, cost)
			}
		})
	}
}

// A request above the limits is refused before it is decoded, with an error that names the method, the field and the
// limit.
func TestTooMuch(t *testing.T) {
	decoded := false
	small := takes[*wire.AllocateRequest](&wire.GetApplicationsResponse{}).Within(40_000, 100)
	decode := small.decode
	small.decode = func(b []byte) (proto.Message, error) { decoded = true; return decode(b) }
	s, addr := startServer(t, Options{Protocols: []Protocol{{clientPB, map[string]Method{"allocate": small}}}})
	p := connect(t, addr)
	p.send(hexSimpleHeader + hexSimpleContext)
	rows := func(n int) *wire.AllocateRequest {
		q := &wire.AllocateRequest{}
		q.ProtoReflect().SetUnknown(bytes.Repeat([]byte{0x0a, 4, 0x0a, 0, 0x1a, 0}, n))
		return q
	}
	for _, c := range []struct {
		q     *wire.AllocateRequest
		wants []string
	}{
		{rows(101), []string{"allocate", "100", "ask"}},
		{&wire.AllocateRequest{TrackingUrl: new(strings.Repeat("x", 40_000))}, []string{"allocate", "40000", "40004"}},
	} {
		p.send(hexMethod(1, "allocate", c.q))
		h, _ := p.answer()
		for _, want := range c.wants {
			if h.GetStatus() != wire.RpcStatus_ERROR || !strings.Contains(h.GetErrorMsg(), want) {
				t.Errorf("nothing of %s: %v", want, h)
			}
		}
	}
	if decoded || s.Stats().Refused["message"] != 2 {
		t.Errorf("decoded: %v; %+v", decoded, s.Stats())
	}
	p.send(hexMethod(2, "allocate", rows(100)))
	if h, _ := p.answer(); h.GetStatus() != wire.RpcStatus_SUCCESS {
		t.Errorf("what is within the limits: %v", h)
	}
}

// A large answer is sent in pieces, none much larger than its largest text, and arrives unchanged.
func TestPieces(t *testing.T) {
	long := strings.Repeat("why ", 10_000)
	answer := &wire.GetApplicationsResponse{}
	for i := range int32(100) {
		answer.Applications = append(answer.Applications, &wire.ApplicationReport{
			ApplicationId: &wire.ApplicationId{Id: new(i)}, Diagnostics: &long, ApplicationTags: []string{"a", long, "b"},
			AppResource_Usage: &wire.ApplicationResourceUsageReport{NumUsedContainers: new(i)},
		})
	}
	answer.ProtoReflect().SetUnknown([]byte{0xf8, 0x7f, 1})
	_, addr := startServer(t, Options{Protocols: []Protocol{{clientPB, map[string]Method{"list": takes[*wire.GetApplicationsRequest](answer)}}}})
	c := dial(t, addr)
	for range 2 {
		got := &wire.GetApplicationsResponse{}
		if err := c.Call(t.Context(), "list", &wire.GetApplicationsRequest{}, got); err != nil || !proto.Equal(got, answer) {
			t.Errorf("%v, with %d applications", err, len(got.GetApplications()))
		}
	}
	var most, all int
	p := pieces{write: func(b []byte) error { most, all = max(most, len(b)), all+len(b); return nil }}
	if err := p.message(answer.ProtoReflect(), proto.Size(answer)); err != nil {
		t.Fatal(err)
	}
	if all+len(p.b) != proto.Size(answer) || most > keepOutput+2*len(long)+1000 {
		t.Errorf("%d bytes of %d, the largest piece has %d", all+len(p.b), proto.Size(answer), most)
	}
}

// An answer larger than what one address may have does not keep later callers of the method out.
func TestAfterTooLong(t *testing.T) {
	answer := &wire.GetApplicationsResponse{Applications: make([]*wire.ApplicationReport, 1000)}
	for i := range answer.Applications {
		answer.Applications[i] = &wire.ApplicationReport{Diagnostics: new(strings.Repeat("x", 100))}
	}
	memory := budget.New(2<<20, 1<<20)
	_, addr := startServer(t, Options{
		Protocols: []Protocol{{clientPB, map[string]Method{"list": takes[*wire.GetApplicationsRequest](answer)}}}, Memory: memory.Account(0),
	})
	c := dial(t, addr)
	for i := range 3 {
		if err := c.Call(t.Context(), "list", &wire.GetApplicationsRequest{}, &wire.GetApplicationsResponse{}); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
}

// Answers sent alongside a large one that nobody reads wait for it, and leave after it.
func TestBesidePieces(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	o := newOutbox(near, DefaultOutput, DefaultWrite, func(int) {})
	began, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- o.stream(nil, func(write func([]byte) error) error {
			close(began)
			if err := write([]byte("first ")); err != nil {
				return err
			}
			return write([]byte("second "))
		}, DefaultWrite)
	}()
	<-began
	if err := o.send(nil, []byte("third")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 18)
	for n := 0; n < len(b); {
		k, err := far.Read(b[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	if err := <-done; err != nil || string(b) != "first second third" {
		t.Errorf("%q, %v", b, err)
	}
}
