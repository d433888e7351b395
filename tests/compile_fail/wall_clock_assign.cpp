// An instant of the wall clock is not an instant of the simulation.
#include <chrono>

#include "fedsim/time.hpp"

fedsim::SimTime start(std::chrono::system_clock::time_point wall) {
#ifdef BAD
  return wall;
#else
  return fedsim::SimTime{std::chrono::duration_cast<fedsim::Duration>(wall.time_since_epoch())};
#endif
}
