package groups

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"
	"github.com/opencontainers/cgroups"
)

const (
	slice    = "heddle.slice"   // the unit of systemd that holds the scopes of nodes
	unitTime = 10 * time.Second // for systemd to start a unit
)

// unit returns the name of the node's scope.
func (g *Groups) unit() string { return "heddle-containers-" + g.name + ".scope" }

// systemd reports whether systemd runs the machine.
func systemd() bool {
	info, err := os.Stat("/run/systemd/system")
	return err == nil && info.IsDir()
}

// makeScope makes systemd create the node's scope and leave its content alone. A sleeping process keeps the scope while
// no container runs, and while the agent restarts.
func (g *Groups) makeScope() error {
	if _, err := os.Stat(g.v2); err != nil {
		holder := exec.Command("sleep", "infinity")
		holder.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := holder.Start(); err != nil {
			return err
		}
		go func() { _ = holder.Wait() }() // it outlives this process
		if err := g.startScope(holder.Process.Pid); err != nil {
			_ = holder.Process.Kill()
			return fmt.Errorf("systemd did not start %s: %w", g.unit(), err)
		}
	}
	// A group with processes of its own gives no controllers to those below it. A killed agent may have left such
	// processes.
	inner := filepath.Join(g.v2, "holder")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		return err
	}
	outside, err := cgroups.GetPids(g.v2)
	for _, pid := range outside {
		err = errors.Join(err, cgroups.WriteCgroupProc(inner, pid))
	}
	return err
}

func (g *Groups) startScope(pid int) error {
	ctx, cancel := context.WithTimeout(context.Background(), unitTime)
	defer cancel()
	bus, err := dbus.NewWithContext(ctx)
	if err != nil {
		return err
	}
	defer bus.Close()
	_ = bus.ResetFailedUnitContext(ctx, g.unit()) // a failed unit would be in the way; usually there is none
	result := make(chan string, 1)
	_, err = bus.StartTransientUnitContext(ctx, g.unit(), "fail", []dbus.Property{
		dbus.PropDescription("Containers of a NodeManager, held by heddle node agent"),
		dbus.PropSlice(slice),
		dbus.PropPids(uint32(pid)),
		{Name: "Delegate", Value: godbus.MakeVariant(true)},
	}, result)
	if err != nil {
		return err
	}
	select {
	case how := <-result:
		if how != "done" {
			return fmt.Errorf("want done, got %s", how)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
