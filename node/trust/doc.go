// Package trust decides who speaks for a node. A ResourceManager has a certificate authority of its own. A token lets an
// agent ask it for a certificate, and a certificate names one node. Agents know the ResourceManager by that authority too:
// a token holds its hash.
//
// [Authority] is the ResourceManager's side. [Join], [Client] and [Renew] are the agent's.
package trust
