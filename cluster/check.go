package cluster

// Check is to come.
func (c *Cluster) Check() []string { return nil }
