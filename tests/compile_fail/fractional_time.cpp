// Fractions of a nanosecond do not slip into integer time.
#include <chrono>

#include "fedsim/time.hpp"

fedsim::Duration half_a_second() {
#ifdef BAD
  return std::chrono::duration<double>{0.5};
#else
  return fedsim::seconds_to_duration(0.5);
#endif
}
