package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"heddle/conf"
)

// configuredURL is the web address that a Hadoop configuration folder names; "" where it says nothing.
func configuredURL(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	h, err := conf.ReadDir(dir)
	if errors.Is(err, conf.ErrNoFiles) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("HADOOP_CONF_DIR: %w", err)
	}
	at := h.Daemon.Web
	if a, err := netip.ParseAddr(at.Host); err == nil && a.IsUnspecified() {
		at.Host = conf.Loopback // a ResourceManager that listens everywhere listens here
	}
	return "http://" + net.JoinHostPort(at.Host, fmt.Sprint(at.Port)), nil
}
