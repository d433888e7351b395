// ... nor order ...
#include "fedsim/ids.hpp"

bool before(fedsim::RecordId record, fedsim::AllocationId allocation) {
#ifdef BAD
  return record < allocation;
#else
  return record.index() < allocation.index();
#endif
}
