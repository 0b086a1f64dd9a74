//go:build !linux

package main

import "github.com/spf13/cobra"

// newNodeAgents returns no commands: NodeManagers with control groups run on Linux.
func newNodeAgents(*app) []*cobra.Command { return nil }
