# Helpers shared by every target: warnings, reproducible floating point, debug checks.

# Same numbers from every compiler: no contraction to fused multiply-add, no fast-math.
function(fedsim_defaults target)
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow
    -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers -Wnon-virtual-dtor)
  # Every x86-64 processor since 2009 counts bits in one instruction; results are the same without.
  if(FEDSIM_POPCNT)
    target_compile_options(${target} PRIVATE -mpopcnt)
  endif()
  # g++ 12 reports overlaps inside std::string at -O3 that do not exist (GCC bug 105651).
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-restrict>)
  if(FEDSIM_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(FEDSIM_DEBUG_CHECKS)
    target_compile_definitions(${target} PRIVATE FEDSIM_DEBUG=1)
  endif()
endfunction()
