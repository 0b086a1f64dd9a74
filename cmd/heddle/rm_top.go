package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"heddle/client"
	"heddle/internal/plain"
)

const (
	// frameWidth is the width of a frame if no terminal states one.
	frameWidth = 160
	// leastEvery and mostEvery bound the interval at which top refreshes.
	leastEvery = 100 * time.Millisecond
	mostEvery  = time.Hour
	// askAgain is the longest that top waits after a failure.
	askAgain = 5 * time.Second
)

func newTop(a *app) *cobra.Command {
	r := &remoteFlags{}
	order := choice{value: appOrders[0].name, of: orderNames(), kind: "ORDER"}
	var once, all bool
	every := time.Second
	cmd := &cobra.Command{
		Use:   "top [flags]",
		Short: "Watch the cluster, its queues and its applications",
		Long: `Watch the cluster, its queues and its applications. Without a terminal, it prints one frame and ends,
as with --once. Keys: the arrows scroll, r reverses the order, and a letter chooses another order or quits:
` + strings.ReplaceAll(keysLine(&look{}), "  ", ", ") + `.`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			if every < leastEvery || every > mostEvery {
				return usagef("--every %v: want %v to %v", every, leastEvery, mostEvery)
			}
			return r.ask(func(ctx context.Context, c *client.Client) error {
				width, tty := terminal(a.out)
				if !tty {
					width = frameWidth
				}
				l := look{width: max(width, 1), order: order.value, colour: tty && !a.plain()}
				if once || !tty || os.Getenv("TERM") == "dumb" {
					s, err := take(ctx, c, all)
					if err != nil {
						return asked(err)
					}
					_, err = fmt.Fprintln(a.out, s.draw(&l))
					return wrote(err)
				}
				return a.watch(ctx, c, l, every, all)
			})
		},
	}
	r.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&once, "once", false, "print one frame and end")
	f.BoolVar(&all, "all", false, "show applications that have ended too")
	f.DurationVar(&every, "every", every, "refresh interval, a `DURATION` such as 500ms")
	choose(cmd, &order, "sort", "", "sort order: "+strings.Join(orderNames(), ", "))
	return cmd
}

// plain reports whether output is without colours.
func (a *app) plain() bool {
	_, set := os.LookupEnv("NO_COLOR")
	return a.noColor || set && os.Getenv("NO_COLOR") != ""
}

// take asks for everything that a frame shows.
func take(ctx context.Context, c *client.Client, all bool) (*snapshot, error) {
	cluster, err := clusterFigures(ctx, c)
	if err != nil {
		return nil, err
	}
	queues, err := c.Queues(ctx)
	if err != nil {
		return nil, err
	}
	f := client.AppFilter{States: liveStates}
	if all {
		f.States = nil
	}
	apps, err := c.Apps(ctx, f)
	if err != nil {
		return nil, err
	}
	return &snapshot{At: time.Now(), URL: c.URL(), Cluster: *cluster, Queues: queues, Apps: apps}, nil
}

// watch shows frames on the terminal until the user quits.
func (a *app) watch(ctx context.Context, c *client.Client, l look, every time.Duration, all bool) error {
	l.keys = true
	m := &topModel{look: l, every: every, take: func() (*snapshot, error) { return take(ctx, c, all) }}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithOutput(a.out)).Run()
	if err == nil || errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil
	}
	return failure{fmt.Errorf("the terminal: %w", err)}
}

// A topModel is the state of top: what it shows, changed by keys.
type topModel struct {
	look
	every time.Duration
	take  func() (*snapshot, error)
	last  *snapshot // nil before the first answer
	asked time.Time // when the pending request was sent; zero between an answer and the next request
}

// Messages to a topModel.
type (
	taken struct {
		*snapshot
		err error
	}
	again struct{}
	beat  time.Time // one second has passed
)

// Init asks for the first snapshot.
func (m *topModel) Init() tea.Cmd { return tea.Batch(m.next(), beats()) }

// beats returns the command that waits for the next second.
func beats() tea.Cmd { return tea.Tick(time.Second, func(at time.Time) tea.Msg { return beat(at) }) }

// next starts a request for a snapshot.
func (m *topModel) next() tea.Cmd {
	m.asked = time.Now()
	return m.ask
}

func (m *topModel) ask() tea.Msg {
	s, err := m.take()
	return taken{s, err}
}

// Update handles an answer, a key or a new size of the terminal.
func (m *topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case again:
		return m, m.next()
	case beat:
		if late := time.Time(msg).Sub(m.asked); !m.asked.IsZero() && late >= patience {
			m.trouble = fmt.Sprintf("no answer for %s", lasting(late.Milliseconds()))
		}
		return m, beats()
	case taken:
		m.asked = time.Time{}
		wait := m.every
		if msg.err != nil {
			wait = min(wait, askAgain)
			m.trouble = fmt.Sprintf("%v; next attempt at %s", msg.err, time.Now().Add(wait).Format(time.TimeOnly))
		} else {
			m.last, m.trouble = msg.snapshot, ""
		}
		return m, tea.Tick(wait, func(time.Time) tea.Msg { return again{} })
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	}
	return m, nil
}

func (m *topModel) key(name string) tea.Cmd {
	rows := 0
	if m.last != nil {
		rows = len(m.last.Apps)
	}
	page := max(m.height/2, 1)
	switch name {
	case "q", "esc", "ctrl+c":
		return tea.Quit
	case "r":
		m.reversed = !m.reversed
	case "up", "k":
		m.skip--
	case "down", "j":
		m.skip++
	case "pgup":
		m.skip -= page
	case "pgdown", "space":
		m.skip += page
	case "home":
		m.skip = 0
	case "end":
		m.skip = rows
	default:
		for _, o := range appOrders {
			if o.key == name {
				m.order, m.skip = o.name, 0
			}
		}
	}
	m.skip = max(min(m.skip, rows-1), 0)
	return nil
}

// View draws the last snapshot.
func (m *topModel) View() tea.View {
	text := "asking …\nq quits"
	switch {
	case m.last != nil:
		text = m.last.draw(&m.look)
	case m.trouble != "":
		text = lipgloss.Wrap(plain.Line(m.trouble), m.width, "") + "\nq quits"
	}
	v := tea.NewView(text)
	v.AltScreen = true
	v.WindowTitle = "heddle top"
	return v
}
