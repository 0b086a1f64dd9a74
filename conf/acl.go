package conf

import "heddle/policies/capacity"

// A QueueACL says who may do what with a queue: users with commas between, a blank, groups with commas
// between; "*" for everybody. A right on a queue is one on all below it, and what is not set is "*" at the
// root and nobody elsewhere.
type QueueACL struct {
	Submit     string
	Administer string
}

// Everybody is the access list that lets everybody in.
const Everybody = "*"

// everybody is what a tree has that says nothing.
func everybody() map[string]QueueACL { return map[string]QueueACL{"root": {Everybody, Everybody}} }

// queueACLs reads the access lists of a tree. The properties stay among those that are noted: simulations
// do not ask them.
func (ps *properties) queueACLs(c *capacity.Config) map[string]QueueACL {
	acls := map[string]QueueACL{}
	for i := range c.Queues {
		path := c.Queues[i].Path
		otherwise := ""
		if i == 0 {
			otherwise = Everybody
		}
		acl := QueueACL{
			Submit:     ps.peek(csPrefix+path+".acl_submit_applications", otherwise),
			Administer: ps.peek(csPrefix+path+".acl_administer_queue", otherwise),
		}
		if acl != (QueueACL{}) {
			acls[path] = acl
		}
	}
	return acls
}

// peek returns a value as it is and leaves the property unused.
func (ps *properties) peek(name, otherwise string) string {
	p := ps.m[name]
	if p == nil {
		return otherwise
	}
	v, err := ps.substitute(p.raw)
	if err != nil {
		ps.bad(p, "%v", err)
		return otherwise
	}
	return v
}

// acl keeps the access list of a queue of the fair scheduler.
func (r *fairReader) acl(path string, n *node) {
	acl := r.acls[path]
	switch n.name {
	case "aclSubmitApps":
		acl.Submit = n.raw
	case "aclAdministerApps":
		acl.Administer = n.raw
	default:
		return
	}
	r.acls[path] = acl
}
