// The peer of the simulator: servers that pull tasks from a queue in SimGrid, which decides nothing. Built
// and run only where SimGrid's headers are (Debian: libsimgrid-dev).
//
// usage: farm SERVERS TASKS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>
#include <sys/resource.h>

namespace sg = simgrid::s4u;

int main(int argc, char** argv)
{
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SERVERS TASKS\n", argv[0]);
    return 2;
  }
  const int servers = std::atoi(argv[1]);
  const int tasks   = std::atoi(argv[2]);

  sg::Engine engine(&argc, argv);
  auto* zone = sg::create_full_zone("farm");
  std::vector<sg::Host*> hosts;
  for (int i = 0; i < servers; i++)
    hosts.push_back(zone->create_host("host" + std::to_string(i), 1.0));
  zone->seal();

  std::mt19937_64 random(1);
  std::exponential_distribution<double> service(1.0), gap(0.9 * servers);
  auto waiting = sg::Semaphore::create(0);
  int left     = tasks;
  for (auto* host : hosts)
    sg::Actor::create("server", host, [&] {
      for (waiting->acquire(); left > 0; waiting->acquire()) {
        left--;
        sg::this_actor::sleep_for(service(random));
      }
    });
  sg::Actor::create("source", hosts[0], [&] {
    for (int i = 0; i < tasks; i++) {
      sg::this_actor::sleep_for(gap(random));
      waiting->release();
    }
    for (int i = 0; i < servers; i++)
      waiting->release();
  });

  const auto start = std::chrono::steady_clock::now();
  engine.run();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"wall_s\":%g,\"tasks_per_s\":%g,\"peak_rss_mib\":%g}\n", wall, tasks / wall, usage.ru_maxrss / 1024.0);
}
