// A number is not an id until someone says of which table.
#include "fedsim/ids.hpp"

fedsim::JobId first_job() {
#ifdef BAD
  return 0;
#else
  return fedsim::JobId{0};
#endif
}
