package clients

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"heddle/daemon"
	"heddle/internal/budget"
	"heddle/internal/testkit/seat"
	"heddle/rm"
	"heddle/yarn/conv"
	"heddle/yarn/ids"
	"heddle/yarn/wire"
)

// A seated is a fake whose answers have a seat at the desk, as the daemon's have.
type seated struct{ *fake }

func (f seated) Apps(ctx context.Context, filter rm.AppFilter) ([]rm.AppReport, error) {
	return seat.Taken(ctx, func() ([]rm.AppReport, error) { return f.fake.Apps(ctx, filter) })
}

func (f seated) App(ctx context.Context, id ids.App) (rm.AppReport, error) {
	return seat.Taken(ctx, func() (rm.AppReport, error) { return f.fake.App(ctx, id) })
}

func (f seated) Queues(ctx context.Context) ([]rm.QueueReport, error) {
	return seat.Taken(ctx, func() ([]rm.QueueReport, error) { return f.fake.Queues(ctx) })
}

// listing returns a list of somebody's.
func listing[Req, Resp message](s *service, f func(context.Context, daemon.Actor, Req) (Resp, error), req Req) func(context.Context, string) error {
	return func(ctx context.Context, user string) error {
		_, err := reads(s, f)(daemon.WithCaller(ctx, user), daemon.Actor{User: user}, req)
		return err
	}
}

// While a caller's groups are looked up, its list has no seat: the lists of others are answered.
func TestGroupsBeforeASeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := launched()
		a.User, a.Viewers = "ann", []rm.ACL{" ops"}
		s := newService(seated{with(a)}, Options{Readers: daemon.NewReaders(1), Access: daemon.Access{ACLs: true, Admins: "root", Groups: seat.Groups}})
		for name, list := range map[string]func(context.Context, string) error{
			"getApplications":          listing(s, s.getApplications, &wire.GetApplicationsRequest{}),
			"getApplications of queue": listing(s, s.getApplications, &wire.GetApplicationsRequest{Queues: []string{"default"}}),
			"getApplicationAttempts":   listing(s, s.getApplicationAttempts, &wire.GetApplicationAttemptsRequest{ApplicationId: conv.WireApp(anApp)}),
			"getContainers":            listing(s, s.getContainers, &wire.GetContainersRequest{ApplicationAttemptId: conv.WireAttempt(anAttempt)}),
			"getQueueInfo":             listing(s, s.getQueueInfo, &wire.GetQueueInfoRequest{QueueName: new("root"), IncludeApplications: new(true)}),
			"getQueueUserAcls":         listing(s, s.getQueueUserAcls, &wire.GetQueueUserAclsInfoRequest{}),
		} {
			desk := budget.NewDesk(budget.New(1<<20, 1<<20).Account(0), 1, time.Second)
			seat.Behind(t, name, func(user string) {
				ctx, held := desk.Answer(t.Context(), netip.Addr{}, new(budget.Expectation), true)
				defer held.Left()
				if err := list(ctx, user); err != nil {
					t.Errorf("%s as %s: %v", name, user, err)
				}
			})
		}
	})
}
